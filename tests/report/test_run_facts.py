"""Settings, seeds, versions, time and memory of a run."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import surewood
from surewood.report.run_facts import run_facts, settings


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
