"""Is the terminal alive on a large table, and how fast does Ctrl-C end it?

Runs ``surewood fit`` on generated rows in a terminal of its own, for each family: longest time without new
output, the longest time during which no stage, share or count changed, then SIGINT and the time to the end.
"""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 100_000
SECONDS = 40.0  # how long the display is watched before the interrupt
_SHARE = re.compile(rb"([a-z][a-z0-9 :,-]+?) +.{0,400}?(\d+)%", re.S)


def make_table(folder: Path, n_rows: int) -> Path:
    """Mixed columns, two classes, some noise."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 12)), columns=[f"x{j}" for j in range(12)])
    frame["city"] = rng.choice(["north", "south", "east", "west"], n_rows)
    score = frame["x0"] * frame["x1"] + np.sin(2 * frame["x2"]) + (frame["city"] == "north")
    frame["y"] = np.where(score + rng.normal(size=n_rows) > 0.3, "yes", "no")
    path = folder / "table.parquet"
    frame.to_parquet(path)
    return path


def watch(table: Path, family: str, seconds: float) -> tuple[float, float, float, int]:
    """Longest silence, longest time without a step, seconds from SIGINT to the end, exit code."""
    terminal, other = pty.openpty()
    command = [sys.executable, "-m", "surewood.cli", "fit", table, "--target", "y", "--model", family]
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}
    process = subprocess.Popen(
        command, stdin=other, stdout=other, stderr=other, cwd=table.parent, env=environment,
        start_new_session=True,
    )  # fmt: skip
    os.close(other)
    first = spoken = stepped = None
    silence = still = 0.0
    shown: set[bytes] = set()
    while first is None or time.monotonic() - first < seconds:
        if not select.select([terminal], [], [], 0.05)[0]:
            continue
        try:
            block = os.read(terminal, 65536)
        except OSError:  # the fit is done: no one is left to interrupt
            os.close(terminal)
            return silence, still, float("nan"), process.wait()
        now = time.monotonic()
        first = now if first is None else first
        silence = max(silence, now - (spoken or now))
        spoken = now
        state = {b" ".join(found) for found in _SHARE.findall(re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", block))}
        if state - shown or stepped is None:
            still = max(still, now - (stepped or now))
            stepped, shown = now, state
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    while process.poll() is None and time.monotonic() - started < 30:
        if select.select([terminal], [], [], 0.01)[0]:
            try:
                os.read(terminal, 65536)
            except OSError:
                break
    code = process.wait(timeout=30)
    took = time.monotonic() - started
    os.close(terminal)
    return silence, still, took, code


def main(quick: bool = False) -> None:
    """Print one line a family."""
    n_rows, seconds = (20_000, 15.0) if quick else (ROWS, SECONDS)
    print(f"surewood fit on {n_rows:,} rows, watched for {seconds:.0f} s, then SIGINT")
    print(f"{'family':<9}{'no output, s':>14}{'no step, s':>12}{'to the end, s':>15}{'exit code':>11}")
    with tempfile.TemporaryDirectory() as name:
        table = make_table(Path(name), n_rows)
        for family in ("rcf", "cascade", "mddf"):
            watched = seconds
            silence, still, took, code = watch(table, family, watched)
            while took != took:  # it ended by itself: interrupt the next one earlier
                watched /= 3
                took, code = watch(table, family, watched)[2:]
            print(f"{family:<9}{silence:>14.2f}{still:>12.2f}{took:>15.2f}{code:>11}")
