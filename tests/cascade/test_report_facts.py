"""Cascades as pages and plots show them."""

import json

import pytest
from sklearn.datasets import make_moons

from surewood import DeepCascadeClassifier, DeepCascadeSVMClassifier
from surewood.estimators.describing import ReportRows
from surewood.tables import plain

X, y = make_moons(160, noise=0.25, random_state=0)


@pytest.fixture(scope="module")
def cascade():
    return DeepCascadeSVMClassifier(
        3, n_leaves=2, degrees=(1, 2), fractions=(0.2, 0.4), C=1.0, random_state=0
    ).fit(X, y)


def test_key_figures_need_no_rows(cascade):
    facts = cascade.__report_facts__(None)
    figures = {one["label"]: one["value"] for one in facts["figures"]}
    assert facts["title"] == "Deep cascade SVM"
    assert figures["leaves in the longest"] == cascade.cascades_[0].n_leaves
    assert facts["sections"] == []


def test_charts_of_a_cascade_with_two_leaves(cascade):
    facts = plain(cascade.__report_facts__(ReportRows(X, y, y, True)))
    json.dumps(facts, allow_nan=False)
    kinds = [block["kind"] for section in facts["sections"] for block in section["blocks"]]
    assert kinds == ["flow", "bars", "lines", "table"]
    stages = facts["sections"][0]["blocks"][0]["variants"][0]["stages"]
    assert stages[0]["arrive"] == len(y)
    assert stages[1]["arrive"] == stages[0]["arrive"] - stages[0]["points"]
    table = facts["sections"][1]["blocks"][0]
    assert [row[5] for row in table["rows"]] == [stage["points"] for stage in stages]


def test_a_single_leaf_has_a_sentence_instead_of_charts():
    model = DeepCascadeSVMClassifier(1, degrees=(1,), C=1.0, random_state=0).fit(X, y)
    facts = model.__report_facts__(ReportRows(X, y, y, True))
    assert [section["title"] for section in facts["sections"]] == ["Leaf by leaf"]
    assert "single classifier" in facts["sections"][0]["text"]


def test_a_cascade_of_any_classifiers():
    model = DeepCascadeClassifier(("stump", "tree"), max_leaves=2, gamma_scale=1e-4, random_state=0).fit(X, y)
    facts = plain(model.__report_facts__(ReportRows(X, y, y, False)))
    assert facts["figures"][0]["value"] == len(model.ledger())
    assert sum(leaf.points for leaf in model.leaf_flow(X, y)["all"]) == len(y)
    with pytest.raises(ValueError, match="part must be 0, this model is one cascade; got 1"):
        model.leaf_terms(1)
