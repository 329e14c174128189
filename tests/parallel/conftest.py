"""One Dask cluster and one Ray for all tests of this folder; small work goes to workers too."""

import os
import time

import joblib
import pytest

from surewood.parallel import remote, running

# Workers have to find hazards.py.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [os.path.dirname(__file__), *filter(None, [os.environ.get("PYTHONPATH")])]
)
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")


@pytest.fixture
def everything_remote(monkeypatch):
    """No work is too small to be sent, no array too small to be shared, no bundle long."""
    monkeypatch.setattr(remote, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(remote, "SHORTEST_BUNDLE", 1e-3)
    monkeypatch.setattr(running, "WORTH_SENDING", 0.0)
    monkeypatch.setattr(remote, "SMALLEST", 256)


@pytest.fixture(scope="session")
def dask_cluster():
    distributed = pytest.importorskip("distributed")
    import dask

    dask.config.set(
        {
            "distributed.scheduler.allowed-failures": 1,  # deadly tasks are given up sooner
            # On a busy machine a killed worker may need more than the default 15 s to come back.
            "distributed.deploy.lost-worker-timeout": "10 minutes",
        }
    )
    with distributed.LocalCluster(
        n_workers=3,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        memory_limit=None,
        silence_logs=50,
    ) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def dask_session(dask_cluster):
    from distributed import Client

    with Client(dask_cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def dask_client(dask_session):
    """All three workers answer, and no other is listed: a test before may have killed one.

    Sending arrays to a dead worker that the scheduler still lists would never end.
    """
    for _ in range(60):
        answers = dask_session.run(os.getpid, on_error="ignore")
        if len(answers) == 3 and set(answers) == set(dask_session.nthreads()):
            break
        time.sleep(0.5)
    return dask_session


@pytest.fixture
def on_dask(dask_client, everything_remote):
    with joblib.parallel_config("dask", client=dask_client):
        yield dask_client


@pytest.fixture(scope="session")
def ray_session():
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
    register_ray()
    yield ray
    ray.shutdown()


@pytest.fixture
def on_ray(ray_session, everything_remote):
    with joblib.parallel_config("ray"):
        yield ray_session
