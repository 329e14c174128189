"""A composite forest as pages and plots show it, and one prediction in words."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surewood import CompositeTreeClassifier
from surewood.base.describing import ReportRows
from surewood.composite.report_facts import MAX_LEAVES, explanation_steps
from surewood.tables import plain

X, y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def tree():
    return CompositeTreeClassifier(max_depth=2, C=1.0, random_state=0).fit(X, y)


def test_key_figures_need_no_rows(tree):
    facts = tree.__report_facts__(None)
    figures = {one["label"]: one["value"] for one in facts["figures"]}
    assert facts["title"] == "Composite tree"
    assert facts["sections"] == []
    assert figures["composite trees"] == 1
    assert figures["leaves"] == len(tree.ledger())


def test_sections_are_plain_and_agree_with_the_ledger(tree):
    facts = plain(tree.__report_facts__(ReportRows(X, y, y, False)))
    json.dumps(facts, allow_nan=False)
    votes, first, second = facts["sections"]
    assert sum(row[-1] for row in votes["blocks"][0]["rows"]) == pytest.approx(100)
    icicle, degrees, settings = first["blocks"]
    nodes = icicle["variants"][0]["nodes"]
    assert sum(node["level"] is not None for node in nodes) == len(tree.ledger())
    assert nodes[0]["value"] == len(y)
    drawn = np.sum([one["values"] for one in degrees["variants"][0]["series"]])
    assert drawn == len(tree.ledger())
    assert "Depth at most 2" in settings["lines"][0]
    table = second["blocks"][0]
    assert len(table["rows"]) == min(MAX_LEAVES, len(tree.ledger()))
    assert len(table["rows"][0]) == len(table["columns"])


def test_data_of_the_plots(tree):
    ledger, gamma = tree.leaf_terms()
    assert gamma == tree.settings_[0].gamma_scale
    degrees = dict(zip(ledger["leaf"], ledger["degree"]))
    expected = [degrees[leaf] for leaf in tree.apply(X)[:, 0]]
    assert tree.leaf_degrees(X)[:, 0].tolist() == expected


def test_steps_of_a_tree(tree):
    explained = tree.explain(X[140:141])[0]
    steps = {one["title"]: one for one in explanation_steps(tree, explained)}
    assert steps["Votes"]["lines"][0] == f"1 of 1 composite tree vote for {explained['prediction']}"
    told = steps[f"Tree 1 votes for {explained['prediction']}"]["lines"]
    assert told[0].startswith("path: ")
    assert "training rows correct" in told[1]
    assert steps["Nearest support vectors"]["support"] == explained["support"]


def test_dissent_and_plain_trees_are_reported():
    tree = {"vote": "a", "degree": 0, "path": [], "points": 9.0, "correct": 7.0}
    explained = {
        "prediction": "a",
        "votes": {"a": 0.7, "b": 0.3},
        "plain_trees": {"trees": 5, "weight": 0.75, "votes": {"a": 0.8, "b": 0.2}},
        "trees": [{**tree, "tree": 0}, {**tree, "tree": 1, "vote": "b", "degree": 2}],
    }
    steps = explanation_steps(None, explained)
    assert steps[0]["lines"] == [
        "1 of 2 composite trees vote for a",
        "the others: 1 for b",
        "5 plain trees, 75 % of the vote  a: 80.0 %, b: 20.0 %",
        "together  a: 70.0 %, b: 30.0 %",
    ]
    assert steps[1]["lines"] == ["1 leaf of degree 0, 1 leaf of degree 2"]
    assert [one["title"] for one in steps[2:]] == ["Tree 1 votes for a", "Tree 2 votes for b"]
