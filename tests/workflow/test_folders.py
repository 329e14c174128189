"""Results are written as a set, by one run at a time; a failed run leaves the old set whole."""

import os
import signal
import socket
from pathlib import Path

import pytest

from surewood import workflow
from surewood.workflow import WorkflowError, folders, reporting
from surewood.workflow.folders import LOCK, check_file, check_folder, finish_set, reserved, whole_set
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


#: Everything by which a command changes names.
NAME_CALLS = ("link", "mkdir", "open", "remove", "rename", "replace", "rmdir", "symlink", "unlink")


def killed_write(folder, point):
    """Write a new set in a child that is killed right before its `point`-th call that changes a name.

    Returns the call, or None where the child came to its end.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        calls = []

        def killing(name, call):
            def counted(*arguments, **options):
                changes = name != "open" or arguments[1] & os.O_CREAT
                if changes:
                    calls.append(name)
                if changes and len(calls) == point:
                    os.write(
                        writer,
                        f"{name} {Path(arguments[-1] if name == 'rename' else arguments[0]).name}".encode(),
                    )
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*arguments, **options)

            return counted

        for name in NAME_CALLS:
            setattr(os, name, killing(name, getattr(os, name)))
        try:
            write(folder, "two")
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as report:
        return report.read() or None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.parametrize("old", [True, False], ids=["an old set", "no old set"])
def test_a_kill_before_any_change_of_a_name_leaves_one_whole_set(tmp_path, old):
    """A table of points: the call, what is there, and what the next command reads; it leaves no more."""
    before = {"model": b"one", "page": b"one", "notes.txt": b"mine"} if old else {}
    after = {**before, "model": b"two", "page": b"two"}
    names = {"old": before, "new": after}

    def state(folder):
        read = {path.name: path.read_bytes() for path in folder.glob("[!.]*")}
        return next((name for name, files in names.items() if files == read), "between")

    table, point = [], 0
    while not table or table[-1][1] is not None:
        point += 1
        folder = tmp_path / f"{point}"
        if old:
            write(folder, "one")
            (folder / "notes.txt").write_text("mine")
        call = killed_write(folder, point)
        there = state(folder)
        finish_set(folder)
        table.append((point, call, there, state(folder)))
        write(folder, "three")
        assert set(contents(folder)) == set(after), (point, call)
    states = [state for *_, state in table]
    assert len(table) > 7
    assert states == sorted(states, reverse=True)  # old up to the rename that counts, new from there
    assert set(states) == {"old", "new"}
    print(*table, sep="\n")


@pytest.mark.parametrize("failing", range(3))
def test_a_rename_that_fails_is_finished_by_the_next_command(tmp_path, monkeypatch, failing):
    write(tmp_path, "one")
    calls = []

    def fail_once(call):
        def counted(source, target):
            calls.append(target)
            if len(calls) == failing + 1:
                raise OSError(28, "No space left on device", str(target))
            call(source, target)

        return counted

    monkeypatch.setattr(os, "rename", fail_once(os.rename))
    monkeypatch.setattr(os, "replace", fail_once(os.replace))
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path, "two")
    finish_set(tmp_path)
    text = b"one" if failing == 0 else b"two"
    assert contents(tmp_path) == {"model": text, "page": text}


def test_a_model_is_opened_from_the_set_that_counts(tmp_path, monkeypatch):
    options = {"model": "mddf", "parameters": SMALL, "n_jobs": 1, "out": tmp_path}
    workflow.fit("iris", **options)
    old = workflow.open_model(tmp_path).card["sha256"]
    with monkeypatch.context() as patched:
        patched.setattr(folders, "finish_set", lambda folder: None)
        workflow.fit("iris", random_state=1, **options)
    assert workflow.open_model(tmp_path).card["sha256"] != old
    assert set(contents(tmp_path)) == {"card.md", "model.surewood", "plan.toml", "report.html", "report.json"}


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


def test_links_and_pipes_of_a_stranger_are_not_followed(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter").write_text("private")
    (tmp_path / "from a stranger").mkdir()
    (tmp_path / "from a stranger" / ".surewood.set").symlink_to(tmp_path / "mine")
    os.mkfifo(tmp_path / "from a stranger" / LOCK)
    finish_set(tmp_path / "from a stranger")
    with reserved(tmp_path / "from a stranger"):
        pass
    assert contents(tmp_path / "mine") == {"letter": b"private"}


def test_a_failed_refit_keeps_model_page_and_plan_of_the_old_one(tmp_path, monkeypatch):
    options = {"model": "mddf", "parameters": SMALL, "n_jobs": 1, "out": tmp_path}
    workflow.fit("iris", **options)
    before = contents(tmp_path)
    assert set(before) == {"card.md", "model.surewood", "plan.toml", "report.html", "report.json"}

    def fail(*_, **__):
        raise OSError(28, "No space left on device", "report.html")

    monkeypatch.setattr(reporting, "write_report", fail)
    with pytest.raises(OSError, match="No space left"):
        workflow.fit("iris", random_state=1, **options)
    assert contents(tmp_path) == before


def test_places_that_cannot_be_written_are_refused_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / "page.html").mkdir()
    for folder in ("file/sub", "file"):
        with pytest.raises(
            WorkflowError, match=r"^out=.*file(: .*file)? is a file|^out=.*is a file, not a folder"
        ):
            check_folder(tmp_path / folder)
    with pytest.raises(WorkflowError, match=r"^out=.*x\.txt: the name must end in \.csv or \.parquet\.$"):
        check_file(tmp_path / "x.txt", (".csv", ".parquet"))
    with pytest.raises(WorkflowError, match=r"^out=.*page\.html is a folder; name a file\.$"):
        check_file(tmp_path / "page.html", (".html",))
    check_file(tmp_path / "new" / "deep" / "x.csv", (".csv",))
    assert not (tmp_path / "new").exists()
    monkeypatch.setattr(os, "access", lambda place, mode: False)  # root may write everywhere
    with pytest.raises(WorkflowError, match=r"^out=.*x\.csv: no permission to write in .*\.$"):
        check_file(tmp_path / "new" / "x.csv", (".csv",))
    with pytest.raises(WorkflowError, match=r"^out=.*new: no permission to write in .*\.$"):
        check_folder(tmp_path / "new")
