"""Sentences about the bars: only about complete sets, with the sets by name."""

import pandas as pd

from surewood.experiments.comparison import Results
from surewood.experiments.rcf.notes import notes

METHODS = ("rf", "rcf", "rf_refit", "rcf_refit")
TARGETS = pd.Series({("a", "rf"): 10.0, ("a", "rcf"): 8.0, ("b", "rf"): 20.0, ("b", "rcf"): 19.0})


def results(**errors):
    records = [
        {
            "dataset": dataset,
            "repeat": repeat,
            "method": method,
            "metrics": {"error": error + 0.001 * repeat, "active_leaves": 0.0 if repeat else 0.5},
        }
        for dataset, own in errors.items()
        for method, error in zip(METHODS, own)
        for repeat in range(2)
    ]
    return Results(records, repeats=2)


def test_sets_above_the_published_error_are_named():
    found = notes(results(a=(0.09, 0.085, 0.09, 0.07), b=(0.19, 0.18, 0.19, 0.18)), TARGETS, ["a", "b"])
    assert found[0].startswith("RCF is above the published error on a (1 sets).")
    assert "reaches the published error on a (1 sets)" in found[2]
    assert found[4].startswith("In 2 of 4 repeats")


def test_nothing_is_said_about_sets_that_are_not_complete():
    assert notes(Results([], repeats=2), TARGETS, ["a", "b"]) == []
