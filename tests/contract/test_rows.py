"""The order of the rows does not matter, and weight 2 is the row twice, for every classifier."""

from functools import cache

import numpy as np
import pytest

from tests.contract.estimators import classifiers, deterministic

RNG = np.random.default_rng(0)
X = np.round(RNG.standard_normal((90, 4)), 3)
Y = (X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * RNG.standard_normal(90) > 0.3).astype(int)
OTHERS = np.round(RNG.standard_normal((40, 4)), 3)
DOUBLED = np.arange(0, 90, 3)
each_classifier = pytest.mark.parametrize("cls", classifiers(), ids=lambda cls: cls.__name__)


def proba(cls, X, y, weight=None):
    model = deterministic(cls)
    model = model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)
    return model.predict_proba(OTHERS)


@cache
def copied(cls):
    """Some rows twice, copies side by side."""
    twice = np.repeat(np.arange(90), np.where(np.isin(np.arange(90), DOUBLED), 2, 1))
    return twice, proba(cls, X[twice], Y[twice])


@each_classifier
def test_the_order_of_the_rows_does_not_matter(cls):
    twice, expected = copied(cls)
    order = np.random.default_rng(1).permutation(len(twice))
    np.testing.assert_allclose(proba(cls, X[twice][order], Y[twice][order]), expected, atol=1e-9)


@each_classifier
def test_weight_two_is_the_row_twice(cls):
    weight = np.where(np.isin(np.arange(90), DOUBLED), 2.0, 1.0)
    np.testing.assert_allclose(proba(cls, X, Y, weight), copied(cls)[1], atol=1e-9)


# Deep forests deal rows, not contents (surewood/deepforest/row_order.py says why).
CV_TWINS = [cls for cls in classifiers() if cls.__name__.endswith("CV")]
BY_CONTENT = [cls for cls in CV_TWINS if "DeepForest" not in cls.__name__]


@pytest.mark.parametrize("cls", BY_CONTENT, ids=lambda cls: cls.__name__)
def test_copies_never_stand_on_both_sides_of_a_search(cls):
    """Labels are noise, every row stands four times: a score far above one half has seen the copies."""
    rng = np.random.default_rng(3)
    rows, labels = rng.standard_normal((40, 3)), np.arange(40) % 2
    order = rng.permutation(160)
    model = deterministic(cls).fit(np.tile(rows, (4, 1))[order], np.tile(labels, 4)[order])
    assert model.best_score_ < 0.75
