"""A composite forest as pages and plots show it."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surewood import CompositeTreeClassifier
from surewood.composite.report_facts import MAX_LEAVES, leaf_degrees, leaf_terms
from surewood.estimators.describing import ReportRows
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
    ledger, gamma = leaf_terms(tree)
    assert gamma == tree.settings_[0].gamma_scale
    degrees = dict(zip(ledger["leaf"], ledger["degree"]))
    expected = [degrees[leaf] for leaf in tree.apply(X)[:, 0]]
    assert leaf_degrees(tree, X)[:, 0].tolist() == expected
