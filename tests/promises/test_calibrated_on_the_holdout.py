"""A calibrator of another library fitted on the holdout, then certified on it."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV

from surewood import BinnedForestClassifier
from surewood.certify import certify
from tests.promises.population import draw, memorising_forest

HELD = draw(200, 1)


@pytest.fixture(scope="module")
def calibrated():
    model = CalibratedClassifierCV(FrozenEstimator(memorising_forest(*draw(300, 0))), method="isotonic")
    return model.fit(*HELD)


def test_it_is_the_caller_who_states_that_the_rows_are_new(calibrated):
    (entry,) = certify(calibrated, *HELD).guarantees
    assert [(condition.text, condition.source) for condition in entry.conditions][:2] == [
        ("no row is a copy of a training row (not checked: give X_train)", "your responsibility"),
        ("these rows were not used for training or tuning", "your responsibility"),
    ]


def test_rows_that_are_named_do_not_count(calibrated):
    certificate = certify(calibrated, *HELD, X_train=HELD[0], claims=["error", "brier"])
    assert certificate.guarantees == ()
    new = draw(200, 2)
    both = certify(calibrated, np.r_[HELD[0], new[0]], np.r_[HELD[1], new[1]], X_train=HELD[0])
    assert both.guarantees[0].n == 200


def test_a_search_on_the_holdout_remembers_it():
    search = GridSearchCV(BinnedForestClassifier(5, random_state=0), {"max_depth": [2, None]}, cv=2)
    assert certify(search.fit(*HELD), *HELD).guarantees == ()
