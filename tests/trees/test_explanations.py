"""Rows on their way through trees, and exact contributions of columns."""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from surewood import BinnedForestClassifier, _core
from surewood.tables import ColumnReader, begin_predict
from surewood.trees.binning import BinnedMatrix, bin_array
from surewood.trees.growing import TreeParams, grow_forest
from surewood.trees.tracing import trace
from surewood.trees.tree_shapley import shapley_values
from tests.contract.messy_table import messy


def k_of(rng, most, n):
    """A few frequent categories, or many rare ones."""
    return rng.integers(0, most, n)


@pytest.fixture(scope="module")
def forest():
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "b": rng.choice(list("uvwxyz"), n),
            "many": [f"c{k:03d}" for k in np.where(rng.random(n) < 0.5, k_of(rng, 5, n), k_of(rng, 300, n))],
        }
    )
    y = (frame["a"].fillna(1.0) + frame["b"].isin(["u", "v"]) + 0.4 * rng.normal(size=n) > 0.5).to_numpy()
    return BinnedForestClassifier(8, random_state=0).fit(frame, y), frame


def traced(model, frame, rows=10):
    table = begin_predict(model, frame.iloc[:rows])
    matrix = model.model_.binned(table)
    return trace(model.forest_, matrix, model.mapper_), ColumnReader(table, model.schema_)


def test_leaves_and_questions_are_those_of_the_trees(forest):
    model, frame = forest
    traces, reader = traced(model, frame)
    start = model.forest_.node_start
    np.testing.assert_array_equal(traces.leaf - start[:-1], model.apply(frame.iloc[:10]))
    for row in range(10):
        for tree in range(8):
            told = traces.path(row, tree, reader)
            known = model.forest_.path(tree, int(traces.leaf[row, tree] - start[tree]), model.mapper_)
            assert [step["feature"] for step in told] == [["a", "b", "many"][q.feature] for q in known]
            for step, question in zip(told, known):
                assert step["operator"] in (("<=", "in") if question.went_left else (">", "not in")) or (
                    "missing" in step["operator"]
                )
                if question.categories is None and step["value"] is not None:
                    assert step["value"] == question.threshold


def test_counts_of_questions(forest):
    model, frame = forest
    traces, reader = traced(model, frame, rows=2)
    for row in range(2):
        steps = [step["feature"] for tree in range(8) for step in traces.path(row, tree, reader)]
        counted = {one["feature"]: one["splits"] for one in traces.splits(row, reader)}
        assert counted == {name: steps.count(name) for name in set(steps)}


def test_shared_bins_of_rare_categories_are_named(forest):
    model, frame = forest
    traces, reader = traced(model, frame, rows=40)
    steps = [s for row in range(40) for t in range(8) for s in traces.path(row, t, reader)]
    rare = [s for s in steps if s["feature"] == "many"]
    assert rare
    assert all((s["actual"] in s["value"]) == (s["operator"] == "in") for s in rare)


def test_paths_end_early_at_given_nodes(forest):
    model, frame = forest
    table = begin_predict(model, frame.iloc[:5])
    stops = np.zeros(len(model.forest_.nodes), dtype=bool)
    stops[model.forest_.node_start[:-1]] = True
    traces = trace(model.forest_, model.model_.binned(table), model.mapper_, stops)
    assert (traces.leaf == model.forest_.node_start[:-1]).all()
    assert len(traces.node) == 0


def by_definition(forest, matrix, row, background, groups):
    """The sum over all coalitions, by predictions of mixed rows of codes."""
    codes = np.concatenate(matrix.blocks)

    def value(chosen):
        mixed = codes[:, background].copy()
        for group in chosen:
            mixed[groups[group]] = codes[groups[group], row][:, None]
        return forest.predict_proba(BinnedMatrix.of(mixed, matrix.mapper)).mean(axis=0)

    m = len(groups)
    out = np.zeros((m, forest.n_classes))
    for j in range(m):
        others = [g for g in range(m) if g != j]
        for size in range(m):
            weight = factorial(size) * factorial(m - size - 1) / factorial(m)
            for chosen in combinations(others, size):
                out[j] += weight * (value((*chosen, j)) - value(chosen))
    return out


def rows_of(matrix, rows):
    return BinnedMatrix.of(np.ascontiguousarray(np.concatenate(matrix.blocks)[:, rows]), matrix.mapper)


