"""Summaries as pages and tables: complete, escaped, the same from the records and from results.csv."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from surewood.experiments.comparison import Results, count_bar
from surewood.experiments.decisions import deviations
from surewood.experiments.error_grids import pack
from surewood.experiments.errors import ExperimentError
from surewood.experiments.output import html, markdown, print_summary, write_outputs
from surewood.experiments.paper import HOMES, find_paper
from surewood.experiments.protocol import Profile, read_profile
from surewood.experiments.rcf.other_choices import hindsight, pooled, restricted
from surewood.experiments.results_csv import read_csv, to_csv
from surewood.experiments.runner import run_paper
from surewood.experiments.summary import complete_summary
from tests.experiments.toy_paper import PROFILE, ToyPaper


@pytest.fixture
def outcome(tmp_path):
    return run_paper(ToyPaper(missing=["beta"]), PROFILE, tmp_path)


def test_all_files_of_a_run(outcome, tmp_path):
    summary = complete_summary(ToyPaper(), PROFILE, outcome.records, outcome.missing)
    files = write_outputs(summary, outcome.records, tmp_path)
    assert {path.name for path in files.values()} == {"results.csv", "summary.json", "table.md", "table.html"}
    assert json.loads(files["json"].read_text())["missing"][0]["dataset"] == "beta"
    page = files["html"].read_text(encoding="utf-8")
    assert "All &lt;of&gt; it" in page
    assert "data set &#39;beta&#39; was not found" in page
    assert "Profile `toy`: 8 records" in files["markdown"].read_text(encoding="utf-8")


def test_the_csv_holds_all_that_a_summary_needs(outcome, tmp_path):
    table = tmp_path / "results.csv"
    table.write_text(to_csv(outcome.records), encoding="utf-8")
    again = read_csv(table)
    assert ToyPaper().summarise(again, PROFILE) == ToyPaper().summarise(outcome.records, PROFILE)
    assert again[0]["chosen"] == outcome.records[0]["chosen"]
    assert again[0]["seeds"] == outcome.records[0]["seeds"]


def test_hostile_names_stay_text(outcome):
    summary = complete_summary(ToyPaper(), PROFILE, outcome.records)
    summary["bars"] = [{"bar": "<script>", "met": None, "found": ""}]
    summary["tables"][0]["rows"][0][0] = "<img src=x> | y"
    assert "<script>alert" not in html(summary)
    assert "<img src=x>" not in html(summary)
    assert "&lt;img src=x&gt; | y" in html(summary)
    assert "<img src=x> \\| y" in markdown(summary)


def errors(values, method, n=5):
    metrics = {"n_train": 300, "n_test": 100}
    return [
        {"dataset": "alpha", "repeat": k, "method": method, "metrics": {"error": e, **metrics}}
        for k, e in enumerate(values[:n])
    ]


def test_spread_tests_and_ranks_of_the_worked_example():
    # theory.md §9, number 11
    a, b = [0.22, 0.25, 0.21, 0.24, 0.23], [0.20, 0.22, 0.20, 0.21, 0.22]
    results = Results(errors(a, "A") + errors(b, "B"), repeats=5)
    found = results.paired("alpha", "A", "B")
    assert (round(found.p, 6), round(found.p_corrected, 5)) == (0.005528, 0.02599)
    assert results.cell("alpha", "A", 100) == "23.00 ± 1.58"  # divisor 4
    assert results.ranks(["alpha"], ["A", "B"]) == {"A": 2.0, "B": 1.0}


def test_what_is_not_complete_says_so():
    results = Results(errors([0.2, 0.3], "A"), repeats=5)
    assert results.cell("alpha", "A") == "0.25 ± 0.07 (2 of 5 repeats)"
    assert results.cell("alpha", "B") == "missing"
    assert not results.complete("alpha", "A")
    assert results.ranks(["alpha"], ["A"]) == {}


@pytest.mark.parametrize(
    ("good", "have", "met"), [("abc", "abcd", True), ("a", "ab", None), ("a", "abcd", False)]
)
def test_a_bar_is_open_while_missing_sets_may_decide(good, have, met):
    assert count_bar("three", 3, list(good), list(have), list("abcd"))["met"] is met


def test_a_pooled_choice_is_one_point_for_all_repeats():
    axes = {"r": [1, 2], "depth": [2], "rule": [0.1], "trees": [10]}
    counts = [([1, 2], [5, 1]), ([9, 2], [5, 3])]
    records = [
        {
            "metrics": {"n_validation": 10, "n_test": 10},
            "grid": pack(axes, np.array(v).reshape(2, 1, 1, 1), np.array(t).reshape(2, 1, 1, 1)),
        }
        for v, t in counts
    ]
    spread, chosen = pooled(records, 4)
    assert spread.mean == pytest.approx(0.2)
    assert chosen == {"r": 2, "depth": 2, "rule": 0.1, "trees": 10}
    assert pooled([], 4) is None
    assert hindsight(records).mean == pytest.approx(0.2)
    assert restricted(records, 4, [0.1]).mean == pytest.approx(
        0.4
    )  # r = 1 wins the first repeat, r = 2 the other


@pytest.mark.parametrize("name", HOMES)
def test_every_paper_has_its_profiles_and_small_units(name):
    paper = find_paper(name)
    for profile in ("quick", "standard", "full"):
        sizes = read_profile(name, profile)
        units = paper.units(sizes, paper.sets())
        assert {unit.dataset for unit in units} == set(paper.sets())
        keys = [(u.dataset, u.repeat, m) for u in units for m in u.methods]
        assert len(keys) == len(set(keys))


def test_deviations_follow_the_protocol_in_force():
    full = read_profile("rcf", "full")
    by_subject = {d["subject"]: d for d in deviations("rcf", full, full)}
    assert "validation error" in by_subject["C of every degree [D-12]"]["here"]
    assert not [subject for subject in by_subject if subject.startswith("size")]
    other = Profile("full", {**full.protocol, "choose_C": "cv"}, full.sizes)
    assert (
        "five folds"
        in {d["subject"]: d for d in deviations("rcf", other, full)}["C of every degree [D-12]"]["here"]
    )
    quick = [d["subject"] for d in deviations("rcf", read_profile("rcf", "quick"), full)]
    assert "size: repeats" in quick
    wrong = Profile("full", {**full.protocol, "choose_C": "guess"}, full.sizes)
    with pytest.raises(ExperimentError, match="choose_C must be one of validation, cv, got 'guess'"):
        deviations("rcf", wrong, full)


def test_a_terminal_that_is_too_narrow_gets_lists_and_no_broken_words(outcome):
    summary = complete_summary(ToyPaper(), PROFILE, outcome.records, outcome.missing)
    words = {
        word
        for row in summary["tables"][0]["rows"]
        if "missing" not in row
        for c in row
        for word in str(c).split()
    }
    for width in (200, 60, 30):
        console = Console(width=width, file=io.StringIO())
        print_summary(summary, console)
        shown = console.file.getvalue()
        assert words <= set(shown.split())
        assert "…" not in shown
