"""``make demo``: the table as a CSV file, the model's folder, the verdict and the comparison."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

DEMO = Path(__file__).parent.parent / "examples" / "demo.py"


@pytest.mark.slow
def test_demo_as_a_stranger_runs_it(tmp_path):
    shown = subprocess.run(
        [sys.executable, DEMO, tmp_path], capture_output=True, text=True, timeout=600, check=True
    )
    assert pd.read_csv(tmp_path / "digits.csv").shape == (1797, 65)
    fit, compare = shown.stdout.split("\n$ surewood ")[1:]
    assert fit.startswith("fit digits.csv --target digit")
    assert "GUARANTEE  error at most" in fit
    assert "page   report.html" in fit
    assert "random composite forest" in compare
    assert "random forest (scikit-learn)" in compare
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.index("Guaranteed: error at most") < page.index("Confusion matrix")
