"""Rows and columns of a table, for every classifier.

The order of the rows does not matter, weight 2 is the row twice, copies never stand on both sides of an
internal division. The order of the columns does not matter, or the documentation says why it does.
"""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

import surewood
from surewood.certify import CrossFittedClassifier, PredictionSets, certify
from tests.contract.estimators import classifiers, deterministic, exported

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


@cache
def noise():
    """Labels are noise, every row stands three times: a score far above one half has seen the copies."""
    rng = np.random.default_rng(3)
    rows, labels = rng.standard_normal((100, 3)), np.arange(100) % 2
    order = rng.permutation(300)
    return np.tile(rows, (3, 1))[order], np.tile(labels, 3)[order]


def accuracy_of(found, y):
    """Share of the rows with a held-out vote whose class the vote names."""
    known = ~np.isnan(found).any(axis=1)
    assert known.any()
    return float((found[known].argmax(axis=1) == y[known]).mean())


def held_out_accuracies(model, X, y):
    """Every held-out score of a fit that a user could see or that the fit chooses by."""
    data = model._begin_fit(X, y, None)
    try:
        found = model._fit_table(model._parameters(), data)
    except NotImplementedError:  # no member of mixtures
        found = None
    if found is not None:
        yield accuracy_of(data.expand(found), y)
    model = clone(model)
    model.fit(X, y)
    if hasattr(model, "best_score_"):
        yield model.best_score_
    for name in ("held_out_error_", "out_of_fold_error_"):
        if getattr(model, name, None) is not None:
            yield 1.0 - getattr(model, name)
    if getattr(model, "oob_score_", None) is not None:
        yield model.oob_score_


@each_classifier
def test_copies_never_stand_on_both_sides_of_a_division(cls):
    X, y = noise()
    more = {"oob_score": True} if cls is surewood.BinnedForestClassifier else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(held_out_accuracies(deterministic(cls, **more), X, y))
        if not found:  # divided for the calibration alone: one that saw copies would believe the SVMs
            confident = deterministic(cls).fit(X, y).predict_proba(X).max(axis=1)
            found = [float(confident.mean())]
    assert max(found) < 0.75


def test_copies_stay_together_in_a_scanner():
    X, y = noise()
    scanner = deterministic(surewood.MultiGrainedScanner, windows=[2], min_samples_leaf=1).fit(X, y)
    vectors = scanner.transform(X)
    _, first, group = np.unique(X, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(vectors, vectors[first][group.ravel()])
    of_own_class = vectors.reshape(len(X), -1, 2)[np.arange(len(X)), :, y]
    assert of_own_class.mean() < 0.75


def test_a_cross_fitted_classifier_holds_copies_out_together():
    X, y = noise()
    model = CrossFittedClassifier(surewood.BinnedForestClassifier(20, random_state=0)).fit(X, y)
    assert model.brier_score_ > 0.4  # 0.5 for a coin, 0 for a memory
    assert not certify(model).guarantees


def test_folds_of_a_cross_fitted_classifier_depend_on_positions_alone():
    """Neither values nor labels decide who is held out: its guarantee rests on that."""

    def trained_on(values, labels):
        model = CrossFittedClassifier(KNeighborsClassifier(1)).fit(values[:, None], labels)
        return [np.flatnonzero(np.isin(values, fold._fit_X[:, 0])).tolist() for fold in model.models_]

    assert trained_on(np.arange(90.0), Y) == trained_on(np.random.default_rng(3).random(90), 1 - Y)


@pytest.mark.parametrize("by", [None, "class"])
def test_prediction_sets_know_no_order_and_refuse_a_copied_table(by):
    model = surewood.BinnedForestClassifier(10, random_state=0).fit(X, Y)
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((200, 4))
    labels = (rows[:, 0] > 0.3).astype(int)
    sets = PredictionSets(model, alpha=0.2, by=by).fit(rows, labels)
    order = rng.permutation(200)
    moved = PredictionSets(model, alpha=0.2, by=by).fit(rows[order], labels[order])
    np.testing.assert_array_equal(sets.sizes_, moved.sizes_)
    np.testing.assert_array_equal(sets.thresholds_, moved.thresholds_)
    with pytest.raises(ValueError, match="the holdout looks copied: 600 rows are 200 different ones"):
        PredictionSets(model, alpha=0.2, by=by).fit(np.tile(rows, (3, 1)), np.tile(labels, 3))


SENTENCE = "The order of the columns matters:"


@each_classifier
def test_the_order_of_the_columns_does_not_matter_or_the_documentation_says_why(cls):
    order = np.array([2, 0, 3, 1])
    moved = deterministic(cls).fit(X[:, order], Y).predict_proba(OTHERS[:, order])
    if SENTENCE not in cls.__doc__:
        np.testing.assert_allclose(moved, proba(cls, X, Y), atol=1e-9)
    else:  # the sentence is not there for nothing
        assert np.abs(moved - proba(cls, X, Y)).max() > 1e-6


def test_transformers_say_why_the_order_of_the_columns_matters():
    assert all(SENTENCE in cls.__doc__ for cls in exported() if cls not in classifiers())
