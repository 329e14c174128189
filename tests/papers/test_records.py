"""Results survive kills and full disks at any byte, and say where they come from."""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from mmap import mmap

import numpy as np
import pytest

from papers import records
from papers.protocol import PaperError
from papers.records import (
    RecordFile,
    commit,
    forget_peak_memory,
    machine,
    pack,
    peak_memory,
    read_csv,
    read_records,
    to_csv,
    unpack,
    versions,
)
from papers.runner import run_paper
from tests.papers.toys import PROFILE, ToyPaper

SETTINGS = {"paper": "toy", "sizes": {"repeats": 2, "depths": (1, 2)}}


def record(k):
    return {"dataset": "alpha", "repeat": k, "method": "plain", "metrics": {"error": k / 7}}


@pytest.fixture
def path(tmp_path):
    with RecordFile(tmp_path / "results.jsonl", SETTINGS, resume=False) as file:
        for k in range(3):
            file.add(record(k))
    return tmp_path / "results.jsonl"


def test_cut_at_any_byte_it_keeps_the_complete_records_and_goes_on(path):
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        complete = max(content[:length].count(b"\n") - 1, 0)
        with RecordFile(path, SETTINGS, resume=True) as file:
            assert [r["repeat"] for r in file.records] == list(range(complete))
            file.add(record(complete))
        assert [r["repeat"] for r in read_records(path)[1]] == list(range(complete + 1))


def test_lists_and_tuples_are_the_same_setting(path):
    with RecordFile(path, {"paper": "toy", "sizes": {"repeats": 2, "depths": [1, 2]}}, resume=True) as file:
        assert len(file.records) == 3


def test_a_full_disk_leaves_a_file_that_resumes(path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with RecordFile(path, SETTINGS, resume=True) as file:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(PaperError, match=r"the disk is full.*make room and go on with --resume"):
            file.add(record(3))
        monkeypatch.undo()
    assert len(read_records(path)[1]) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of file size")
def test_a_write_that_is_cut_short_is_taken_back(path):
    import resource

    size = path.stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with RecordFile(path, SETTINGS, resume=True) as file:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, before[1]))
        try:
            with pytest.raises(PaperError, match="keeps what was finished"):
                file.add(record(3))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert path.stat().st_size == size
        file.add(record(3))
    assert [r["repeat"] for r in read_records(path)[1]] == [0, 1, 2, 3]


def test_a_broken_line_inside_is_named(path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"not json\n" + lines[1])
    with pytest.raises(PaperError, match=r"line 2 of .* is not a record"):
        RecordFile(path, SETTINGS, resume=True)


def test_another_file_is_not_taken_for_results(tmp_path):
    other = tmp_path / "results.jsonl"
    other.write_text('{"kind": "note"}\n')
    with pytest.raises(PaperError, match="not a results file"):
        RecordFile(other, SETTINGS, resume=True)
    assert other.read_text() == '{"kind": "note"}\n'


@pytest.fixture
def outcome(tmp_path):
    return run_paper(ToyPaper(missing=["beta"]), PROFILE, tmp_path)


def test_the_csv_holds_all_that_a_summary_needs(outcome, tmp_path):
    table = tmp_path / "results.csv"
    table.write_text(to_csv(outcome.records), encoding="utf-8")
    again = read_csv(table)
    assert ToyPaper().summarise(again, PROFILE) == ToyPaper().summarise(outcome.records, PROFILE)
    assert again[0]["chosen"] == outcome.records[0]["chosen"]
    assert again[0]["seeds"] == outcome.records[0]["seeds"]
    assert again[0]["protocol"] == "paper"
    assert again[0]["versions"]["commit"] == outcome.records[0]["versions"]["commit"]


def test_digits_missing_values_and_memory_survive(tmp_path):
    record = {"dataset": "a", "repeat": 3, "method": "m", "seconds": 1.23456, "profile": "quick"}
    full = {**record, "metrics": {"error": 0.1 + 0.2, "n_test": 7}, "peak_memory_bytes": 5 * 2**20}
    bare = {**record, "method": "n", "metrics": {"error": 1 / 3}}
    path = tmp_path / "results.csv"
    path.write_text(to_csv([full, bare]), encoding="utf-8")
    first, second = read_csv(path)
    assert first["metrics"] == {"error": 0.1 + 0.2, "n_test": 7}
    assert first["seconds"] == 1.235
    assert first["peak_memory_bytes"] == 5 * 2**20
    assert second["metrics"] == {"error": 1 / 3}
    assert second["peak_memory_bytes"] is None
    assert second["chosen"] == {}


def test_another_table_is_refused(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(PaperError, match=r"other\.csv is not a table of results"):
        read_csv(path)


def test_counts_survive_packing_and_json():
    rng = np.random.default_rng(0)
    validation, test = rng.integers(0, 5000, size=(2, 3, 4, 2))
    grid = pack({"r": (1, 2, 4), "depth": [1, 2, 3, 4], "rule": [None, 0.1]}, validation, test)
    found = unpack(json.loads(json.dumps(grid)))
    np.testing.assert_array_equal(found[0], validation)
    np.testing.assert_array_equal(found[1], test)
    assert found[0].dtype == np.int64


def test_versions_name_python_and_what_numbers_depend_on():
    found = versions()
    assert found["numpy"] == np.__version__
    assert {"python", "surewood", "scikit-learn"} <= set(found)
    assert "cores" in machine()


def test_the_commit_is_that_of_a_checkout_or_unknown(monkeypatch, tmp_path):
    assert re.fullmatch(r"([0-9a-f]{12}\+?)?", commit())
    monkeypatch.setattr(records, "__file__", str(tmp_path / "provenance.py"))
    assert commit.__wrapped__() == ""


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_mark_tells_that_code_or_protocols_were_changed(monkeypatch, tmp_path):
    code = tmp_path / "src" / "surewood" / "records.py"
    protocol, results = (tmp_path / "papers" / "toy" / name for name in ("protocol.toml", "results.csv"))
    for path in (code, protocol, results):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("first\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.setattr(records, "__file__", str(code))
    (code.parent / "notes.txt").write_text("a local file\n")
    results.write_text("records of the run before\n")
    clean = commit.__wrapped__()
    assert re.fullmatch(r"[0-9a-f]{12}", clean)
    protocol.write_text("other sizes\n")
    assert commit.__wrapped__() == f"{clean}+"


@pytest.mark.skipif(sys.platform != "linux", reason="the peak can be reset on Linux only")
def test_the_peak_follows_what_was_allocated():
    forget_peak_memory()
    before = peak_memory()
    block = mmap(-1, 64_000_000)  # an array might be placed where freed memory is still resident
    np.frombuffer(block, dtype=np.uint8)[::4096] = 1
    assert peak_memory() - before > 50e6
