"""From a fitted classifier to contributions: groups, cells, backgrounds and refusals."""

import numpy as np
import pandas as pd
import pytest

from surewood import BinnedForestClassifier, PolySVC
from surewood.estimators import contributing
from tests.contract.messy_table import messy


@pytest.fixture(scope="module")
def model():
    frame, y = messy(70)
    return BinnedForestClassifier(10, calibrate=True, random_state=0).fit(frame, y), frame


def test_cells_are_those_of_the_table(model):
    forest, frame = model
    found = forest.contributions(frame.iloc[:4])
    assert found.columns == frame.columns.tolist()
    for row in range(4):
        for j, name in enumerate(frame.columns):
            own = frame[name].iloc[row]
            cell = found.cells[row][j]
            assert (cell is None) == pd.isna(own)
            if isinstance(own, str):
                assert cell == own


def test_columns_of_a_group_are_one(model):
    forest, frame = model
    names = frame.columns.tolist()
    found = forest.contributions(frame.iloc[:3], groups={"first two": names[:2]})
    assert found.columns == ["first two", *names[2:]]
    np.testing.assert_allclose(found.predictions, forest.predict_proba(frame.iloc[:3]), atol=1e-12)
    assert ", " in found.cells[0][0]


def test_the_same_seed_gives_the_same_values_and_more_orders_smaller_errors(model):
    forest, frame = model
    first, again = (forest.contributions(frame.iloc[:3]) for _ in range(2))
    np.testing.assert_array_equal(first.values, again.values)
    other = forest.contributions(frame.iloc[:3], random_state=1)
    assert (other.values != first.values).any()
    few = forest.contributions(frame.iloc[:3], n_orders=5).standard_error.mean()
    assert forest.contributions(frame.iloc[:3], n_orders=60).standard_error.mean() < few


def test_a_background_with_other_columns_is_one_sentence(model):
    forest, frame = model
    lacking = frame.drop(columns=frame.columns[0])
    with pytest.raises(
        ValueError, match=r"^background must have the columns of the training table; it lacks"
    ):
        forest.contributions(frame.iloc[:2], lacking)
    with pytest.raises(ValueError, match=r"^background has no rows\.$"):
        forest.contributions(frame.iloc[:2], frame.iloc[:0])


def test_more_rows_than_memory_allows_is_one_sentence(model, monkeypatch):
    forest, frame = model
    monkeypatch.setattr(contributing, "available_memory", lambda: 1000)
    with pytest.raises(
        ValueError,
        match=r"^contributions of 70 rows need about .* available; explain fewer rows at a time\.$",
    ):
        forest.contributions(frame)


def test_models_without_rows_or_probabilities_are_one_sentence(model):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = X[:, 0] > 0
    forest = BinnedForestClassifier(3, remember_rows=False, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"keeps no rows to compare with .* give background"):
        forest.contributions(X[:2])
    assert forest.contributions(X[:2], X).values.shape == (2, 2, 2)
    with pytest.raises(
        ValueError, match=r"^only probabilities can be explained; fit PolySVC with calibrate=True\.$"
    ):
        PolySVC(calibrate=False).fit(X, y).contributions(X[:2])
    with pytest.raises(ValueError, match=r"^n_orders must be a whole number >= 2, got 1\.$"):
        BinnedForestClassifier(3, calibrate=True).fit(X, y).contributions(X[:2], n_orders=1)
