"""Mixed rows have the cells, and the types, of the rows that they are made of.

The rows that a model keeps: a fair sample, whatever the order of the table, and checks of given ones.

Sampled Shapley values against the sum over all coalitions.

The result object: tables, the columns that matter most, text, and a class that is absent.

From a fitted classifier to contributions: groups, cells, backgrounds and refusals.
"""

from __future__ import annotations

from itertools import combinations
from math import factorial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from surewood import BinnedForestClassifier, PolySVC
from surewood.base import contributions as contributing
from surewood.base.contributions import (
    Contributions,
    FramePool,
    MatrixPool,
    background_size,
    check_columns,
    check_kept,
    class_position,
    group_positions,
)
from surewood.base.sampled_values import sample_values
from tests.contract.messy_table import messy


def test_matrices_of_any_type():
    rows, others = np.array([[1, 2], [3, 4]]), np.array([[1, 5]])
    pool = MatrixPool(rows, others, ["a", "b"])
    assert pool.mixed(np.array([[0, 2], [2, 1]])).tolist() == [[1, 5], [1, 4]]
    codes = pool.codes()
    assert codes[0, 0] == codes[2, 0] != codes[1, 0]
    text = MatrixPool(np.array([["u", 1.0]], dtype=object), np.array([["v", 2.0]], dtype=object), ["a", "b"])
    assert text.mixed(np.array([[1, 0]])).tolist() == [["v", 1.0]]


def test_missing_values_are_equal_to_each_other():
    pool = MatrixPool(np.array([[np.nan]]), np.array([[np.nan], [0.0]]), ["a"])
    assert pool.codes()[:, 0].tolist() == [0, 0, 1]


def test_frames_keep_the_types_of_their_columns():
    frame = pd.DataFrame(
        {
            "n": pd.array([1, None, 3], dtype="Int64"),
            "c": pd.Categorical(["u", "v", "u"]),
            "t": pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"]),
            "s": ["x", None, "y"],
        }
    )
    pool = FramePool(frame.iloc[:1], frame.iloc[1:])
    mixed = pool.mixed(np.array([[0, 1, 2, 0], [1, 0, 0, 1]]))
    assert mixed.dtypes.tolist() == frame.dtypes.tolist()
    assert mixed["c"].tolist() == ["v", "u"]
    assert mixed["t"].dt.year.tolist() == [2022, 2020]
    assert pool.codes()[:, 1].tolist() == [0, 1, 0]


def test_categories_of_both_sides_are_known():
    first = pd.DataFrame({"c": pd.Categorical(["u"])})
    second = pd.DataFrame({"c": pd.Categorical(["v"])})
    assert FramePool(first, second).mixed(np.array([[1], [0]]))["c"].tolist() == ["v", "u"]


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


def all_coalitions(predict, x, background, groups):
    """Interventional Shapley values of one row, by their definition."""

    def value(chosen):
        mixed = background.copy()
        for group in chosen:
            mixed[:, groups[group]] = x[groups[group]]
        return predict(mixed).mean(axis=0)

    m = len(groups)
    out = []
    for j in range(m):
        others = [g for g in range(m) if g != j]
        total = 0.0
        for size in range(m):
            weight = factorial(size) * factorial(m - size - 1) / factorial(m)
            for chosen in combinations(others, size):
                total = total + weight * (value((*chosen, j)) - value(chosen))
        out.append(total)
    return np.array(out)


def probabilities(X):
    """Something with interactions of three columns; column 4 does nothing."""
    score = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) * (X[:, 3] > 0) * X[:, 0] + X[:, 3]
    p = 1 / (1 + np.exp(-score))
    return np.column_stack([1 - p, p])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(4, 5)), rng.normal(size=(40, 5))


def sampled(X, background, groups, n_orders, seed=0, predict=probabilities):
    pool = MatrixPool(X, background, [f"x{j}" for j in range(X.shape[1])])
    values, errors, expected = sample_values(
        lambda at: predict(pool.mixed(at)), pool.codes(), len(X), groups, n_orders, seed
    )
    return SimpleNamespace(values=values, standard_error=errors, expected=expected)


SINGLE = [[0], [1], [2], [3], [4]]


@pytest.mark.parametrize("groups", [SINGLE, [[0, 3], [1], [2, 4]]])
@pytest.mark.parametrize("n_orders", [12, 40])
def test_values_are_within_their_standard_errors(rows, groups, n_orders):
    X, background = rows
    exact = np.array([all_coalitions(probabilities, x, background, groups) for x in X])
    distances = []
    for seed in range(30):
        found = sampled(X, background, groups, n_orders, seed)
        error = np.maximum(found.standard_error, 1e-12)
        distances.append((found.values - exact) / error)
    distances = np.array(distances)
    moves = np.abs(exact) > 1e-9
    assert np.mean(np.abs(distances[:, moves]) < 3) > 0.97
    # On average they are the values: the mean of 30 runs is nearer by the square root of 30.
    assert np.abs(distances[:, moves].mean(axis=0)).max() < 1.5


@pytest.mark.parametrize("n_orders", [2, 7, 40])
def test_sums_are_exact_and_idle_columns_get_nothing(rows, n_orders):
    X, background = rows
    found = sampled(X, background, SINGLE, n_orders)
    expected = probabilities(background).mean(axis=0)
    np.testing.assert_allclose(found.expected, expected, atol=1e-15)
    np.testing.assert_allclose(found.values.sum(axis=1), probabilities(X) - expected, atol=1e-14)
    assert not found.values[:, 4].any()
    assert not found.standard_error[:, 4].any()


