"""What a signal in the middle of writing leaves behind: the old files whole, and nothing else.

A child does one of the commands and stops in the middle of writing, where the signal reaches it. After KILL
its unfinished files remain, until the next run into the same place. The results file of ``reproduce``
grows line by line: finished lines stay, and a torn last one is cut off by the next run.
"""

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
from surewood.experiments.records import RecordFile
from tests.cli.command import messy_frame

PROGRAM = """
import sys, time
import surewood
from surewood import workflow
from pathlib import Path
from surewood.cli import app, interrupting
from surewood.experiments import records
from surewood.monitor import state
from surewood.persistence import model_file
from surewood.workflow import parquet_prediction, report_files

def stop(*_, **__):
    print("ready", flush=True)
    while True:
        time.sleep(0.05)

class Torn:  # a file that takes half of a line, then waits
    def __init__(self, file):
        self.file = file

    def __getattr__(self, name):
        return getattr(self.file, name)

    def write(self, text):
        self.file.write(text[: len(text) // 2])
        stop()

kind, folder = sys.argv[1:]
interrupting.watch()
small = {"n_estimators": 2, "max_layers": 1}
try:
    if kind == "fit":
        report_files.write_report = stop
        workflow.fit("iris", model="mddf", parameters=small, n_jobs=1, out=folder + "/out")
    elif kind == "monitor":
        state.os.replace = stop
        workflow.monitor(folder + "/out", folder + "/second.csv", "class", limit=0.3)
    elif kind == "reproduce":
        with records.RecordFile(Path(folder, "results.jsonl"), {"paper": "small"}, True) as file:
            records.os.fsync = stop
            file._file = Torn(file._file)
            file.add({"error": 0.2})
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
RESULTS, SETTINGS = "results.jsonl", {"paper": "small"}
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]
QUICK = {
    ("fit", signal.SIGTERM),
    ("fit", signal.SIGKILL),
    ("predict", signal.SIGINT),
    ("save", signal.SIGHUP),
    ("reproduce", signal.SIGKILL),
    ("monitor", signal.SIGKILL),
}
CASES = [
    pytest.param(kind, number, marks=() if (kind, number) in QUICK else pytest.mark.slow)
    for kind in ("fit", "predict", "save", "reproduce", "monitor")
    for number in SIGNALS
]


@pytest.fixture
def before(tmp_path):
    """A fitted folder, a table and older predictions."""
    folder = tmp_path
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
    batch["class"] = np.array(["Iris-setosa", "Iris-versicolor", "Iris-virginica"])[batch["class"]]
    batch[::3].to_csv(folder / "first.csv", index=False)
    batch[1::3].to_csv(folder / "second.csv", index=False)
    workflow.monitor(folder / "out", folder / "first.csv", "class", limit=0.3)
    with RecordFile(folder / RESULTS, SETTINGS, resume=True) as file:
        file.add({"error": 0.1})
    return folder


def heed_signals():
    """Whoever started the tests may ignore some signals, as nohup does."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(("kind", "number"), CASES)
def test_a_signal_in_the_middle_of_writing(before, kind, number):
    old = contents(before)
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, kind, before],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    )
    assert child.stdout.readline() == "ready\n"
    during = contents(before)
    assert {name: during[name] for name in old} == old or kind == "reproduce"
    assert during != old  # unfinished files, or half a line
    began = time.monotonic()
    child.send_signal(number)
    code = child.wait(timeout=20)
    if number != signal.SIGKILL:
        assert code == 130
        assert time.monotonic() - began < 10
    after = contents(before)
    if kind == "reproduce":
        assert after.pop(RESULTS).startswith(old[RESULTS])
        repeat(kind, before)
        assert contents(before) == old
    elif number == signal.SIGKILL:
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
    elif kind == "reproduce":
        with RecordFile(folder / RESULTS, SETTINGS, resume=True) as file:
            assert file.dropped
            assert [record["error"] for record in file.records] == [0.1]
    elif kind == "monitor":
        workflow.monitor(folder / "out", folder / "second.csv", "class", limit=0.3)
    elif kind == "save":
        surewood.save(surewood.load(folder / "out/model.surewood"), folder / "out/model.surewood")
    else:
        model = surewood.load(folder / "forest.surewood")
        surewood.predict_to_parquet(model, folder / "table.parquet", folder / "answers.parquet")
