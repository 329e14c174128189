"""A composite tree as a table of nodes."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surewood import RandomCompositeForestClassifier


@pytest.fixture(scope="module")
def forest():
    X, y = load_iris(return_X_y=True)
    return RandomCompositeForestClassifier(
        3, selection="exact", max_depth=3, C=1.0, gamma_scale=1e-3, random_state=0
    ).fit(X, y)


def test_leaves_are_those_of_the_ledger(forest):
    for tree in range(3):
        nodes, ledger = forest.nodes(tree), forest.ledger(tree)
        leaves = nodes[nodes["leaf"] >= 0].sort_values("leaf")
        for column in ("points", "errors", "degree", "complexity_term", "side", "depth"):
            assert leaves[column].tolist() == ledger[column].tolist()


def test_inner_nodes_hold_what_their_children_hold(forest):
    nodes = forest.nodes(1)
    assert nodes["parent"][0] == -1
    assert nodes["condition"][0] == "all points"
    for node in nodes["node"][nodes["leaf"] < 0]:
        children = nodes[nodes["parent"] == node]
        assert len(children) == 2
        assert np.isclose(children["points"].sum(), nodes["points"][node])
        assert (children["depth"] == nodes["depth"][node] + 1).all()


def test_conditions_on_the_way_are_the_path(forest):
    nodes, ledger = forest.nodes(2), forest.ledger(2)
    for _, row in nodes[nodes["leaf"] >= 0].iterrows():
        words, at = [], row["node"]
        while nodes["parent"][at] >= 0:
            words.append(nodes["condition"][at])
            at = nodes["parent"][at]
        assert " and ".join(words[::-1]) == ledger["path"][row["leaf"]]


def test_there_is_no_such_tree(forest):
    with pytest.raises(ValueError, match="tree must be below 3, got 3"):
        forest.nodes(3)
