"""Words of the Dask engine for lost data, schedulers and workers; test_faults.py kills real ones."""

from types import SimpleNamespace

import pytest

from surewood.parallel.dask_engine import DaskEngine
from surewood.parallel.remote import WorkerLost


def engine(status="running", log=""):
    client = SimpleNamespace(
        id="one",
        status=status,
        scheduler=SimpleNamespace(address="tcp://somewhere:1"),
        get_worker_logs=lambda nanny: log,
    )
    return DaskEngine(SimpleNamespace(client=client, effective_n_jobs=lambda n: 3))


def test_it_knows_its_workers_and_its_client():
    assert (engine().n_workers, engine().key, engine().copies) == (3, ("dask", "one"), True)


def test_a_scheduler_that_is_gone_is_named():
    with pytest.raises(WorkerLost, match="scheduler at tcp://somewhere:1 cannot be reached any more"):
        engine("closed")


@pytest.mark.parametrize(("status", "lost"), [("finished", False), ("lost", True), ("cancelled", True)])
def test_scattered_data_may_be_lost(status, lost):
    assert engine().is_lost(SimpleNamespace(status=status)) is lost


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
    found = engine(log=log)._killed(SimpleNamespace(last_worker=worker))
    assert type(found) is error
    assert words in str(found)
    assert "tcp://w:2" in str(found)
