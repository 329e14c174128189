"""Degrees of rows, and the map of two columns."""

import numpy as np
import pandas as pd
import pytest

from surewood import CompositeTreeClassifier
from surewood.inspect import CapacityMapDisplay, row_degrees


def test_degrees_are_those_of_the_leaves(forest, moons):
    X, _ = moons
    ledger = forest.ledger().set_index(["tree", "leaf"])["degree"]
    leaf = forest.apply(X[:20])
    expected = [[ledger[t, k] for t, k in enumerate(row)] for row in leaf]
    assert np.array_equal(row_degrees(forest, X[:20]), np.mean(expected, axis=1))
    assert np.array_equal(row_degrees(forest, X[:20], 1), np.array(expected)[:, 1])


def test_a_cascade_uses_the_degree_of_the_exit(cascade, moons):
    X, _ = moons
    degrees = np.array([node.degree for node in cascade.cascades_[0].nodes])
    assert np.array_equal(row_degrees(cascade, X), degrees[cascade.decision_path(X)])


def test_the_map_shows_what_the_rows_get(tree, moons):
    X, _ = moons
    display = CapacityMapDisplay.from_estimator(tree, X, grid_resolution=12)
    assert display.degree.shape == (12, 12)
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    assert np.array_equal(display.degree.ravel(), row_degrees(tree, grid))
    assert len(display.ax_.collections) == 2


def test_frames_with_categories_and_odd_names():
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "$x^{": random.normal(size=80),
            "job": pd.Categorical(random.choice(["a", "b"], 80)),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 9, 80), "D"),
            "z": np.where(random.random(80) < 0.2, np.nan, random.normal(size=80)),
        }
    )
    y = (X["$x^{"] > 0).astype(int)
    model = CompositeTreeClassifier(max_depth=1, C=1.0, random_state=0).fit(X, y)
    display = CapacityMapDisplay.from_estimator(model, X, features=("$x^{", "z"), grid_resolution=5)
    display.figure_.canvas.draw()
    assert display.names == ("$x^{", "z")
    with pytest.raises(ValueError, match="features must be numeric columns; 'job' is not"):
        CapacityMapDisplay.from_estimator(model, X, features=("job", "z"))
    with pytest.raises(ValueError, match="'age', which is not a column of X"):
        CapacityMapDisplay.from_estimator(model, X, features=("age", "z"))


def test_models_without_degrees_are_refused(margin_forest, three_classes, forest, moons):
    with pytest.raises(ValueError, match="MarginDeepForestClassifier has no degrees to show"):
        row_degrees(margin_forest, three_classes[0])
    with pytest.raises(ValueError, match="part must be between 0 and 3, got 4"):
        row_degrees(forest, moons[0], 4)
