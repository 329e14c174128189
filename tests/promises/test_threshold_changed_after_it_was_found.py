"""[D-37] for thresholds: what was proved about one threshold and one model says nothing about others."""

import numpy as np
import pytest
from sklearn.base import clone

import surewood
from surewood.certify import find_threshold
from tests.promises.population import draw, memorising_forest


@pytest.fixture
def found():
    model = memorising_forest(*draw(400, 0), min_samples_leaf=20)
    return find_threshold(model, *draw(3000, 1), positive=1, fpr=0.2)


def test_a_laxer_threshold_has_no_guarantee(found):
    assert len(found.guarantees) == 1
    found.set_params(threshold=0.0)  # everything is positive now
    assert found.guarantees == ()
    assert found.certificate.guarantees == ()


def test_nor_has_one_that_was_assigned(found):
    found.threshold = 0.0
    assert found.guarantees == ()


def test_nor_has_another_class(found):
    assert found.set_params(positive=0).guarantees == ()


def test_nor_has_another_model(found):
    assert found.set_params(model=memorising_forest(*draw(400, 5))).guarantees == ()


def test_a_clone_is_not_fitted_and_proves_nothing(found):
    copied = clone(found)
    assert copied.threshold == found.threshold
    assert copied.guarantees == ()
    X, y = draw(300, 2)
    copied.model.fit(X, 1 - y)
    assert copied.guarantees == ()
    assert len(found.guarantees) == 1


def test_the_same_values_again_change_nothing(found, tmp_path):
    before = found.guarantees
    found.set_params(threshold=found.threshold, positive=found.positive)
    assert found.guarantees == before
    again = surewood.load(surewood.save(found, tmp_path / "t.surewood"))
    assert again.guarantees == before
    again.threshold = 0.0
    assert again.guarantees == ()


def test_a_model_fitted_again_on_all_rows_is_another_model(found):
    """The usual last step, after which nothing that was proved holds."""
    X, y = draw(400, 0)
    more, labels = draw(3000, 1)
    found.model.fit(np.r_[X, more], np.r_[y, labels])
    assert found.guarantees == ()
    found.model.fit(X, y)
    assert len(found.guarantees) == 1
