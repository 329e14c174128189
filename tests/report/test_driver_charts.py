"""Charts about what drives a model."""

from surewood.report.driver_charts import driver_charts, driver_sentence


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
    assert "27 less important columns are not drawn" in made["importances"]["caption"]
    assert "<age>" not in made["importances"]["variants"][0]["html"]
    assert [chart["title"] for chart in made["dependence"]] == ["pay", "city"]  # one value is no chart
    assert "missing (38 % of rows)" in made["dependence"][1]["variants"][0]["html"]
    (row,) = made["rows"]
    assert row["title"] == "Hard: row 41, wrongly predicted no"
    assert "+12.3" in row["variants"][0]["html"]
    assert "the true class is yes" in row["caption"]


def test_nothing_known_is_nothing_drawn():
    assert driver_charts(None) == {"importances": None, "dependence": [], "rows": []}
