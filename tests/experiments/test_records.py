"""The results file survives kills and full disks at any byte."""

import errno
import os
import sys

import pytest

from surewood.experiments.errors import ExperimentError
from surewood.experiments.records import RecordFile, read_records

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
        with pytest.raises(ExperimentError, match=r"the disk is full.*make room and go on with --resume"):
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
            with pytest.raises(ExperimentError, match="keeps what was finished"):
                file.add(record(3))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert path.stat().st_size == size
        file.add(record(3))
    assert [r["repeat"] for r in read_records(path)[1]] == [0, 1, 2, 3]


def test_a_broken_line_inside_is_named(path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"not json\n" + lines[1])
    with pytest.raises(ExperimentError, match=r"line 2 of .* is not a record"):
        RecordFile(path, SETTINGS, resume=True)


def test_another_file_is_not_taken_for_results(tmp_path):
    other = tmp_path / "results.jsonl"
    other.write_text('{"kind": "note"}\n')
    with pytest.raises(ExperimentError, match="not a results file"):
        RecordFile(other, SETTINGS, resume=True)
    assert other.read_text() == '{"kind": "note"}\n'
