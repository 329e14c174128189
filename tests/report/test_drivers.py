"""What drives a model: facts that are plain, quick and the same every time, and their charts."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from surewood import BinnedForestClassifier
from surewood.certify.deciding import ThresholdedClassifier
from surewood.report.drivers import driver_charts, driver_facts, driver_sentence
from surewood.report.facts import Predictions

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :6].assign(kind=pd.Categorical(np.where(np.arange(len(X)) % 3, "a", "b")))
MODEL = BinnedForestClassifier(10, random_state=0).fit(X[::2], y[::2])
ROWS = Predictions(MODEL, X[1::2], y[1::2])


@pytest.fixture(scope="module")
def facts():
    return driver_facts(MODEL, ROWS, X[::2], 0)


def test_facts_are_strict_json_and_do_not_change(facts):
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert driver_facts(MODEL, ROWS, X[::2], 0) == facts


def test_importances_are_sorted_and_lie_in_their_intervals(facts):
    rows = facts["importances"]["columns"]
    values = [row["importance"] for row in rows]
    assert values == sorted(values, reverse=True)
    assert all(row["low"] <= row["importance"] <= row["high"] for row in rows)
    assert facts["importances"]["n_columns"] == 7


def test_dependence_is_about_the_most_important_columns(facts):
    drawn = [one["column"] for one in facts["dependence"]]
    assert drawn == [row["column"] for row in facts["importances"]["columns"]][: len(drawn)]
    assert all(one["of"] == "0" for one in facts["dependence"])


def test_contributions_are_of_typical_and_of_wrong_rows(facts):
    kinds = [row["typical"] for row in facts["rows"]]
    assert kinds == sorted(kinds, reverse=True)
    for row in facts["rows"]:
        assert (row["truth"] == row["predicted"]) == row["typical"]
        assert 0 < len(row["columns"]) <= 6


def test_a_rule_of_decision_is_looked_through(facts):
    rule = ThresholdedClassifier(MODEL, 0.3, 1)
    found = driver_facts(rule, Predictions(rule, X[1::2], y[1::2]), X[::2], 0)
    assert found["importances"] == facts["importances"]


def test_models_of_others_and_models_without_probabilities():
    numbers = X.drop(columns="kind").to_numpy()
    model = LogisticRegression(max_iter=5000).fit(numbers[::2], y[::2])
    found = driver_facts(model, Predictions(model, numbers[1::2], y[1::2]), numbers[::2], 0)
    assert found["importances"]["columns"][0]["column"].startswith("x")
    assert found["dependence"]
    without = SVC().fit(numbers[::2], y[::2])
    assert driver_facts(without, Predictions(without, numbers[1::2], y[1::2]), numbers[::2], 0) is None


def test_dates_are_shown_as_dates_and_numbers_of_a_text_not_at_all():
    rng = np.random.default_rng(0)
    days = rng.integers(18_000, 19_000, 60).astype(float)
    rows = pd.DataFrame({"born: year": days // 365, "born: days": days, "words: text 1": rng.normal(size=60)})
    rows["words: text 2"] = rng.normal(size=60)
    labels = np.where(days > 18_500, "late", "early")
    parts = {"born": ["born: year", "born: days"], "words": ["words: text 1", "words: text 2"]}
    model = BinnedForestClassifier(10, random_state=0).fit(rows, labels)
    found = driver_facts(model, Predictions(model, rows, labels), rows, 0, parts)["rows"]
    shown = {one["column"]: one["value"] for row in found for one in row["columns"]}
    assert shown["born"].startswith(("2019-", "2020-", "2021-", "2022-"))
    assert shown["words"] == ""


@pytest.mark.parametrize(("n_classes", "n_rows"), [(20, 400), (200, 400), (500, 200)])
def test_fewer_rows_are_predicted_where_classes_are_many(n_classes, n_rows):
    labels = np.arange(1000) % n_classes
    table = pd.DataFrame({f"x{k}": (labels * (k + 1)) % 37.0 for k in range(6)})
    model = BinnedForestClassifier(2, random_state=0).fit(table, labels)
    found = driver_facts(model, Predictions(model, table, labels), table, 0)
    assert found["importances"]["n_rows"] == n_rows
    assert found["notes"] == []


def importance(name, low, high):
    return {"column": name, "importance": (low + high) / 2, "low": low, "high": high}


FACTS = {
    "importances": {
        "metric": "log-loss", "baseline": 0.4, "confidence": 0.95, "n_rows": 200, "n_columns": 30,
        "columns": [importance("<age>", 0.1, 0.3), importance("pay", 0.01, 0.03), importance("x", -1, 1)],
    },
    "dependence": [
        {"column": "pay", "kind": "number", "of": "yes", "grid": [0.0, 1.0, 2.0], "effect": [-0.1, 0.0, 0.2],
         "count": [5, 3]},
        {"column": "city", "kind": "category", "of": "yes", "grid": ["<a>", None], "effect": [0.1, -0.1],
         "count": [5, 3]},
        {"column": "constant", "kind": "number", "of": "yes", "grid": [1.0], "effect": [0.0], "count": []},
    ],
    "rows": [
        {"row": "41", "typical": False, "truth": "yes", "predicted": "no", "of": "no", "probability": 0.8,
         "expected": 0.6, "exact": True,
         "columns": [{"column": "pay", "value": 3.5, "contribution": 0.123, "standard_error": 0.0}]},
    ],
}  # fmt: skip


def test_the_sentence_names_what_clearly_matters():
    assert (
        driver_sentence(FACTS)
        == "The prediction rests most on <age> and pay; 2 of 30 columns clearly matter."
    )
    assert driver_sentence(None) == ""
    vague = {"importances": {"columns": [importance("a", -1, 1)], "n_columns": 1}}
    assert driver_sentence(vague).startswith("No single column clearly matters")


def test_every_chart_is_drawn_and_names_are_text():
    made = driver_charts(FACTS)
    assert "Not drawn: 27 less important columns." in made["importances"]["caption"]
    assert "<age>" not in made["importances"]["variants"][0]["html"]
    assert [chart["title"] for chart in made["dependence"]] == ["pay", "city"]  # one value is no chart
    assert "missing (38 % of rows)" in made["dependence"][1]["variants"][0]["html"]
    (row,) = made["rows"]
    assert row["title"] == "Hard: row 41, wrongly predicted no"
    assert "+12.3" in row["variants"][0]["html"]
    assert "the true class is yes" in row["caption"]


def test_nothing_known_is_nothing_drawn():
    assert driver_charts(None) == {"importances": None, "dependence": [], "rows": []}
