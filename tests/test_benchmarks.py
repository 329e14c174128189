"""Benchmarks can all be started by `python -m benchmarks`, in a quick form too."""

import ast
import re
import tomllib
from pathlib import Path

import pandas as pd
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("bench_*.py")), ids=lambda path: path.stem)
def test_main_accepts_quick(path):
    """Read, not run: some need peers that are not installed."""
    functions = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    (main,) = [one for one in functions if one.name == "main"]
    names = [argument.arg for argument in (*main.args.args, *main.args.kwonlyargs)]
    assert "quick" in names
    required = len(main.args.args) - len(main.args.defaults)
    assert required == 0, "python -m benchmarks gives nothing but quick"


@pytest.fixture
def quick():
    pytest.importorskip("lightgbm")
    from benchmarks import quick

    return quick


@pytest.mark.parametrize(
    ("times", "ratio", "shown"),
    [
        ([(1.2, 1.0), (1.2, 1.0)], 1.2, "+20% SLOWER"),
        ([(1.2, 1.0), (1.0, 1.0)], 1.0, "+0%"),  # something disturbed the first measurement
        ([(1.05, 1.0)], 1.05, "+5%"),
        ([(0.5, 1.0)], 0.5, "-50%"),
    ],
)
def test_a_slower_ratio_is_measured_again_and_shown(quick, times, ratio, shown):
    turns = iter(times)
    measured, line = quick.compare("work", lambda: next(turns), 1.0)
    assert measured == ratio
    assert line.endswith(f" {shown}")
    assert next(turns, None) is None


def test_the_committed_run_has_the_pinned_peers(quick):
    project = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8"))
    pins = dict(re.fullmatch(r"(.+)==(.+)", pin).groups() for pin in project["dependency-groups"]["bench"])
    rows = pd.read_csv(quick.COMMITTED)
    assert {peer: rows[peer].unique().tolist() for peer in quick.PEERS} == {
        peer: [pin] for peer, pin in pins.items()
    }
