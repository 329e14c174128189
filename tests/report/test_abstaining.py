"""What abstaining and sets would guarantee on the same holdout."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from surewood import BinnedForestClassifier
from surewood.certify import find_threshold
from surewood.report.abstaining import LEVELS, abstention_facts, set_facts
from surewood.report.predictions import Predictions

X, y = make_classification(1600, n_informative=6, class_sep=0.8, random_state=0)
MODEL = BinnedForestClassifier(60, oob_score=True, random_state=0).fit(X[:800], y[:800])
ROWS = Predictions(MODEL, X[800:], y[800:])


def test_levels_share_delta_and_agree_with_find_threshold():
    found = abstention_facts(MODEL, ROWS, 0.16, 0.05)
    errors = [level["error"] for level in found["levels"]]
    assert errors == sorted(errors, reverse=True)
    assert max(errors) < 0.16
    first = found["levels"][0]
    again = find_threshold(MODEL, X[800:], y[800:], accepted_error=first["error"], delta=0.05 / len(LEVELS))
    assert first["threshold"] == again.threshold
    assert first["decided"] == again.coverage.fraction


def test_larger_coverage_needs_larger_sets():
    found = set_facts(MODEL, ROWS, 0.05)["levels"]
    sizes = [level["mean_size"] for level in found]
    assert sizes == sorted(sizes)
    own = MODEL.predict_proba(X[800:])[np.arange(800), y[800:]]
    assert np.mean(own >= found[1]["threshold"]) >= found[1]["coverage"]


@pytest.mark.parametrize("n", [10, 49])
def test_few_rows_say_nothing(n):
    few = Predictions(MODEL, X[800 : 800 + n], y[800 : 800 + n])
    assert abstention_facts(MODEL, few, 0.3, 0.05) is None
    assert set_facts(MODEL, few, 0.05) is None


def test_the_model_is_left_as_it_was():
    abstention_facts(MODEL, ROWS, 0.2, 0.05)
    assert len(MODEL.predict_proba(X[:3])) == 3
