"""Bundles in processes: marked arrays are files that live as long as their array.

Words of the Dask engine for lost data, schedulers and workers; test_faults.py kills real ones.

Words of the Ray engine for tasks that failed and workers that died; test_faults.py kills real ones.
"""

from __future__ import annotations

import gc
import os
import socket
from types import SimpleNamespace

import numpy as np
import pytest
from joblib import delayed, parallel_config

from surewood.parallel import run_tasks, share
from surewood.parallel.engines import (
    DaskEngine,
    MappedFile,
    ProcessEngine,
    RayEngine,
    is_refused,
    run_unless_given_up,
)
from surewood.parallel.remote import RETRIES, WorkerLost
from surewood.parallel.running import active_engine


def test_a_file_goes_with_its_object():
    file = MappedFile(np.arange(5))
    path = file.path
    assert np.load(path).tolist() == [0, 1, 2, 3, 4]
    del file
    gc.collect()
    assert not os.path.exists(path)


def test_the_engine_uploads_files_that_are_never_lost():
    engine = ProcessEngine(2)
    [reference] = engine.upload([np.ones(3)])
    assert os.path.exists(reference.path)
    assert not engine.is_lost(reference)
    assert (engine.n_workers, engine.copies) == (2, False)


def test_the_multiprocessing_backend_of_joblib_works():
    x = np.arange(40_000.0)
    share(x)
    with parallel_config(backend="multiprocessing", n_jobs=2):
        assert isinstance(active_engine(2), ProcessEngine)
        found = list(run_tasks([delayed(_sum_here)(x, k) for k in range(4)], 2, seconds=1.0))
    assert [total for total, _ in found] == [x[k:].sum() for k in range(4)]
    assert os.getpid() not in {process for _, process in found}


def _sum_here(x, k):
    return x[k:].sum(), os.getpid()


def dask_engine(status="running", log=""):
    client = SimpleNamespace(
        id="one",
        status=status,
        scheduler=SimpleNamespace(address="tcp://somewhere:1"),
        get_worker_logs=lambda nanny: log,
    )
    return DaskEngine(SimpleNamespace(client=client, effective_n_jobs=lambda n: 3))


def test_it_knows_its_workers_and_its_client():
    assert (dask_engine().n_workers, dask_engine().key, dask_engine().copies) == (3, ("dask", "one"), True)


def test_a_scheduler_that_is_gone_is_named():
    with pytest.raises(WorkerLost, match="scheduler at tcp://somewhere:1 cannot be reached any more"):
        dask_engine("closed")


@pytest.mark.parametrize(("status", "lost"), [("finished", False), ("lost", True), ("cancelled", True)])
def test_scattered_data_may_be_lost(status, lost):
    assert dask_engine().is_lost(SimpleNamespace(status=status)) is lost


@pytest.mark.parametrize(
    ("log", "error", "words"),
    [
        (
            "Worker exceeded 95% memory budget",
            MemoryError,
            "it passed its limit of 2.0 GiB",
        ),
        ("", WorkerLost, "Dask workers died again and again on the same task"),
    ],
)
def test_killed_workers_get_the_reason_that_is_known(log, error, words):
    worker = SimpleNamespace(address="tcp://w:2", memory_limit=2 * 2**30, nanny=None)
    found = dask_engine(log=log)._killed(SimpleNamespace(last_worker=worker))
    assert type(found) is error
    assert words in str(found)
    assert "tcp://w:2" in str(found)


NAMES = (
    "OutOfMemoryError",
    "RayTaskError",
    "WorkerCrashedError",
    "NodeDiedError",
    "ObjectLostError",
    "RaySystemError",
)
ERRORS = SimpleNamespace(**{name: type(name, (Exception,), {"cause": None}) for name in NAMES})


def ray_engine(error=None, node=None):
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
    assert ray_engine()._result("reference") == b"result"
    assert ray_engine().is_lost("reference") is False


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
        ray_engine(error)._result("reference")


def test_an_error_in_a_task_is_raised_as_it_was():
    error = ERRORS.RayTaskError()
    error.cause = ZeroDivisionError("in the task")
    with pytest.raises(ZeroDivisionError, match="in the task"):
        ray_engine(error)._result("reference")


def test_a_bundle_that_was_given_up_is_not_run(monkeypatch):
    monkeypatch.setattr("surewood.parallel.engines._given_up", lambda run: True)
    assert run_unless_given_up(b"run", "another version", b"not a bundle", []) == b""


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs sockets with names")
def test_a_socket_without_a_listener_is_noticed(tmp_path):
    path = str(tmp_path / "raylet")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        assert not is_refused(path)
        assert ray_engine(node=SimpleNamespace(raylet_socket_name=path))._result("reference") == b"result"
    assert is_refused(path)
    assert is_refused(str(tmp_path / "none"))
    assert not is_refused(None)
    with pytest.raises(WorkerLost, match="the Ray cluster cannot be reached any more"):
        ray_engine(node=SimpleNamespace(raylet_socket_name=path))._result("reference")
