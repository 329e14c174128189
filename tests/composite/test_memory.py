"""Memory of a composite forest, counted against the arrays that a fit really makes."""

import numpy as np
import pytest

from surewood import (
    CompositeTreeClassifier,
    RandomCompositeForestClassifier,
    RandomCompositeForestClassifierCV,
)
from surewood.composite import pilot as pilot_module
from surewood.composite.memory import Leaves, Shape, stages


def shape_of(model, X, y):
    with model._begin(X, y, None) as inputs:
        return model._parameters(), model._shape(inputs)


def sample(n_rows=400, n_classes=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    return X, np.digitize(X[:, 0] + 0.3 * rng.normal(size=n_rows), np.linspace(-1, 1, n_classes - 1))


def test_classes_of_a_leaf():
    shape = Shape(1000, 5, 5, 100)
    assert shape.classes_among(1) == pytest.approx(1.0)
    assert shape.classes_among(100_000) == pytest.approx(100.0)
    rng = np.random.default_rng(0)
    seen = np.mean([len(np.unique(rng.integers(0, 100, 80))) for _ in range(200)])
    assert shape.classes_among(80) == pytest.approx(seen, rel=0.03)


def test_the_views_of_a_pilot_are_counted_as_they_are(monkeypatch):
    X, y = sample()
    views = []

    class Watched(pilot_module.DepthVotes):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            views.append(self)

    monkeypatch.setattr(pilot_module, "DepthVotes", Watched)
    model = RandomCompositeForestClassifier(n_estimators=6, random_state=0)
    given, shape = shape_of(model, X, y)
    model.fit(X, y)
    arrays = sum(
        view.leaf.nbytes
        + view.set_of.nbytes
        + view.majority.nbytes
        + sum(a.nbytes for a in view.labels.values())
        for view in views
    )
    sets = sum(rows.nbytes for rows in views[0].sample.sets.rows)
    pilot = stages(given, shape, 6, 2000, 1)["pilot"]
    assert arrays + sets < pilot < 4 * (arrays + sets) + 2**21


def test_the_row_numbers_of_leaves_are_counted_as_they_are():
    leaves = Leaves(Shape(1000, 5, 5, 2), n_trees=10, bag=800, largest=100, degrees=1, leaves_per_tree=8)
    nodes, bags, sets = 4 * 1000 * 10, 4 * 800 * 10, 4 * 800 * 10
    assert leaves.row_numbers() == nodes + bags + sets + 8 * 10 * 450


def test_stages_are_those_of_the_rule():
    X, y = sample()
    for model, names in (
        (RandomCompositeForestClassifier(), {"trees", "pilot", "votes"}),
        (CompositeTreeClassifier(), {"trees", "tuning", "votes"}),
        (CompositeTreeClassifier(C=1.0), {"trees", "votes"}),
        (RandomCompositeForestClassifierCV(), {"trees", "search", "votes"}),
    ):
        given, shape = shape_of(model, X, y)
        found = stages(given, shape, int(np.max(given.n_estimators)), 2000, 1)
        assert set(found) == names
        assert all(size > 0 for size in found.values())


def test_more_of_anything_takes_more():
    X, y = sample()
    model = RandomCompositeForestClassifier()
    usual, more_classes, more_rows = (
        model.estimate_cost(*table).memory_bytes for table in ((X, y), sample(400, 40), sample(1200, 3))
    )
    assert usual < more_classes
    assert usual < more_rows
    assert (
        model.estimate_cost(X, y).memory_bytes
        <= RandomCompositeForestClassifier(n_jobs=2).estimate_cost(X, y).memory_bytes
    )