def test_a_linear_model_is_exact_with_the_whole_background(rows):
    X, background = rows
    weight = np.array([[1.0, -1.0], [0.5, 0.0], [0.0, 0.0], [2.0, 1.0], [0.1, 0.2]])
    found = sampled(X, background, SINGLE, len(background), predict=lambda rows: rows @ weight)
    exact = (X - background.mean(axis=0))[:, :, None] * weight
    np.testing.assert_allclose(found.values, exact, atol=1e-12)


def test_equal_mixed_rows_are_predicted_once():
    X = np.array([[1.0, 1.0, 1.0]])
    background = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    asked = []

    def predict(rows):
        asked.append(len(rows))
        return rows.sum(axis=1, keepdims=True)

    found = sampled(X, background, [[0], [1], [2]], 3, predict=predict)
    assert asked[0] == 4
    assert asked[1] <= 8 - 2
    np.testing.assert_allclose(found.values[0, :, 0], [1 / 3, 2 / 3, 2 / 3], atol=1e-12)


def test_rows_are_done_in_batches_with_the_same_result(rows, monkeypatch):
    from surewood.base import sampled_values as shapley

    X, background = rows
    whole = sampled(X, background, SINGLE, 10)
    monkeypatch.setattr(shapley, "_BATCH_VALUES", 1)
    parts = sampled(X, background, SINGLE, 10)
    np.testing.assert_allclose(whole.expected, parts.expected)
    np.testing.assert_allclose(parts.values.sum(axis=1), whole.values.sum(axis=1), atol=1e-14)
    assert np.abs(parts.values - whole.values).max() < 0.3


def test_a_single_column_gets_all(rows):
    X, background = rows
    found = sampled(X, background, [[0, 1, 2, 3, 4]], 5)
    np.testing.assert_allclose(found.values[:, 0], probabilities(X) - probabilities(background).mean(axis=0))


def example(method="sampled"):
    values = np.zeros((2, 3, 2))
    values[0, :, 1] = [0.2, -0.3, 0.0]
    values[:, :, 0] = -values[:, :, 1]
    cells = [[1.5, "clerk", None], [2.5, None, 7]]
    columns = ["age", "job", "born"]
    return Contributions(
        values, np.array([0.3, 0.7]), values**2, columns, np.array(["no", "yes"]), cells, method
    )


def test_top_columns_of_the_predicted_class_come_with_value_sign_and_error():
    top = example().top(0)
    assert [(one["column"], one["value"], round(one["contribution"], 2)) for one in top] == [
        ("job", "clerk", -0.3),
        ("age", 1.5, 0.2),
    ]
    assert top[0]["standard_error"] == pytest.approx(0.09)
    assert [one["contribution"] for one in example().top(0, "no")] == [0.3, -0.2]
    assert example().top(1) == []
    assert len(example().top(0, limit=1)) == 1


def test_a_class_that_is_not_there_is_one_sentence():
    with pytest.raises(ValueError, match=r"^there is no class 'maybe'; the model's classes are no, yes\.$"):
        example().of("maybe")
    assert class_position(np.array([3, 5]), 5) == 1
    with pytest.raises(ValueError, match=r"are 0, 1, 2, 3, 4, 5, 6, 7, \.\.\.\.$"):
        class_position(np.arange(20), 30)


def test_the_text_names_columns_values_and_points():
    text = repr(example())
    assert "row 0: yes 60.0 %, mean 70.0 %; job = clerk: -30.0 points, age = 1.5: +20.0 points" in text
    assert text.startswith("Contributions of 3 columns to the probabilities of 2 classes, 2 rows, sampled")


def test_groups_name_columns_of_the_table_once():
    names, positions = group_positions(["a", "b", "c"], {"bc": ["b", "c"]})
    assert (names, positions) == (["a", "bc"], [[0], [1, 2]])
    assert group_positions(["a"], None) == (["a"], [[0]])
    with pytest.raises(ValueError, match="groups names a column 'd' that the table does not have"):
        group_positions(["a"], {"x": ["d"]})
    with pytest.raises(ValueError, match="groups names the column 'a' twice"):
        group_positions(["a"], {"x": ["a"], "y": ["a"]})


def test_because_names_the_rest_and_sums_up():
    because = example().because(0, limit=1)
    assert [one["column"] for one in because["columns"]] == ["job"]
    assert (because["label"], because["n_others"], because["method"]) == ("yes", 2, "sampled")
    total = because["expected"] + because["others"] + sum(one["contribution"] for one in because["columns"])
    assert total == pytest.approx(because["probability"])
    assert example().because(0, "no")["expected"] == pytest.approx(0.3)
    assert example().because(1)["columns"] == []


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
    moments = pd.to_datetime(["2024-02-29 00:00", "2023-05-06 12:30"] * 10)
    days = pd.DataFrame({"day": moments, "x": range(20)})
    dated = BinnedForestClassifier(2, random_state=0).fit(days, [0, 1] * 10).contributions(days[:2])
    assert [cells[0] for cells in dated.cells] == ["2024-02-29", "2023-05-06 12:30"]


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
