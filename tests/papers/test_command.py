"""``python -m papers``: stopped and resumed, it gives the numbers of an uninterrupted run."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from papers.__main__ import main
from papers.records import read_records

#: The cascades on two bundled sets, with little to search: seconds.
TINY = """
import sys
from papers import __main__, cascades, protocol
from papers.cascades import folds

profile = protocol.read_profile("cascades", "quick")
sizes = {**profile.sizes, "max_svms": 150, "gamma_min": 0.01}
small = protocol.Profile("quick", {**profile.protocol, "degrees": [1, 2], "max_leaves": 2}, sizes)
cascades.CascadesPaper.sets = ("wdbc", "wine_two")
cascades._COST = {"wdbc": 1.0, "wine_two": 1.0}
__main__.read_profile = lambda name, wanted, *protocol: small
load = folds.load
def two_classes(name):
    data = load("wine" if name == "wine_two" else name)
    if name == "wine_two":
        keep = (data.y != data.y.iloc[0]).to_numpy()
        data.X, data.y, data.split = data.X[keep], data.y[keep], data.split[keep]
    return data
folds.load = two_classes
sys.exit(__main__.main(["cascades", *sys.argv[1:]]))
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
        record["metrics"].pop("svms")  # trained so far: a resumed unit skips what is done
    return sorted(found, key=lambda r: (r["dataset"], r["repeat"], r["method"]))


def finish(out, *more):
    process = start(out, *more)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()
    return output.decode()


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


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rfc"], "argument COMMAND: invalid choice: 'rfc'"),
        (["mddf", "--protocol", "official"], "mddf has no protocol 'official'; it has paper."),
        (["rcf", "--profile", "slow"], "rcf has no profile 'slow'; it has quick, standard, full."),
        (["cascades", "--sets", "iris"], "cascades has no data set 'iris'; its sets are"),
        (["cascades", "--sets", ","], "--sets names no data set; leave it out for all of them."),
        (["cascades", "--repeats", "0"], "--repeats must be at least 1, not 0."),
        (
            ["cascades", "--reading", "kernel=cubic"],
            "kernel can be inhomogeneous or homogeneous or normalised",
        ),
        (["cascades", "--out", "file"], "--out file is a file; name a folder."),
        (["get", "irsi"], "there is no data set called 'irsi'; did you mean iris?"),
        (["tables", "--take", "nowhere"], "nowhere has no results.jsonl; it is not the folder of a run."),
    ],
)
def test_mistakes_are_one_sentence(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    try:
        code = main(arguments)
    except SystemExit as error:  # argparse
        code = error.code
    said = capsys.readouterr().err
    assert code == 2
    assert said.startswith(f"papers: {words}")
    assert said.count("\n") == 1


def test_without_any_data_there_is_a_line_a_set_and_no_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SUREWOOD_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("SUREWOOD_CACHE", str(tmp_path / "cache"))
    assert main(["cascades", "--sets", "splice,a1a", "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "splice is missing: data set 'splice' was not found" in said
    assert "none of the data sets is available" in said


@pytest.mark.needs_data
def test_a_missing_set_is_marked_in_the_table(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "data"
    folder.mkdir()
    source = os.path.join(os.environ["SUREWOOD_DATA"], "ionosphere.parquet")
    os.symlink(source, folder / "ionosphere.parquet")
    monkeypatch.setenv("SUREWOOD_DATA", str(folder))
    monkeypatch.setenv("SUREWOOD_CACHE", str(tmp_path / "cache"))
    assert main(["cascades", "--sets", "splice,ionosphere", "--out", str(tmp_path / "out"), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    cells = {row[0]: row[1:] for row in summary["tables"][0]["rows"]}
    assert cells.keys() == {"splice", "ionosphere"}  # only those asked for
    assert cells["splice"].count("missing") == 5  # all columns of ours
    assert "missing" not in cells["ionosphere"]
    reasons = {entry["dataset"]: entry["reason"] for entry in summary["missing"]}
    assert reasons.keys() == {"splice"}
    assert "not found" in reasons["splice"]
    page = (tmp_path / "out" / "table.html").read_text(encoding="utf-8")
    assert "critical distance" in page


def test_get_reads_a_folder_and_explains_what_it_lacks(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SUREWOOD_CACHE", str(tmp_path))
    assert main(["get", "iris", "--from", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "has no file 'iris.data'; download it from https://archive.ics.uci.edu/" in said
