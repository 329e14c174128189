"""How the tests run the command: as a user does, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd


def run(*arguments, folder=None, timeout=300, **environment):
    """Run ``surewood`` with these arguments; standard output and error are pipes, not terminals."""
    return subprocess.run(
        [sys.executable, "-m", "surewood.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1", **environment},
        timeout=timeout,
    )


def mistake(*arguments, **options):
    """The sentence that a user's mistake gets; asserts exit code 2, one line, no traceback."""
    shown = run(*arguments, **options)
    assert shown.returncode == 2, shown
    assert shown.stdout == ""
    assert "Traceback" not in shown.stderr
    lines = shown.stderr.splitlines()
    assert len(lines) == 1, shown.stderr
    assert lines[0].startswith("surewood: ")
    return lines[0].removeprefix("surewood: ")


def messy_frame(n=160, seed=0):
    """Mixed types, missing values, a date, a constant column, names that are not ASCII, an id."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n).astype(float)
    city = rng.choice(["Köln", "Århus", "Málaga"], n)
    joined = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), unit="D")
    income = np.round(rng.normal(3000, 900, n), 2)
    score = (age > 45) * 1.0 + (city == "Köln") + (joined > "2022-01-01") + rng.normal(0, 0.4, n)
    frame = pd.DataFrame(
        {
            "Kunden-Nr.": [f"K{number:05d}" for number in rng.permutation(n)],
            "Âge": age,
            "Stadt": city,
            "seit": joined.strftime("%Y-%m-%d"),
            "Einkommen €": income,
            "Land": "DE",
            "leer": np.nan,
            "treu?": np.where(score > 1.4, "ja", "nein"),
        }
    )
    frame.loc[rng.choice(n, n // 10, replace=False), "Âge"] = np.nan
    frame.loc[rng.choice(n, n // 10, replace=False), "Stadt"] = None
    frame.loc[rng.choice(n, 4, replace=False), "seit"] = None
    return frame


def write(frame: pd.DataFrame, path: Path, **options) -> Path:
    frame.to_csv(path, index=False, **options)
    return path


#: Small settings: the tests are about the command, not about accuracy.
QUICK = ("--model", "mddf", "--set", "n_estimators=5", "--set", "max_layers=2", "--n-jobs", "1")
