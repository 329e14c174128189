"""Explanations of single rows."""

import pytest


def test_explain_tells_path_leaf_degree_and_vote(problem, paper):
    X, _ = problem
    told = paper.explain(X[3:5])[0]
    assert [tree["vote"] for tree in told["trees"]] == paper.tree_predictions(X[3:4])[0].tolist()
    assert [tree["leaf"] for tree in told["trees"]] == paper.apply(X[3:4])[0].tolist()
    degrees = paper.ledger(tree=0)["degree"]
    assert told["trees"][0]["degree"] == degrees[told["trees"][0]["leaf"]]
    assert told["trees"][0]["path"][0]["feature"].startswith("x")
    assert sum(told["votes"].values()) == pytest.approx(1.0)
