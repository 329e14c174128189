"""Ctrl-C while the core works, and signals in the middle of writing: old files whole, nothing else.

A child does one of the commands and stops in the middle of writing, where the signal reaches it. After KILL
its unfinished files remain, until the next run into the same place.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import surewood
from surewood import workflow
from tests.cli.command import messy_frame, running

pty = pytest.importorskip("pty", reason="Windows has neither these terminals nor forks")

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
    words, shown = ("fit", table, "--target", "y", "--model", family), {"COLUMNS": "100", "TERM": "xterm"}
    with running(*words, output=os.ttyname(other), folder=tmp_path, environment=shown) as (child, wait):
        _read_until(terminal, STAGES[family])
        os.close(other)
        os.kill(child, signal.SIGINT)
        # A second on a quiet machine (benchmarks/bench_interrupt.py); a busy one must not fail the test.
        rest = _read_to_end(terminal, 20)
        assert wait() == 130, rest[-2000:]
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


def _read_until(terminal, word):
    """The display of the stage: it is a live one, so it is there while the stage runs."""
    seen, deadline = b"", time.monotonic() + 120
    while word not in seen:
        assert time.monotonic() < deadline, seen[-2000:]
        if select.select([terminal], [], [], 1.0)[0]:
            seen += os.read(terminal, 65536)


def _read_to_end(terminal, seconds):
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
    return seen


PROGRAM = """
import sys, time
import surewood
from surewood import workflow
from surewood.cli import app, interrupting
from surewood.certify import monitor_state as state
from surewood.persistence import model_file
from surewood.workflow import labelled_table, reporting

def stop(*_, **__):
    print("ready", flush=True)
    while True:
        time.sleep(0.05)

kind, folder = sys.argv[1:]
interrupting.watch()
small = {"n_estimators": 2, "max_layers": 1}
try:
    if kind == "fit":
        reporting.write_report = stop
        workflow.fit("iris", model="mddf", parameters=small, n_jobs=1, out=folder + "/out")
    elif kind == "monitor":
        state.os.replace = stop
        workflow.monitor(folder + "/out", folder + "/second.csv", "class", limit=0.3)
    elif kind == "save":
        model = surewood.load(folder + "/out/model.surewood")
        model_file.zlib.compress = stop
        surewood.save(model, folder + "/out/model.surewood")
    else:
        model = surewood.load(folder + "/forest.surewood")
        write = labelled_table.pq.ParquetWriter.write_table
        labelled_table.pq.ParquetWriter.write_table = lambda *given: (write(*given), stop())
        surewood.predict_to_parquet(model, folder + "/table.parquet", folder + "/answers.parquet")
except KeyboardInterrupt:
    interrupting.end()
"""
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]
QUICK = {
    ("fit", signal.SIGTERM),
    ("fit", signal.SIGKILL),
    ("predict", signal.SIGINT),
    ("save", signal.SIGHUP),
    ("monitor", signal.SIGKILL),
}
CASES = [
    pytest.param(kind, number, marks=() if (kind, number) in QUICK else pytest.mark.slow)
    for kind in ("fit", "predict", "save", "monitor")
    for number in SIGNALS
]


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A fitted folder, a table and older predictions."""
    folder = tmp_path_factory.mktemp("before")
    small = {"n_estimators": 2, "max_layers": 1}
    workflow.fit("iris", model="mddf", parameters=small, n_jobs=1, out=folder / "out")
    frame = messy_frame(60)[["Âge", "treu?"]].rename(columns={"Âge": "age"})
    frame.to_parquet(folder / "table.parquet")
    forest = surewood.BinnedForestClassifier(2, random_state=0).fit(frame[["age"]], frame["treu?"])
    surewood.save(forest, folder / "forest.surewood")
    pd.DataFrame({"prediction": ["old"]}).to_parquet(folder / "answers.parquet")
    batch = load_iris(as_frame=True).frame
    names = [column.name for column in surewood.load(folder / "out/model.surewood")[0].plan_.used]
    batch = batch.set_axis([*names, "class"], axis=1)
    batch[names] += 0.013  # new rows: a monitor refuses training rows
    batch[names] += 0.013  # no row that the model was trained on
    batch["class"] = np.array(["setosa", "versicolor", "virginica"])[batch["class"]]
    batch[::3].to_csv(folder / "first.csv", index=False)
    batch[1::3].to_csv(folder / "second.csv", index=False)
    workflow.monitor(folder / "out", folder / "first.csv", "class", limit=0.3)
    return folder


@pytest.fixture
def before(template, tmp_path):
    return shutil.copytree(template, tmp_path, dirs_exist_ok=True)


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(("kind", "number"), CASES)
def test_a_signal_in_the_middle_of_writing(before, kind, number, tmp_path_factory):
    old = contents(before)
    pipe = tmp_path_factory.mktemp("output") / "pipe"
    os.mkfifo(pipe)
    with (
        running(kind, before, output=pipe, program=PROGRAM) as (child, wait),
        pipe.open() as output,
    ):
        assert output.readline() == "ready\n"
        during = contents(before)
        assert {name: during[name] for name in old} == old
        assert during != old  # unfinished files
        os.kill(child, number)
        code = wait()
    if number != signal.SIGKILL:
        assert code == 130
    after = contents(before)
    if number == signal.SIGKILL:
        assert {name: after[name] for name in old} == old
        repeat(kind, before)
        assert set(contents(before)) == set(old)
    else:
        assert after == old


def repeat(kind, folder):
    """The same command to its end: it sweeps what the killed one left."""
    if kind == "fit":
        small = {"n_estimators": 2, "max_layers": 1}
        workflow.fit("iris", model="mddf", parameters=small, n_jobs=1, out=folder / "out")
    elif kind == "monitor":
        workflow.monitor(folder / "out", folder / "second.csv", "class", limit=0.3)
    elif kind == "save":
        surewood.save(surewood.load(folder / "out/model.surewood"), folder / "out/model.surewood")
    else:
        model = surewood.load(folder / "forest.surewood")
        surewood.predict_to_parquet(model, folder / "table.parquet", folder / "answers.parquet")
