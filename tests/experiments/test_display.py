"""What a run shows: what is done, what is left, what is missing."""

import io
import re

from rich.console import Console

from surewood.experiments.display import Display
from surewood.experiments.runner import run_paper
from tests.experiments.toy_paper import PROFILE, ToyPaper


def shown(tmp_path, paper, terminal=False, **options):
    text = io.StringIO()
    console = Console(file=text, width=200, force_terminal=terminal)
    run_paper(paper, PROFILE, tmp_path, display=Display(console), **options)
    return text.getvalue()


def test_a_line_per_unit_with_the_time_left(tmp_path):
    lines = shown(tmp_path, ToyPaper(), sets=["alpha"]).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("toy, profile toy: 2 units on 1 data set; there are no records")
    assert re.fullmatch(
        r"\[1/2\] toy alpha 1 \(plain, \.\.\.\): 0\.\d s, about \S+ left, done at \S+", lines[1]
    )


def test_a_resumed_run_tells_what_was_done_before(tmp_path):
    shown(tmp_path, ToyPaper(), sets=["alpha"])
    lines = shown(tmp_path, ToyPaper(missing=["beta"]), resume=True).splitlines()
    assert lines[0].startswith("toy, profile toy: 4 units on 2 data sets;")
    assert lines[1] == "toy: 2 of 6 units were done before"
    assert lines[2] == "beta is missing: data set 'beta' was not found; look elsewhere."
    assert lines[3].startswith("[3/6] toy gamma 1")


def test_on_a_terminal_there_is_a_bar(tmp_path):
    text = shown(tmp_path, ToyPaper(), terminal=True)
    assert "gamma 2" in text
    assert "6/6" in text
