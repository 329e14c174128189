"""The fitted mixture as arrays.

Explanations of a mixture: what each member says.

The mixture on a page.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_iris, load_wine

from surewood import SurewoodClassifier
from surewood.base.describing import ReportRows
from surewood.tables import begin_predict


def test_one_table_serves_all_members():
    X, y = load_wine(return_X_y=True)
    model = SurewoodClassifier(5, random_state=0).fit(X, y)
    table = begin_predict(model, X)
    np.testing.assert_array_equal(model.model_.probabilities(table, 1), model.predict_proba(X))
    np.testing.assert_allclose(model.model_.mixed(table, 1).sum(axis=1), 1.0)


def test_evidence_is_an_estimate_that_took_part_in_choices():
    X, y = load_wine(return_X_y=True)
    (found,) = SurewoodClassifier(5, random_state=0).fit(X, y).__certificate_evidence__()
    assert found.used_for_selection
    assert len(y) - 3 <= found.n <= len(y)  # a row that every tree saw has no held-out vote


def test_members_are_listed_heaviest_first_and_mix_to_the_prediction():
    X, y = load_iris(return_X_y=True)
    model = SurewoodClassifier(5, random_state=0, calibrate=False).fit(X, y)
    (told,) = model.explain(X[60:61])
    weights = [one["weight"] for one in told["members"]]
    assert weights == sorted(weights, reverse=True)
    for label in model.classes_.tolist():
        mixed = sum(one["weight"] * one["probabilities"][label] for one in told["members"])
        np.testing.assert_allclose(mixed, told["probabilities"][label])
    steps = model.__explanation_steps__(told)
    assert steps[0]["title"] == "Members"
    assert told["members"][0]["member"].capitalize().replace("_", " ") in steps[1]["title"]


def test_the_page_shows_every_member_with_its_weight_and_the_sections_of_those_that_predict():
    X, y = load_iris(return_X_y=True)
    model = SurewoodClassifier(5, random_state=0).fit(X, y)
    facts = model.__report_facts__(ReportRows(X, y, np.asarray(y), False))
    table = facts["sections"][0]["blocks"][0]
    assert [row[0] for row in table["rows"]] == [one.name.replace("_", " ") for one in model.members_]
    titles = [section["title"] for section in facts["sections"][1:]]
    for name, one in model.estimators_.items():
        own = one.__report_facts__(ReportRows(X, y, np.asarray(y), False))["sections"]
        assert sum(title.startswith(name.capitalize().replace("_", " ")) for title in titles) == len(own)
