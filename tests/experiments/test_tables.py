"""The documentation says what the committed results say."""

from dataclasses import replace
from pathlib import Path

import pytest

from surewood.experiments import runner, tables
from surewood.experiments.errors import ExperimentError
from surewood.experiments.results_csv import read_csv
from surewood.experiments.runner import run_paper
from tests.experiments.toy_paper import PROFILE, ToyPaper

ROOT = Path(__file__).parents[2]


def test_pages_and_results_agree():
    stale = [path.name for path, _ in tables.stale_pages(ROOT)]
    assert not stale, f"{', '.join(stale)}: run `make papers`"


def test_every_committed_result_is_on_the_page():
    page = (ROOT / "docs" / "research" / "reproduction.md").read_text(encoding="utf-8")
    for results in (ROOT / "papers").glob("*/results.csv"):
        assert f"<!-- {results.parent.name}:bars -->" in page


def test_a_changed_number_is_noticed(tmp_path):
    for name in tables.PAGES:
        page = tmp_path / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    page = tmp_path / "docs" / "research" / "reproduction.md"
    text = page.read_text(encoding="utf-8")
    start = text.index("| breast_cancer |")
    digit = text.index("0.0", start)
    page.write_text(text[:digit] + "0.9" + text[digit + 3 :], encoding="utf-8")
    assert [path for path, _ in tables.stale_pages(tmp_path)] == [page]


def test_an_unknown_part_is_named_with_the_known_ones():
    with pytest.raises(
        ExperimentError, match="cascades has no part 'error'; it has either, bars, run, deviations"
    ):
        tables.part("cascades", "error")


def test_records_of_runs_become_the_committed_table(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "versions", lambda: {"surewood": "1", "commit": "abc"})
    runs = [tmp_path / "one", tmp_path / "two"]
    run_paper(ToyPaper(), PROFILE, runs[0])
    run_paper(ToyPaper(), replace(PROFILE, division="official"), runs[1], sets=["beta"])
    (path,) = tables.take(runs, tmp_path)
    assert path == tmp_path / "papers" / "toy" / "results.csv"
    found = [(record["protocol"], record["versions"]["commit"]) for record in read_csv(path)]
    assert found == [("paper", "abc")] * 12 + [("official", "abc")] * 4


def test_records_of_two_commits_are_not_mixed(tmp_path, monkeypatch):
    for name in ("a", "b"):
        monkeypatch.setattr(runner, "versions", lambda name=name: {"surewood": "1", "commit": name})
        run_paper(ToyPaper(), PROFILE, tmp_path / name)
    with pytest.raises(ExperimentError, match=r"the records of toy come from more than one commit.*: a, b"):
        tables.take([tmp_path / "a", tmp_path / "b"], tmp_path)


def test_a_protocol_without_records_says_so():
    with pytest.raises(ExperimentError, match="no records of the protocol 'strange'"):
        tables.part("rcf_strange", "errors")
