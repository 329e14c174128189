"""What is said about cells that we do not reach follows from the numbers."""

import pandas as pd
import pytest

from surewood.experiments import trials
from surewood.experiments.trials import Attempt, Cell


def a_cell(**changes):
    own = {
        "paper": "rcf",
        "dataset": "toy",
        "target": 3.0,
        "forest_target": 5.0,
        "attempts": [Attempt("the protocol", (4.0, 5.0, 6.0), 400), Attempt("a refit", (3.5, 4.0, 4.5), 400)],
        "forests": [Attempt("rf", (7.0,), 400)],
        "others": [Attempt("SVM", (3.1,), 400), Attempt("boosting", (5.0,), 400)],
        "best_in_hindsight": 3.2,
    }
    return Cell(**(own | changes))


def test_a_reached_cell_names_the_reading_nearest_to_the_protocol_and_the_best_one():
    attempts = [
        Attempt("the protocol", (4.0,), 400),
        Attempt("a refit", (3.0,), 400),
        Attempt("more", (1.0,), 400),
    ]
    assert trials.findings([a_cell(attempts=attempts)]) == (
        "* **toy** (published 3.00): reached by a refit, 3.00 in 1 repeat; best reading: more, "
        "1.00 in 1 repeat (2 of 3 readings reach it)."
    )


def test_a_cell_that_is_not_reached_comes_with_what_speaks_for_why():
    text = trials.findings([a_cell()])
    assert "not reached by any of 2 readings; nearest: a refit, 4.00 in 3 repeats." in text
    assert "does not reach the published forest either (7.00 against 5.00)" in text
    assert "is above it too: 3.20" in text
    assert (
        "The gap of 1.00 is 4.0 of 400 test rows; one test part of this size has a standard deviation of 0.98"
        in text
    )
    assert "The best of 2 other classifiers on the same rows does not reach it either: SVM, 3.10." in text


def test_evidence_says_the_opposite_where_the_numbers_do():
    wide = [Attempt("the protocol", (2.0, 4.0, 6.0), 400)]
    own = a_cell(
        attempts=wide,
        forests=[Attempt("rf", (4.0,), 400)],
        best_in_hindsight=2.0,
        others=[Attempt("SVM", (1.0,), 400)],
    )
    text = trials.findings([own])
    assert "does reach the published one (4.00 against 5.00)" in text
    assert "would reach it: 2.00" in text
    assert "on the same rows does: SVM, 1.00" in text


def test_accuracies_are_shown_where_the_paper_prints_them():
    own = a_cell(paper="mddf")
    assert own.shown(13.5) == "86.50"
    assert (
        "4.0 of 400 test rows; the standard deviation over the repeats is 0.50, and 0 of 3 reach it alone."
        in (trials.findings([own]))
    )


def test_a_cell_counts_what_could_have_been_published_only():
    rows = pd.DataFrame(
        [
            ("dna", "larger grid", 0, "RCF", 4.0, 400),
            ("dna", "larger grid", 0, "RCF, smallest test error", 1.0, 400),
            ("dna", "larger grid", 0, "RF", 2.0, 400),
            ("dna", "other classifiers", 0, "SVM", 1.5, 400),
            ("dna", "rings in three groups", 0, "RCF", 0.5, 400),
            ("vowel", "larger grid", 0, "RCF", 0.1, 106),
        ],
        columns=["set", "trial", "repeat", "method", "error", "n_test"],
    )
    records = [
        {
            "dataset": "dna",
            "protocol": "official",
            "method": "rcf",
            "metrics": {"error": 0.06, "n_test": 400},
        },
        {
            "dataset": "dna",
            "protocol": "paper",
            "method": "rf_refit",
            "metrics": {"error": 0.05, "n_test": 400},
        },
    ]
    found = trials.cell("rcf", "dna", records, rows)
    assert found.attempts == [
        Attempt("the protocol, official division", (6.0,), 400), Attempt("larger grid (RCF)", (4.0,), 400),
    ]  # fmt: skip
    assert (found.target, found.forest_target) == (3.30, 3.55)
    assert [attempt.errors for attempt in (*found.forests, *found.others)] == [(5.0,), (1.5,)]


def test_the_flagship_counts_with_all_its_recorded_divisions_and_is_no_reading():
    columns = ["set", "trial", "repeat", "method", "error", "n_test"]
    rows = pd.DataFrame([("dna", "other classifiers", 0, "SurewoodClassifier", 3.0, 400)], columns=columns)
    assert trials.cell("rcf", "dna", [], rows).others == [Attempt("SurewoodClassifier", (3.0,), 400)]
    records = [
        {"dataset": "dna", "protocol": division, "method": "SurewoodClassifier", "repeat": repeat,
         "metrics": {"error": error, "n_test": 400}}
        for division, repeat, error in (("paper", 0, 0.04), ("paper", 1, 0.05), ("official", 0, 0.01))
    ]  # fmt: skip
    found = trials.cell("rcf", "dna", records, rows)
    assert found.others == [Attempt("SurewoodClassifier", (4.0, 5.0), 400)]
    assert found.attempts == []


def test_options_of_mddf_are_readings():
    records = [
        {"dataset": "yeast", "protocol": "paper", "method": name, "metrics": {"accuracy": value, "n_test": 9}}
        for name, value in (("option: capped steps", 60.0), ("mdDF", 61.0), ("gcForest", 70.0))
    ]
    empty = pd.DataFrame({"set": [], "trial": [], "repeat": [], "method": [], "error": []}).astype(
        {"trial": str, "method": str}
    )
    found = trials.cell("mddf", "yeast", records, empty)
    assert [(a.name, a.errors) for a in found.attempts] == [
        ("the protocol", (39.0,)),
        ("capped steps", (40.0,)),
    ]
    assert found.target == pytest.approx(100 - 63.34)


def test_spreads_that_independent_test_parts_could_have_are_no_surprise():
    table = trials.spreads_table(["abalone", "dna"])
    chances = [float(row[-1]) for row in table["rows"]]
    assert chances[0] > 0.1 > chances[1]
    assert table["rows"][1][1] == 400  # a fifth of 2,000


def test_only_papers_with_trials_have_parts():
    assert trials.parts("cascades", []) == {}


def test_a_trial_on_easy_divisions_gets_no_credit_for_them():
    errors = {0: 0.02, 1: 0.03, 2: 0.07}
    records = [
        {"dataset": "dna", "protocol": "paper", "method": "rcf", "repeat": repeat,
         "metrics": {"error": error, "n_test": 400}}
        for repeat, error in errors.items()
    ]  # fmt: skip
    rows = [("dna", "more", repeat, "RCF", error, 400) for repeat, error in ((0, 1.0), (1, 2.0))]
    columns = ["set", "trial", "repeat", "method", "error", "n_test"]
    found = trials.cell("rcf", "dna", records, pd.DataFrame(rows, columns=columns))
    assert found.attempts[1].mean == pytest.approx(1.5 + 4.0 - 2.5)
    other = [(*row[:5], 1186) for row in rows]  # another test part: nothing to compare with
    found = trials.cell("rcf", "dna", records, pd.DataFrame(other, columns=columns))
    assert found.attempts[1].mean == pytest.approx(1.5)
