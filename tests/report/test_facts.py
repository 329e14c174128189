"""The model's own words, its predictions, the run, and the table."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import surewood
from surewood.base.describing import report_facts
from surewood.certify.deciding import ThresholdedClassifier
from surewood.report.facts import (
    MAX_COLUMNS,
    Predictions,
    class_facts,
    column_facts,
    column_names,
    last_step,
    model_facts,
    run_facts,
    settings,
)


def test_pipelines_and_rules_are_opened():
    model = DummyClassifier().fit([[0], [1]], [0, 1])
    rule = ThresholdedClassifier(model, 0.3, 1)
    assert last_step(make_pipeline("passthrough", rule)) is model
    assert last_step(make_pipeline("passthrough", rule), with_rule=True) is rule
    assert last_step(model) is model


X, y = load_iris(return_X_y=True)


class Told(DummyClassifier):
    """Describes itself with the rows that it was shown."""

    def __report_facts__(self, rows):
        text = "no rows" if rows is None else f"{len(rows.y)} rows, mean {np.mean(rows.X):.3f}"
        return report_facts("Told", text)


def test_any_classifier_that_follows_the_protocol_is_described():
    model = Told().fit(X, y)
    assert "no rows" in json.dumps(model_facts(model))
    shown = model_facts(model, Predictions(model, X, y))
    assert f"150 rows, mean {X.mean():.3f}" in json.dumps(shown)


def test_the_last_step_of_a_pipeline_sees_the_transformed_rows():
    model = make_pipeline(StandardScaler(), Told()).fit(X, y)
    assert isinstance(last_step(model), Told)
    assert "mean 0.000" in json.dumps(model_facts(model, Predictions(model, X, y))).replace("-0.000", "0.000")


def test_rows_with_unknown_labels_are_left_out():
    model = Told().fit(X[:100], y[:100])
    assert "100 rows" in json.dumps(model_facts(model, Predictions(model, X, y)))


CANCER_X, CANCER_Y = load_breast_cancer(return_X_y=True)
MODEL = LogisticRegression(max_iter=5000).fit(CANCER_X[::2, :3], CANCER_Y[::2])
HELD = CANCER_X[1::2, :3], CANCER_Y[1::2]


def test_a_threshold_decides_instead_of_the_largest_probability():
    rule = ThresholdedClassifier(MODEL, 0.9, 1)
    rows = Predictions(rule, *HELD)
    assert (rows.predicted == rule.predict(HELD[0])).all()
    given = Predictions(rule, *HELD, MODEL.predict_proba(HELD[0]))
    assert (given.guesses == rows.guesses).all()


def test_rows_without_a_decision_are_neither_right_nor_known():
    rows = Predictions(ThresholdedClassifier(MODEL, 0.95), *HELD)
    assert 0 < rows.decided.mean() < 1
    assert not rows.right[~rows.decided].any()


def test_another_librarys_predict_is_believed():
    model = SVC(random_state=0).fit(CANCER_X[::2, :3], CANCER_Y[::2])
    rows = Predictions(model, *HELD)
    assert rows.proba is None
    assert (rows.predicted == model.predict(HELD[0])).all()


def test_labels_not_seen_in_training_are_left_out():
    labels = np.where(np.arange(len(HELD[1])) < 5, 7, HELD[1])
    assert Predictions(MODEL, HELD[0], labels).known().y.tolist() == HELD[1][5:].tolist()


def test_changed_settings_come_first():
    rows = settings(DecisionTreeClassifier(max_depth=3, random_state=1))
    assert {row["name"] for row in rows[:2]} == {"max_depth", "random_state"}
    assert [row["changed"] for row in rows] == sorted((row["changed"] for row in rows), reverse=True)
    assert settings(object()) == []


def test_an_equal_value_of_another_type_counts_as_changed():
    (row,) = (row for row in settings(LogisticRegression(C=1)) if row["name"] == "C")
    assert row["changed"]  # the default is 1.0


def test_what_the_caller_measured_is_kept_and_the_rest_is_filled_in():
    facts = run_facts(DecisionTreeClassifier(random_state=7), {"seconds": 1.5, "note": np.float64("nan")})
    assert (facts["seconds"], facts["seed"], facts["note"], facts["command"]) == (1.5, "7", None, None)
    assert facts["versions"]["surewood"] == surewood.__version__
    assert facts["peak_memory_bytes"] > 1e6
    given = run_facts(DecisionTreeClassifier(random_state=7), {"seed": 3, "peak_memory_bytes": 10})
    assert (given["seed"], given["peak_memory_bytes"]) == ("3", 10)


def test_columns_have_kind_missing_fraction_and_range():
    frame = pd.DataFrame(
        {
            "size": [1.0, np.nan, 3.0, 4.0],
            "kind": pd.Categorical(["a", "b", "a", "a"]),
            "day": pd.to_datetime(["2024-01-02", "2024-03-04", "2024-02-01", "2024-01-02"]),
            "same": [7, 7, 7, 7],
            "none": [np.nan] * 4,
        }
    )
    size, kind, day, same, none = column_facts(object(), frame)
    assert (size["missing"], size["distinct"], size["range"]) == (0.25, 3, "1 to 4, median 3")
    assert (kind["kind"], kind["range"]) == ("category", "a (75 %), b (25 %)")
    assert day["range"] == "2024-01-02 to 2024-03-04"
    assert same["range"] == "always 7"
    assert none["range"] == "no value"


def test_ranges_of_columns_are_written_as_in_the_table():
    frame = pd.DataFrame(
        {"paid": [0.0, 1.0, 1.0], "since: days": [19000.0, 19782.0, 19800.0], "fee": [5, 9, 7]}
    )
    how = {"paid": {"words": {0.0: "nein", 1.0: "ja"}}, "since: days": {"days": True}, "fee": {"unit": "€"}}
    assert [column["range"] for column in column_facts(object(), frame, how)] == [
        "ja (67 %), nein (33 %)",
        "2022-01-08 to 2024-03-18, median 2024-02-29",
        "5 € to 9 €, median 7 €",
    ]


def test_wide_tables_are_cut_and_plain_arrays_have_numbered_columns():
    X = np.zeros((3, MAX_COLUMNS + 5))
    assert len(column_facts(object(), X)) == MAX_COLUMNS
    assert column_names(object(), X)[:2] == ["x0", "x1"]


def test_classes_come_by_frequency_with_their_holdout_rows():
    facts = class_facts(["a", "b", "b", "b"], ["b", "a", "a"])
    assert [(f["label"], f["rows"], f["share"], f["holdout_rows"]) for f in facts] == [
        ("b", 3, 0.75, 1),
        ("a", 1, 0.25, 2),
    ]
