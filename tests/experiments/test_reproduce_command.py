"""``surewood reproduce``: stopped three times and resumed, it gives the numbers of an uninterrupted run."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from surewood.cli import app
from surewood.experiments.records import read_records

# The tiny paper of this file: the cascades' protocol on two bundled sets with little to search.
TINY = """
import sys
from surewood.cli import main
from surewood.experiments import cascades, protocol
from surewood.experiments.cascades import paper

profile = protocol.read_profile("cascades", "quick")
sizes = {**profile.sizes, "max_machines": 150, "gamma_min": 0.01}
small = protocol.Profile("quick", {**profile.protocol, "degrees": [1, 2], "max_leaves": 2}, sizes)
paper.SETS = ("wdbc", "iris_two")
paper._COST = {"wdbc": 1.0, "iris_two": 1.0}
protocol.read_profile = lambda name, wanted: small
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


def start(out, *more):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    arguments = [sys.executable, "-c", TINY, "--out", str(out), *more]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def numbers(out):
    kept = ("dataset", "repeat", "method", "metrics", "chosen", "seeds")
    _, records = read_records(out / "results.jsonl")
    found = [{name: record[name] for name in kept} for record in records]
    for record in found:
        record["metrics"].pop("machines")  # trained so far: a resumed unit skips what is done
    return sorted(found, key=lambda r: (r["dataset"], r["repeat"], r["method"]))


def stop_after(out, n_lines, by, *more):
    """Send a signal as soon as the file has so many lines; returns what was said on standard error."""
    process = start(out, *more)
    file = out / "results.jsonl"
    for _ in range(3000):
        if process.poll() is not None or (file.exists() and file.read_bytes().count(b"\n") >= n_lines):
            break
        time.sleep(0.01)
    process.send_signal(by)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == (-by if by == signal.SIGKILL else 130), "the run ended before it was stopped"
    return errors.decode()


def finish(out, *more):
    process = start(out, *more)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()
    return output.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_killed_and_interrupted_and_resumed_the_numbers_are_the_same(tmp_path):
    finish(tmp_path / "whole")
    parts = tmp_path / "parts"
    stop_after(parts, 4, signal.SIGKILL)
    stop_after(parts, 19, signal.SIGKILL, "--resume")
    said = stop_after(parts, 22, signal.SIGINT, "--resume")
    assert "results.jsonl resumes: add --resume to the command" in said
    finish(parts, "--resume")
    assert len(numbers(parts)) == 40
    assert numbers(parts) == numbers(tmp_path / "whole")
    for name in ("results.csv", "table.md", "table.html", "summary.json"):
        assert (parts / name).stat().st_size > 100


def run(*arguments):
    return CliRunner().invoke(app, ["reproduce", *arguments])


def test_unknown_papers_profiles_and_sets_are_one_sentence(tmp_path):
    for arguments, words in (
        (["rfc"], "there is no paper called 'rfc'; there are rcf, cascades, mddf."),
        (["rcf", "--profile", "slow"], "rcf has no profile 'slow'; it has quick, standard, full."),
        (
            ["cascades", "--sets", "iris", "--out", str(tmp_path)],
            "cascades has no data set 'iris'; its sets are",
        ),
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert words in result.stderr
        assert "Traceback" not in result.output


def test_without_any_data_there_is_a_line_a_set_and_no_table(tmp_path, monkeypatch):
    monkeypatch.setenv("SUREWOOD_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("SUREWOOD_CACHE", str(tmp_path / "cache"))
    result = run("cascades", "--sets", "splice,a1a", "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert "splice is missing: data set 'splice' was not found" in result.stderr
    assert "no data set could be had" in result.stderr


@pytest.mark.needs_data
def test_a_missing_set_is_marked_in_the_table(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    source = os.path.join(os.environ["SUREWOOD_DATA"], "ionosphere.parquet")
    os.symlink(source, folder / "ionosphere.parquet")
    monkeypatch.setenv("SUREWOOD_DATA", str(folder))
    monkeypatch.setenv("SUREWOOD_CACHE", str(tmp_path / "cache"))
    result = run("cascades", "--sets", "splice,ionosphere", "--out", str(tmp_path / "out"), "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    cells = {row[0]: row[1:] for row in summary["tables"][0]["rows"]}
    assert cells["splice"].count("missing") == 6
    assert "missing" not in cells["ionosphere"]
    reasons = {entry["dataset"]: entry["reason"] for entry in summary["missing"]}
    assert reasons["a1a"] == "not run"
    assert "not found" in reasons["splice"]