@pytest.mark.parametrize("splitter", ["best", "random", "completely_random"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("groups", [None, [[0, 3], [1], [2, 4]]])
def test_values_are_those_of_the_definition(splitter, n_classes, short, groups):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(80, 5)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, n_classes, 80).astype(np.int32)
    matrix = bin_array(X)
    params = TreeParams(splitter=splitter, max_features=1 if splitter == "completely_random" else 2)
    forest = grow_forest(matrix, y, n_classes, params, n_trees=4, seed=1).forest
    forest = forest.with_short_nodes() if short else forest
    background = np.arange(20, 32)
    found = shapley_values(forest, rows_of(matrix, np.arange(3)), rows_of(matrix, background), groups)
    single = groups or [[j] for j in range(5)]
    for row in range(3):
        expected = by_definition(forest, matrix, row, background, single)
        np.testing.assert_allclose(found[row], expected, atol=1e-12)


def test_category_splits_and_missing_values():
    frame, y = messy(70)
    model = BinnedForestClassifier(6, max_depth=6, random_state=0).fit(frame, y)
    matrix = model.model_.binned(model.schema_.read(frame))
    groups = [[j] for j in range(model.n_features_in_)]
    background = np.arange(10, 16)
    found = shapley_values(model.forest_, rows_of(matrix, np.arange(2)), rows_of(matrix, background))
    for row in range(2):
        expected = by_definition(model.forest_, matrix, row, background, groups)
        np.testing.assert_allclose(found[row], expected, atol=1e-12)


def test_deep_trees_sum_to_the_prediction_on_any_number_of_threads():
    X, y = make_classification(3000, 12, n_informative=8, n_classes=3, flip_y=0.3, random_state=0)
    model = BinnedForestClassifier(10, splitter="completely_random", random_state=0).fit(X, y)
    matrix = model.model_.binned(model.schema_.read(X[:40]))
    one, two = (shapley_values(model.forest_, matrix, matrix, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    p = model.predict_proba(X[:40])
    np.testing.assert_allclose(one.sum(axis=1), p - p.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_values_are_those_of_the_shap_package(n_classes):
    shap = pytest.importorskip("shap")
    X, y = make_classification(300, 6, n_informative=5, n_redundant=0, n_classes=n_classes, random_state=0)
    ours = BinnedForestClassifier(15, max_depth=5, random_state=0).fit(X, y)
    explainer = shap.ExactExplainer(ours.predict_proba, shap.maskers.Independent(X[:50], max_samples=50))
    theirs = explainer(X[100:105]).values
    found = ours.contributions(X[100:105], X[:50])
    assert found.method == "exact"
    np.testing.assert_allclose(found.values, theirs, atol=1e-6)


def test_the_tree_explainer_of_shap_gives_the_same_for_the_same_trees():
    """shap reads trees of scikit-learn only: the same stump forest in both libraries."""
    shap = pytest.importorskip("shap")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(400, 3)).astype(float)
    y = ((X[:, 0] > 1) & (X[:, 1] > 1)).astype(int)
    theirs = RandomForestClassifier(1, bootstrap=False, max_features=None, random_state=0).fit(X, y)
    ours = BinnedForestClassifier(1, study={"bootstrap": False}, max_features=None, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    explainer = shap.TreeExplainer(theirs, X[:60], feature_perturbation="interventional")
    expected = explainer.shap_values(X[100:110], check_additivity=False)
    found = ours.contributions(X[100:110], X[:60]).values
    # Both trees are the function y: which of two equally good splits comes first does not matter.
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_boundary_trusts_nobody():
    matrix = bin_array(np.arange(10.0).reshape(5, 2))
    y = np.array([0, 1, 0, 1, 1], dtype=np.int32)
    forest = grow_forest(matrix, y, 2, TreeParams(), n_trees=1, seed=0).forest
    bins, out = _core.Bins(list(matrix.blocks)), np.zeros((5, 2, 2))
    group_of = np.array([0, 1], dtype=np.uint32)
    with pytest.raises(ValueError, match="a number that is no group"):
        _core.shapley_codes(forest.in_core, bins, 0, 5, bins, group_of, 1, np.zeros((5, 1, 2)))
    with pytest.raises(TypeError, match="out"):
        _core.shapley_codes(forest.in_core, bins, 0, 5, bins, group_of, 2, out[:4])
    other = _core.Bins(list(bin_array(np.zeros((3, 3))).blocks))
    with pytest.raises(ValueError, match="other columns than the rows"):
        _core.shapley_codes(forest.in_core, bins, 0, 5, other, group_of, 2, out)
    with pytest.raises(ValueError, match="at least one background row"):
        shapley_values(forest, matrix, rows_of(matrix, np.arange(0)))
