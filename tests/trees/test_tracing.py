"""Traced paths against the paths that trees tell of themselves."""

import numpy as np
import pandas as pd
import pytest

from surewood import BinnedForestClassifier
from surewood.tables import ColumnReader, begin_predict
from surewood.trees import trace


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
