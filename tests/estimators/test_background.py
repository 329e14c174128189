"""The rows that a model keeps: a fair sample, whatever the order of the table, and checks of given ones."""

import numpy as np
import pandas as pd
import pytest

from surewood import BinnedForestClassifier
from surewood.estimators.background import background_size, check_columns, check_kept


def fitted(X, y, **options):
    return BinnedForestClassifier(2, random_state=0, **options).fit(X, y)


def test_the_sample_is_of_training_rows_and_does_not_depend_on_their_order():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 3)), rng.integers(0, 2, 1000)
    kept = fitted(X, y).background_
    assert kept.shape == (200, 3)
    assert {tuple(row) for row in kept.tolist()} <= {tuple(row) for row in X.tolist()}
    order = rng.permutation(1000)
    again = fitted(X[order], y[order]).background_
    assert sorted(map(tuple, kept.tolist())) == sorted(map(tuple, again.tolist()))
    assert np.abs(kept.mean(axis=0) - X.mean(axis=0)).max() < 0.25


def test_copies_come_up_as_often_as_they_should():
    X = np.repeat([[0.0], [1.0], [2.0]], [700, 200, 100], axis=0)
    kept = fitted(X, (X[:, 0] > 0).astype(int)).background_
    assert kept.dtype == np.float32
    np.testing.assert_allclose(np.bincount(kept[:, 0].astype(int)) / len(kept), [0.7, 0.2, 0.1], atol=0.01)


def test_small_and_wide_tables():
    assert background_size(30, 4) == 30
    assert background_size(10**6, 10**6) == 20
    X = np.random.default_rng(0).normal(size=(30, 4))
    assert fitted(X, X[:, 0] > 0).background_.shape == (30, 4)


def test_categories_are_kept_as_codes_and_nothing_without_remember_rows():
    frame = pd.DataFrame({"job": ["clerk", "baker", None, "clerk"] * 5, "age": range(20)})
    model = fitted(frame, [0, 1] * 10)
    assert set(np.nan_to_num(model.background_[:, 0], nan=-1)) == {-1, 0, 1}
    assert fitted(frame, [0, 1] * 10, remember_rows=False).background_ is None


def test_other_columns_are_one_sentence():
    frame = pd.DataFrame({"a": [1], "b": [2]})
    with pytest.raises(
        ValueError, match=r"^background must have the columns of the training table; it lacks 'c'\.$"
    ):
        check_columns("background", frame, ["a", "c"], 2)
    with pytest.raises(
        ValueError, match=r"^background has a column 'b' that the training table does not have\.$"
    ):
        check_columns("background", frame, ["a"], 1)
    with pytest.raises(
        ValueError, match=r"^background must have the 2 columns of the training table, got 3\.$"
    ):
        check_columns("background", np.zeros((4, 3)), None, 2)
    with pytest.raises(ValueError, match=r"^background has no rows\.$"):
        check_columns("background", np.zeros((0, 2)), None, 2)


def test_rows_of_a_model_file_are_checked_before_they_are_used():
    frame = pd.DataFrame({"job": ["clerk", "baker"] * 10, "age": range(20)})
    model = fitted(frame, [0, 1] * 10)
    assert len(model.contributions(frame[:2])) == 2
    for broken, sentence in (
        (np.zeros((3, 5)), "background_ must be a matrix of numbers with 2 columns"),
        (np.array([[7.0, 1.0]]), "background_ has a category that the model does not know"),
        (np.array([[0.5, 1.0]]), "background_ has a category that the model does not know"),
        (np.array([[0.0, np.inf]]), "background_ must have no infinite values"),
        (np.array([["a", "b"]]), "background_ must be a matrix of numbers with 2 columns"),
    ):
        model.background_ = broken
        with pytest.raises(ValueError, match=sentence):
            model.contributions(frame[:2])
    check_kept(np.array([[np.nan, np.nan]]), np.array([2, 0]), 2)
