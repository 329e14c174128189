"""Summaries as pages and tables: complete and escaped."""

import io
import json

import pytest
from rich.console import Console

from surewood.experiments.output import html, markdown, print_summary, write_outputs
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


def test_hostile_names_stay_text(outcome):
    summary = complete_summary(ToyPaper(), PROFILE, outcome.records)
    summary["bars"] = [{"bar": "<script>", "met": None, "found": ""}]
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
