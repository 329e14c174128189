"""A reproduction of seconds, as a process: the cascades on two bundled sets, with little to search."""

from __future__ import annotations

import os
import subprocess
import sys

from surewood.experiments.records import read_records

TINY = """
import sys
from surewood.cli import main
from surewood.experiments import cascades, protocol
from surewood.experiments.cascades import paper

profile = protocol.read_profile("cascades", "quick")
sizes = {**profile.sizes, "max_svms": 150, "gamma_min": 0.01}
small = protocol.Profile("quick", {**profile.protocol, "degrees": [1, 2], "max_leaves": 2}, sizes)
paper.CascadesPaper.sets = ("wdbc", "iris_two")
paper._COST = {"wdbc": 1.0, "iris_two": 1.0}
protocol.read_profile = lambda name, wanted, *protocol: small
from surewood.experiments.cascades import folds
load = folds.load
def two_classes(name):
    data = load("iris_fisher" if name == "iris_two" else name)
    if name == "iris_two":
        keep = (data.y != "setosa").to_numpy()
        data.X, data.y, data.split = data.X[keep], data.y[keep], data.split[keep]
    return data
folds.load = two_classes
sys.argv = ["surewood", "reproduce", "cascades", *sys.argv[1:]]
main()
"""


def start(out, *more, before=""):
    """The command with these options; `before` is Python that runs first."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    arguments = [sys.executable, "-c", before + TINY, "--out", str(out), *more]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def numbers(out):
    kept = ("dataset", "repeat", "method", "metrics", "chosen", "seeds")
    _, records = read_records(out / "results.jsonl")
    found = [{name: record[name] for name in kept} for record in records]
    for record in found:
        record["metrics"].pop("svms")  # trained so far: a resumed unit skips what is done
    return sorted(found, key=lambda r: (r["dataset"], r["repeat"], r["method"]))


def finish(out, *more, before=""):
    process = start(out, *more, before=before)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()
    return output.decode()
