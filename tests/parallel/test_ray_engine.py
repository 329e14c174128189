"""Words of the Ray engine for tasks that failed and workers that died; test_faults.py kills real ones."""

import socket
from types import SimpleNamespace

import pytest

from surewood.parallel.ray_engine import RayEngine, is_refused, run_unless_given_up
from surewood.parallel.remote import RETRIES, WorkerLost

NAMES = (
    "OutOfMemoryError",
    "RayTaskError",
    "WorkerCrashedError",
    "NodeDiedError",
    "ObjectLostError",
    "RaySystemError",
)
ERRORS = SimpleNamespace(**{name: type(name, (Exception,), {"cause": None}) for name in NAMES})


def engine(error=None, node=None):
    """An engine whose one task ends with this error, on a node or far away from one."""

    def get(reference):
        if error is not None:
            raise error
        return bytearray(b"result")

    found = RayEngine.__new__(RayEngine)
    worker = SimpleNamespace(global_worker=SimpleNamespace(node=node))
    found.ray = SimpleNamespace(exceptions=ERRORS, get=get, _private=SimpleNamespace(worker=worker))
    return found


def test_results_are_bytes_and_what_was_put_is_never_lost():
    assert engine()._result("reference") == b"result"
    assert engine().is_lost("reference") is False


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (ERRORS.OutOfMemoryError("Node is full.\nmore"), MemoryError, r"Node is full\. Give nodes"),
        (ERRORS.WorkerCrashedError(), WorkerLost, f"Ray workers died {RETRIES + 1} times on the same task"),
        (ERRORS.NodeDiedError(), WorkerLost, "for lack of memory"),
        (ERRORS.RaySystemError(), WorkerLost, "the Ray cluster cannot be reached any more"),
        (ConnectionError(), WorkerLost, "Start the cluster again"),
    ],
)
def test_failures_get_the_reason_that_is_known(error, kind, words):
    with pytest.raises(kind, match=words):
        engine(error)._result("reference")


def test_an_error_in_a_task_is_raised_as_it_was():
    error = ERRORS.RayTaskError()
    error.cause = ZeroDivisionError("in the task")
    with pytest.raises(ZeroDivisionError, match="in the task"):
        engine(error)._result("reference")


def test_a_bundle_that_was_given_up_is_not_run(monkeypatch):
    monkeypatch.setattr("surewood.parallel.ray_engine._given_up", lambda run: True)
    assert run_unless_given_up(b"run", "another version", b"not a bundle", []) == b""


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs sockets with names")
def test_a_socket_without_a_listener_is_noticed(tmp_path):
    path = str(tmp_path / "raylet")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        assert not is_refused(path)
        assert engine(node=SimpleNamespace(raylet_socket_name=path))._result("reference") == b"result"
    assert is_refused(path)
    assert is_refused(str(tmp_path / "none"))
    assert not is_refused(None)
    with pytest.raises(WorkerLost, match="the Ray cluster cannot be reached any more"):
        engine(node=SimpleNamespace(raylet_socket_name=path))._result("reference")
