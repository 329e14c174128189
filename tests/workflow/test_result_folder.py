"""Results are written as a set, by one run at a time; a failed run leaves the old set whole."""

import os
import socket

import pytest

from surewood import workflow
from surewood.workflow import WorkflowError, report_files
from surewood.workflow.result_folder import LOCK, reserved, whole_set
from tests.persistence.test_leftovers import gone_process

SMALL = {"n_estimators": 3, "max_layers": 1}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def write(folder, text):
    with reserved(folder), whole_set(folder) as new:
        for name in ("model", "page"):
            (new / name).write_text(text)


def test_a_set_replaces_the_old_one_and_leaves_other_files_alone(tmp_path):
    folder = tmp_path / "a" / "b"
    write(folder, "one")
    (folder / "notes.txt").write_text("mine")
    write(folder, "two")
    assert contents(folder) == {"model": b"two", "page": b"two", "notes.txt": b"mine"}


def test_an_error_leaves_the_old_set_and_no_new_folder(tmp_path):
    write(tmp_path / "old", "one")

    def interrupted(folder):
        with reserved(folder), whole_set(folder) as new:
            (new / "model").write_text("two")
            raise KeyboardInterrupt

    for folder in (tmp_path / "old", tmp_path / "new" / "deep"):
        with pytest.raises(KeyboardInterrupt):
            interrupted(folder)
    assert contents(tmp_path / "old") == {"model": b"one", "page": b"one"}
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("failing", range(4))
def test_a_rename_that_fails_brings_the_old_set_back(tmp_path, monkeypatch, failing):
    write(tmp_path, "one")
    rename, calls = os.rename, []

    def fail_once(source, target):
        calls.append(target)
        if len(calls) == failing + 1:
            raise OSError(28, "No space left on device", str(target))
        rename(source, target)

    monkeypatch.setattr(os, "rename", fail_once)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path, "two")
    assert contents(tmp_path) == {"model": b"one", "page": b"one"}


def test_a_second_run_is_refused_and_a_dead_one_is_not_waited_for(tmp_path):
    with reserved(tmp_path):
        with pytest.raises(WorkflowError, match=rf"another run \(process {os.getpid()}\) writes there"):
            write(tmp_path, "two")
        assert (tmp_path / LOCK).exists()
    (tmp_path / LOCK).write_text(f"{gone_process()} {socket.gethostname()}")
    write(tmp_path, "one")
    (tmp_path / LOCK).write_text("")  # cut short by a kill
    write(tmp_path, "three")
    assert contents(tmp_path) == {"model": b"three", "page": b"three"}
    (tmp_path / LOCK).write_text("1 elsewhere")
    with pytest.raises(WorkflowError, match=r"a run on elsewhere \(process 1\) writes there; if it is gone"):
        write(tmp_path, "four")


def test_a_failed_refit_keeps_model_page_and_plan_of_the_old_one(tmp_path, monkeypatch):
    options = {"model": "mddf", "parameters": SMALL, "n_jobs": 1, "out": tmp_path}
    workflow.fit("iris", **options)
    before = contents(tmp_path)
    assert set(before) == {"card.md", "model.surewood", "plan.toml", "report.html", "report.json"}

    def fail(*_, **__):
        raise OSError(28, "No space left on device", "report.html")

    monkeypatch.setattr(report_files, "write_report", fail)
    with pytest.raises(OSError, match="No space left"):
        workflow.fit("iris", random_state=1, **options)
    assert contents(tmp_path) == before
