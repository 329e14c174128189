"""The command as a user runs it: real subprocesses, exit codes, and no traceback for a mistake."""

import json
import os
import subprocess
import sys


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "surewood.cli", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=120,
    )


def test_datasets_lists_the_catalogue():
    shown = run("datasets")
    assert shown.returncode == 0
    lines = shown.stdout.splitlines()
    assert lines[0].split()[:2] == ["name", "rows"]
    assert any(line.startswith("letter") and "16,000 / 4,000" in line for line in lines)


def test_datasets_as_json():
    entries = json.loads(run("datasets", "wine", "sensit", "--json").stdout)
    assert [e["name"] for e in entries] == ["wine", "sensit"]
    assert entries[0]["from"] == "scikit-learn"


def test_a_mistake_is_one_sentence_and_exit_code_two():
    shown = run("datasets", "irsi")
    assert shown.returncode == 2
    assert shown.stderr == "surewood: there is no data set called 'irsi'; did you mean iris?\n"
    assert "Traceback" in run("--debug", "datasets", "irsi").stderr
    assert run("no-such-command").returncode == 2


def test_a_set_to_get_by_hand_shows_its_address(tmp_path):
    nothing = {"SUREWOOD_DATA": "", "SUREWOOD_CACHE": str(tmp_path)}
    shown = run("datasets", "a1a", **nothing)
    assert "libsvmtools/datasets/binary/a1a and a1a.t" in shown.stdout
    assert (
        run("datasets", "list", "a1a", SUREWOOD_DATA="", SUREWOOD_CACHE=str(tmp_path)).stdout == shown.stdout
    )


def test_get_reads_a_folder_and_explains_what_it_lacks(tmp_path):
    shown = run("datasets", "get", "wine", "iris", "--from", str(tmp_path), SUREWOOD_CACHE=str(tmp_path))
    assert shown.returncode == 1
    assert "wine comes with scikit-learn" in shown.stderr
    assert "has no file 'iris.data'; download it from https://archive.ics.uci.edu/" in shown.stderr
    assert run("datasets", "get", "irsi").returncode == 2
    assert "get" in run("datasets", "--help").stdout
