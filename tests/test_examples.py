"""The scripts about guarantees run, in seconds, and say what they are about."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples" / "guarantees"
SAYS = {
    "recall": "Guaranteed: recall of 1 at least 80 %",
    "groups": "harbor: error at most",
    "abstention": "error among accepted rows at most 5 %",
    "monitoring": "ALARM",
}


def test_every_script_is_tested():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_the_script_runs(name):
    shown = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py"], capture_output=True, text=True, timeout=120, check=True
    )
    assert SAYS[name] in shown.stdout
