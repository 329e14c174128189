"""The scripts of ``examples/``, run as they are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(("script", "needs"), [("dask_fit.py", "distributed"), ("ray_fit.py", "ray")])
def test_the_script_ends_with_the_same_model(script, needs):
    pytest.importorskip(needs, reason=f"examples/{script} needs {needs}")
    shown = subprocess.run(
        [sys.executable, EXAMPLES / script],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=600,
    )
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[-1] == "the same probabilities, bit for bit: True"
    assert "Traceback" not in shown.stderr


def test_every_script_is_tested():
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == ["dask_fit.py", "ray_fit.py"]
