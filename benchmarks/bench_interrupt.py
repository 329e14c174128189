"""Is the terminal alive on a large table, and how fast does Ctrl-C end it?

Runs ``surewood fit`` on generated rows in a terminal of its own, for each family. One run to its end, or for
`SECONDS`: longest time without new output, and longest time during which no stage and no share changed, with
the stage. Then one run for each of `MOMENTS`, interrupted by SIGINT: the time to the end.
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
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 100_000
SECONDS = 60.0  # how long the display is watched
MOMENTS = (2.0, 6.0, 15.0, 30.0)  # seconds after the first output at which interrupts come
_SHARE = re.compile(r"([a-zA-Z][^━╸╺\r\n]*?) +[━╸╺ ]+(\d+)%")


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


@dataclass
class Seen:
    """What the display did."""

    silence: float = 0.0
    still: float = 0.0
    stage: str = ""
    to_the_end: float = float("nan")
    code: int = 0


def watch(table: Path, family: str, seconds: float) -> Seen:
    """Watch a fit for so many seconds after its first output, then interrupt it if it is still at work."""
    terminal, other = pty.openpty()
    command = [sys.executable, "-m", "surewood", "fit", table, "--target", "y", "--model", family]
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}
    process = subprocess.Popen(
        command, stdin=other, stdout=other, stderr=other, cwd=table.parent, env=environment,
        start_new_session=True,
    )  # fmt: skip
    os.close(other)
    seen, shown = Seen(), set[str]()
    first = spoken = stepped = None
    while first is None or time.monotonic() - first < seconds:
        if not select.select([terminal], [], [], 0.05)[0]:
            continue
        try:
            block = os.read(terminal, 65536)
        except OSError:  # the fit is done: no one is left to interrupt
            os.close(terminal)
            seen.code = process.wait()
            return seen
        now = time.monotonic()
        first = now if first is None else first
        seen.silence = max(seen.silence, now - (spoken or now))
        spoken = now
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", block.decode("utf-8", "replace"))
        state = {" ".join(found) for found in _SHARE.findall(text)}
        if state - shown or stepped is None:
            if now - (stepped or now) > seen.still:
                seen.still = now - stepped
                seen.stage = " %, ".join(sorted(shown)) + " %"
            stepped, shown = now, state
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    while process.poll() is None and time.monotonic() - started < 30:
        if select.select([terminal], [], [], 0.01)[0]:
            try:
                os.read(terminal, 65536)
            except OSError:
                break
    seen.code = process.wait(timeout=30)
    seen.to_the_end = time.monotonic() - started
    os.close(terminal)
    return seen


def main(quick: bool = False) -> None:
    """Print one line a family."""
    n_rows, seconds, moments = (20_000, 15.0, MOMENTS[:2]) if quick else (ROWS, SECONDS, MOMENTS)
    load = os.getloadavg()[0]
    print(f"surewood fit on {n_rows:,} rows, watched for {seconds:.0f} s at most; load before: {load:.1f}")
    print(f"{'family':<9}{'no output, s':>13}{'no step, s':>12}   SIGINT at s: s to the end (exit code)")
    with tempfile.TemporaryDirectory() as name:
        table = make_table(Path(name), n_rows)
        for family in ("rcf", "cascade", "mddf"):
            whole = watch(table, family, seconds)
            ends = [(moment, watch(table, family, moment)) for moment in moments]
            shown = ", ".join(f"{at:.0f}: {seen.to_the_end:.2f} ({seen.code})" for at, seen in ends)
            print(f"{family:<9}{whole.silence:>13.2f}{whole.still:>12.2f}   {shown}")
            print(f"{'':9}stood still longest at: {whole.stage}")
