"""What a signal in the middle of writing leaves behind: the old files whole, and nothing else.

A child does one of the commands and stops in the middle of writing, where the signal reaches it. After KILL
its unfinished files remain, until the next run into the same place.
"""

import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

import surewood
from surewood import workflow
from tests.cli.command import messy_frame

PROGRAM = """
import sys, time
import surewood
from surewood import workflow
from surewood.cli import app, interrupting
from surewood.persistence import model_file
from surewood.workflow import parquet_prediction, report_files

def stop(*_, **__):
    print("ready", flush=True)
    while True:
        time.sleep(0.05)

kind, folder = sys.argv[1:]
interrupting.watch()
small = {"n_estimators": 2, "max_layers": 1}
try:
    if kind == "fit":
        report_files.write_report = stop
        workflow.fit("iris", model="mddf", parameters=small, n_jobs=1, out=folder + "/out")
    elif kind == "save":
        model = surewood.load(folder + "/out/model.surewood")
        model_file.deflate = stop
        surewood.save(model, folder + "/out/model.surewood")
    else:
        model = surewood.load(folder + "/forest.surewood")
        write = parquet_prediction.ParquetSink.write
        parquet_prediction.ParquetSink.write = lambda sink, rows: (write(sink, rows), stop())
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
}
CASES = [
    pytest.param(kind, number, marks=() if (kind, number) in QUICK else pytest.mark.slow)
    for kind in ("fit", "predict", "save")
    for number in SIGNALS
]


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """A fitted folder, a table and older predictions."""
    folder = tmp_path_factory.mktemp("before")
    small = {"n_estimators": 2, "max_layers": 1}
    workflow.fit("iris", model="mddf", parameters=small, n_jobs=1, out=folder / "out")
    frame = messy_frame(60)[["Âge", "treu?"]].rename(columns={"Âge": "age"})
    frame.to_parquet(folder / "table.parquet")
    forest = surewood.BinnedForestClassifier(2, random_state=0).fit(frame[["age"]], frame["treu?"])
    surewood.save(forest, folder / "forest.surewood")
    pd.DataFrame({"prediction": ["old"]}).to_parquet(folder / "answers.parquet")
    return folder


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(("kind", "number"), CASES)
def test_a_signal_in_the_middle_of_writing(before, kind, number):
    old = contents(before)
    child = subprocess.Popen([sys.executable, "-c", PROGRAM, kind, before], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    during = contents(before)
    assert {name: during[name] for name in old} == old
    assert set(during) > set(old)  # unfinished files
    began = time.monotonic()
    child.send_signal(number)
    code = child.wait(timeout=20)
    after = contents(before)
    if number == signal.SIGKILL:
        assert {name: after[name] for name in old} == old
        repeat(kind, before)
        assert {name for name in contents(before) if "/." not in f"/{name}"} == set(old)
        assert set(contents(before)) == set(old)
    else:
        assert code == 130
        assert after == old
        assert time.monotonic() - began < 10


def repeat(kind, folder):
    """The same command to its end: it sweeps what the killed one left."""
    if kind == "fit":
        small = {"n_estimators": 2, "max_layers": 1}
        workflow.fit("iris", model="mddf", parameters=small, n_jobs=1, out=folder / "out")
    elif kind == "save":
        surewood.save(surewood.load(folder / "out/model.surewood"), folder / "out/model.surewood")
    else:
        model = surewood.load(folder / "forest.surewood")
        surewood.predict_to_parquet(model, folder / "table.parquet", folder / "answers.parquet")
