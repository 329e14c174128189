"""Ledgers of single trees and paths in words."""

import numpy as np
import pandas as pd
import pytest

from surewood import CompositeTreeClassifier
from surewood.composite.ledgers import criterion_of, leaf_paths


@pytest.fixture(scope="module")
def tree():
    rng = np.random.default_rng(0)
    color = rng.choice(["red", "green", "blue"], 200)
    x = rng.normal(size=200)
    y = (color == "red") ^ (x > 0.3)
    frame = pd.DataFrame({"x": x, "color": pd.Categorical(color)})
    return CompositeTreeClassifier(max_depth=2, degrees=1, C=1.0, random_state=0).fit(frame, y)


def test_paths_name_columns_and_categories(tree):
    paths = " ".join(tree.ledger()["path"])
    assert "color in" in paths or "color not in" in paths
    assert "x <= " in paths
    assert "x > " in paths


def test_a_path_has_one_split_per_level(tree):
    model = tree.model_
    lengths = [len(path) for path in leaf_paths(model.trees, 0, model.reader.mapper)]
    assert lengths == model.trees.leaves.depth.tolist() == tree.ledger()["depth"].tolist()


def test_the_criterion_is_errors_plus_terms(tree):
    ledger = tree.model_.tree_ledger(0, with_paths=False)
    total = ledger.points.sum()
    assert criterion_of(ledger) == pytest.approx(ledger.errors.sum() / total + ledger.term.sum())
