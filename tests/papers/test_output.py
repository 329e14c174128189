"""Summaries as text and pages, and the tables of the documentation."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from papers import pages, runner
from papers.output import complete_summary, deviations, html, markdown, print_summary, write_outputs
from papers.protocol import PaperError, Profile, read_profile
from papers.records import pack, read_csv
from papers.runner import run_paper
from papers.unreached import (
    best_table,
    combinations,
    depths_table,
    hindsight_table,
    ranking_table,
    unreached_table,
)
from tests.papers.toys import PROFILE, ToyPaper


def record(dataset, repeat, seconds, **more):
    own = {"dataset": dataset, "repeat": repeat, "method": "plain", "metrics": {"error": 0.1}}
    return {**own, "seconds": seconds, "shared_seconds": 2.0, **more}


def test_sets_without_a_record_are_missing_with_their_reason():
    summary = complete_summary(ToyPaper(), PROFILE, [record("alpha", 0, 1.0)], {"beta": "not found"})
    assert summary["missing"] == [
        {"dataset": "beta", "reason": "not found"},
        {"dataset": "gamma", "reason": "not run"},
    ]
    assert (summary["paper"], summary["profile"], summary["sizes"]) == ("toy", "toy", {"repeats": 2})


def test_shared_time_counts_once_per_unit():
    records = [record("alpha", 0, 1.0), record("alpha", 0, 3.0), record("alpha", 1, 1.0, machine="M")]
    run = complete_summary(ToyPaper(), PROFILE, records)["run"]
    assert run["seconds"] == 1.0 + 3.0 + 1.0 + 2 * 2.0
    assert (run["records"], run["machines"], run["peak_memory_bytes"]) == (3, ["M"], 0)


def test_shared_work_of_one_unit_is_not_lost_to_another_that_shares_nothing():
    records = [record("alpha", 0, 1.0), record("alpha", 0, 1.0) | {"method": "alone", "shared_seconds": 0.0}]
    assert complete_summary(ToyPaper(), PROFILE, records)["run"]["seconds"] == 4.0


def test_records_of_another_protocol_are_left_out():
    records = [record("alpha", 0, 1.0), record("alpha", 1, 1.0, protocol="official")]
    assert complete_summary(ToyPaper(), PROFILE, records)["run"]["records"] == 1
    official = complete_summary(ToyPaper(), replace(PROFILE, division="official"), records)
    assert (official["run"]["records"], official["title"]) == (1, "A toy, official division")


def test_only_the_sets_asked_for_are_shown():
    records = [record("alpha", 0, 1.0), record("gamma", 0, 1.0)]
    summary = complete_summary(ToyPaper(), PROFILE, records, sets=["alpha", "beta"])
    assert {row[0] for row in summary["tables"][0]["rows"]} == {"alpha"}
    assert [absent["dataset"] for absent in summary["missing"]] == ["beta"]
    assert summary["run"]["records"] == 1


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


def test_hostile_names_stay_text(outcome):
    summary = complete_summary(ToyPaper(), PROFILE, outcome.records)
    summary["counts"] = ["<script>alert"]
    summary["tables"][0]["rows"][0][0] = "<img src=x> | y"
    assert "<script>alert" not in html(summary)
    assert "<img src=x>" not in html(summary)
    assert "&lt;img src=x&gt; | y" in html(summary)
    assert "<img src=x> \\| y" in markdown(summary)


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
    with pytest.raises(PaperError, match="choose_C must be one of validation, cv, got 'guess'"):
        deviations("rcf", wrong, full)


ROOT = Path(__file__).parents[2]


def test_pages_and_results_agree():
    stale = [path.name for path, _ in pages.stale_pages(ROOT)]
    assert not stale, f"{', '.join(stale)}: run `make papers`"


def test_every_committed_result_is_on_the_page():
    page = (ROOT / "docs" / "research" / "reproduction.md").read_text(encoding="utf-8")
    for results in (ROOT / "papers").glob("*/results.csv"):
        assert f"<!-- {results.parent.name}:counts -->" in page


def test_a_changed_number_is_noticed(tmp_path):
    for name in pages.PAGES:
        page = tmp_path / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    page = tmp_path / "docs" / "research" / "reproduction.md"
    text = page.read_text(encoding="utf-8")
    start = text.index("| breast_cancer |")
    digit = text.index("0.0", start)
    page.write_text(text[:digit] + "0.9" + text[digit + 3 :], encoding="utf-8")
    assert [path for path, _ in pages.stale_pages(tmp_path)] == [page]


def test_an_unknown_part_is_named_with_the_known_ones():
    with pytest.raises(
        PaperError, match="cascades has no part 'error'; it has either, counts, run, deviations"
    ):
        pages.part("cascades", "error")


def test_records_of_runs_become_the_committed_table(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "versions", lambda: {"surewood": "1", "commit": "abc"})
    runs = [tmp_path / "one", tmp_path / "two"]
    run_paper(ToyPaper(), PROFILE, runs[0])
    run_paper(ToyPaper(), replace(PROFILE, division="official"), runs[1], sets=["beta"])
    (path,) = pages.take(runs, tmp_path)
    assert path == tmp_path / "papers" / "toy" / "results.csv"
    found = [(record["protocol"], record["versions"]["commit"]) for record in read_csv(path)]
    assert found == [("paper", "abc")] * 12 + [("official", "abc")] * 4
    monkeypatch.setattr(runner, "versions", lambda: {"surewood": "1", "commit": "def"})
    run_paper(ToyPaper(), replace(PROFILE, division="official"), tmp_path / "later", sets=["alpha"])
    pages.take([tmp_path / "later"], tmp_path)  # other protocols stay
    found = [(record["protocol"], record["versions"]["commit"]) for record in read_csv(path)]
    assert found == [("paper", "abc")] * 12 + [("official", "def")] * 4


def test_records_of_two_commits_are_not_mixed(tmp_path, monkeypatch):
    for name in ("a", "b"):
        monkeypatch.setattr(runner, "versions", lambda name=name: {"surewood": "1", "commit": name})
        run_paper(ToyPaper(), PROFILE, tmp_path / name)
    with pytest.raises(PaperError, match=r"the records of toy under the protocol 'paper' come.*: a, b"):
        pages.take([tmp_path / "a", tmp_path / "b"], tmp_path)


def test_a_protocol_without_records_says_so():
    with pytest.raises(PaperError, match="no records of the protocol 'strange'"):
        pages.part("rcf_strange", "errors")


def rcf_record(dataset, method, error, protocol="paper", repeat=0):
    metrics = {"error": error / 100, "n_train": 300, "n_test": 106}
    return {"dataset": dataset, "repeat": repeat, "method": method, "metrics": metrics, "protocol": protocol}


def test_unreached_values_of_every_column_are_listed_with_their_best_reading():
    records = [
        rcf_record("vowel", "rf", 5.0),  # published 5.28
        rcf_record("vowel", "rcf", 5.0),  # 3.77
        rcf_record("vowel", "rcf", 3.5, "paper, kernel=homogeneous"),
        rcf_record("vowel", "rf_svm", 4.504),  # 4.5, as printed
        rcf_record("sonar", "rf_svm", 30.0),  # 28.09
    ]
    table = unreached_table("rcf", records)
    cells = {(row[0], row[1]): row for row in table["rows"]}
    assert cells.keys() == {("vowel", "rcf"), ("sonar", "rf_svm")}
    assert cells["sonar", "rf_svm"][-2:] == ["nearest: rf_svm, 30.00 in 1", "1.91"]
    assert cells["vowel", "rcf"][2:5] == ["3.77 ± 0.45", "5.00", "1.23"]
    assert table["note"] == "2 of 4 published values with records are not reached."


def test_readings_are_ranked_by_their_distance_on_the_cells_they_share_with_the_headline():
    records = [
        rcf_record("vowel", "rcf", 3.77 + 0.45),  # one unit of the published ±
        rcf_record("sonar", "rcf", 16.2 + 3 * 3.8),
        rcf_record("vowel", "rcf", 3.77 - 0.225, "paper, kernel=homogeneous"),
    ]
    rows = ranking_table("rcf", records)["rows"]
    headline = ["paper", 2, "2.00", "2.00", "0 of 2", "0 of 2", "1"]
    assert rows == [["kernel=homogeneous", 1, "0.50", "1.00", "1 of 1", "1 of 1", "1"], headline]
    refitted = [
        rcf_record("vowel", "rcf_refit", 3.77, name) for name in ("paper", "paper, kernel=homogeneous")
    ]
    rows = ranking_table("rcf", records + refitted)["rows"]
    assert [row[0] for row in rows] == ["kernel=homogeneous, refitted", "paper, refitted", "paper"]
    assert [row[5] for row in rows] == ["1 of 1", "1 of 2", "0 of 2 (refitted: 1)"]


def test_readings_and_the_headline_are_compared_on_the_repeats_that_both_have():
    records = [
        *(rcf_record("vowel", "rcf", error, repeat=k) for k, error in enumerate([4.22, 90.0])),
        *(rcf_record("vowel", "rf", error, repeat=k) for k, error in enumerate([5.28, 90.0])),
        rcf_record("vowel", "rcf", 3.77, "paper, kernel=homogeneous"),
        rcf_record("vowel", "rcf_refit", 3.545, "paper, kernel=homogeneous"),
    ]
    first, second = combinations("rcf", records)[:2]
    assert (first.name, second.name) == ("kernel=homogeneous", "kernel=homogeneous, refitted")
    assert first.cells["vowel", "rcf"].headline.mean == pytest.approx(4.22)
    assert first.cells["vowel", "rf"].ours.mean == pytest.approx(5.28)  # forests have no kernel
    assert second.distances == pytest.approx({("vowel", "rf"): 0.0, ("vowel", "rcf"): -0.5})
    table = best_table("rcf", records)
    assert "at least three repeats: paper." in table["note"]  # homogeneous has one of two
    table = best_table("rcf", [record for record in records if record["repeat"] == 0])
    assert table["rows"][0][:7] == ["vowel", "5.28 ± 0.46", "5.28", "5.28", "3.77 ± 0.45", "4.22", "3.77"]
    assert "at least three repeats: kernel=homogeneous." in table["note"]


def test_hindsight_is_the_smallest_mean_error_of_the_grid():
    axes, records = {"r": [1], "depth": [2], "rule": [0.1, 1.0], "trees": [10]}, []
    for repeat, counts in enumerate([[1, 3], [4, 0]]):  # of 106 test rows, at both γ
        one = rcf_record("vowel", "rcf", 100 * min(counts) / 106, repeat=repeat)
        grid = pack(axes, np.zeros((1, 1, 2, 1)), np.array(counts).reshape(1, 1, 2, 1))
        one["metrics"]["n_validation"] = 105
        records.append({**one, "grid": grid})
    table = hindsight_table(records)
    cells = {row[0]: row[1:] for row in table["rows"]}
    assert cells["vowel"] == ["3.77", "0.47", "1.42", "0.47", "1.42"]
    assert cells["sonar"] == ["16.20", "–", "–", "–", "–"]
    assert "in hindsight: 1 of 11 sets, and 1 of 11" in table["note"]


def test_depths_stand_beside_the_published_ones():
    records = [
        {"dataset": "a1a", "repeat": k, "method": "cascade", "protocol": protocol,
         "metrics": {"error": 0.2, "n_leaves": leaves, "n_train": 9, "n_test": 9}}
        for protocol, leaves in (("paper", 1), ("paper, ties=more leaves", 4))
        for k in range(2)
    ]  # fmt: skip
    rows = {row[0]: row[-1] for row in depths_table(records)["rows"]}
    assert rows == {"published": "2", "paper": "1 ×2", "ties=more leaves": "4 ×2"}
