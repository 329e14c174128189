"""Benchmarks can all be started by `python -m benchmarks`, in a quick form too."""

import ast
from pathlib import Path

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
