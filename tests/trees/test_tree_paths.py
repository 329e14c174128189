"""A tree as a table, and paths that agree with where rows really end."""

import numpy as np
import pandas as pd
import pytest

from surewood import BinnedForestClassifier


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "c": rng.choice(list("abcd"), 300)})
    frame.loc[::17, "x"] = np.nan
    y = (frame["x"].fillna(0) + (frame["c"] == "b") > 0.3).astype(int)
    forest = BinnedForestClassifier(3, random_state=0, max_depth=4).fit(frame, y)
    return forest, frame


def test_children_parents_and_depths_fit_together(model):
    forest = model[0].forest_
    for tree in range(forest.n_trees):
        table = forest.table(tree)
        inner = np.flatnonzero(table["left"] >= 0)
        for node in inner:
            for child in (table["left"][node], table["right"][node]):
                assert table["parent"][child] == node
                assert table["depth"][child] == table["depth"][node] + 1
        assert (table["parent"] == -1).sum() == 1
        assert ((table["feature"] >= 0) == (table["left"] >= 0)).all()


def test_a_row_meets_every_split_of_its_path_on_the_side_that_the_path_takes(model):
    classifier, frame = model
    forest, mapper = classifier.forest_, classifier.mapper_
    leaves = classifier.apply(frame)
    categories = {value: k for k, value in enumerate(sorted(frame["c"].unique()))}
    for row in range(0, 300, 7):
        for tree in range(forest.n_trees):
            for split in forest.path(tree, int(leaves[row, tree]), mapper):
                value = frame.iloc[row, split.feature]
                if split.categories is not None:
                    left = categories[value] in split.categories
                else:
                    left = split.missing_left if np.isnan(value) else value <= split.threshold
                assert left == split.went_left


def test_the_root_has_an_empty_path(model):
    classifier = model[0]
    assert classifier.forest_.paths(0, [0, 0], classifier.mapper_) == [[], []]
