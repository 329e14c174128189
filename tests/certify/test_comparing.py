"""Two models on one holdout as a claim."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from surewood.bounds import error_difference
from surewood.certify import compare_models


def draw(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int)


@pytest.fixture(scope="module")
def models():
    X, y = draw(300, 0)
    return LogisticRegression().fit(X, y), DummyClassifier().fit(X, y), LogisticRegression(C=0.9).fit(X, y)


def test_the_better_model_is_named_whichever_comes_first(models):
    good, bad, _ = models
    X, y = draw(500, 1)
    forward = compare_models(good, bad, X, y, names=("good", "bad"))
    backward = compare_models(bad, good, X, y, names=("bad", "good"))
    (entry,), (again,) = forward.guarantees, backward.guarantees
    assert entry.quantity == again.quantity == "error of bad minus error of good"
    assert entry.value == pytest.approx(again.value)
    wrong = [model.predict(X) != y for model in (bad, good)]
    expected = error_difference(int((wrong[0] & ~wrong[1]).sum()), int((wrong[1] & ~wrong[0]).sum()), 500)
    assert entry.value == pytest.approx(expected.lower)
    assert entry.side == "at least"


def test_equal_models_get_no_guarantee(models):
    certificate = compare_models(models[0], models[2], *draw(500, 2))
    assert certificate.guarantees == ()
    assert "no difference is guaranteed" in certificate.withheld[0].reason


def test_training_rows_give_no_guarantee(models):
    X, y = draw(300, 0)
    certificate = compare_models(models[0], models[1], X, y, X_train=X)
    assert certificate.entries == ()
    assert certificate.withheld[0].code == "TRAINING_TABLE"


def test_a_copied_holdout_gives_no_guarantee(models):
    X, y = draw(40, 3)
    certificate = compare_models(models[0], models[1], np.tile(X, (20, 1)), np.tile(y, 20))
    assert certificate.withheld[0].code == "COPIED_HOLDOUT"
