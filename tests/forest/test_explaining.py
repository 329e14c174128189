"""Explanations retrace what the trees did."""

import numpy as np
from sklearn.datasets import load_iris

from surewood import BinnedForestClassifier
from surewood.forest.explaining import explain_rows

X, Y = load_iris(return_X_y=True)


def test_votes_and_leaves_are_those_of_the_trees():
    forest = BinnedForestClassifier(6, max_depth=3, random_state=0).fit(X, Y)
    rows = explain_rows(forest.model_, forest.schema_.read(X[:4]), forest.schema_, forest.classes_)
    leaves = forest.apply(X[:4])
    for k, row in enumerate(rows):
        assert [tree["leaf"] for tree in row["trees"]] == leaves[k].tolist()
        votes = np.mean([list(tree["votes"].values()) for tree in row["trees"]], axis=0)
        np.testing.assert_allclose(votes, forest.predict_proba(X[[k]])[0])
        splits = [step["feature"] for tree in row["trees"] for step in tree["path"]]
        assert {item["feature"] for item in row["features"]} == set(splits)
