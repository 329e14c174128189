"""Ctrl-C, as a terminal sends it, while the core works: one line, exit code 130, nothing left behind."""

import os
import pty
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

STAGES = {"rcf": b"pilot", "mddf": b"layer", "cascade": b"gamma paths"}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20_000, 8)), columns=list("abcdefgh"))
    frame["y"] = np.where(frame["a"] * frame["b"] + rng.normal(size=20_000) > 0, "yes", "no")
    path = tmp_path_factory.mktemp("interrupt") / "big.parquet"
    frame.to_parquet(path)
    return path


@pytest.mark.parametrize("family", list(STAGES))
def test_interrupt(table, family, tmp_path):
    terminal, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "surewood.cli", "fit", table, "--target", "y", "--model", family],
        stdin=other,
        stdout=other,
        stderr=other,
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100", "TERM": "xterm"},
        start_new_session=True,
    )
    os.close(other)
    try:
        _read_until(terminal, STAGES[family], process)
        process.send_signal(signal.SIGINT)
        # A second on a quiet machine (benchmarks/bench_interrupt.py); a busy one must not fail the test.
        rest = _read_to_end(terminal, process, 20)
        assert process.wait(timeout=20) == 130, rest[-2000:]
    finally:
        if process.poll() is None:
            process.kill()
        os.close(terminal)
    lines = rest.replace(b"\r", b"\n").split(b"\n")
    said = [line for line in lines if b"surewood:" in line]
    assert len(said) == 1
    assert said[0].endswith(b"surewood: interrupted.")
    assert b"Traceback" not in rest
    assert list(tmp_path.iterdir()) == []


BROKEN_BY_IT = """
import os, signal, time
from surewood.cli.app import app, main

@app.command()
def work():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    finally:
        raise RuntimeError("cannot schedule new futures after shutdown")

main()
"""


def test_an_error_that_the_interrupt_caused():
    """Pools that close while the program ends may fail the work first; that is no failure of the program."""
    ended = subprocess.run(
        [sys.executable, "-c", BROKEN_BY_IT, "work"], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 130
    assert ended.stderr == "surewood: interrupted.\n"


def _read_until(terminal, word, process):
    """The display of the stage: it is a live one, so it is there while the stage runs."""
    seen, deadline = b"", time.monotonic() + 120
    while word not in seen:
        assert time.monotonic() < deadline, seen[-2000:]
        assert process.poll() is None, seen[-2000:]
        if select.select([terminal], [], [], 1.0)[0]:
            seen += os.read(terminal, 65536)


def _read_to_end(terminal, process, seconds):
    seen, deadline = b"", time.monotonic() + seconds
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                block = os.read(terminal, 65536)
            except OSError:  # the other side is closed
                break
            if not block:
                break
            seen += block
        elif process.poll() is not None:
            break
    return seen
