"""`cluster(address)`: connects, disconnects, and says clearly why it cannot."""

import sys

import pytest
from sklearn.datasets import load_iris

import surewood
from surewood.parallel import cluster

X, Y = load_iris(return_X_y=True)


def test_a_dask_scheduler_by_its_address(dask_cluster, everything_remote):
    alone = surewood.BinnedForestClassifier(60, random_state=0).fit(X, Y)
    with cluster(dask_cluster.scheduler_address) as client:
        model = surewood.BinnedForestClassifier(60, random_state=0).fit(X, Y)
        assert client.status == "running"
    assert client.status == "closed"
    assert (model.predict_proba(X) == alone.predict_proba(X)).all()


def test_ray_that_is_there_already_stays(ray_session, everything_remote):
    alone = surewood.BinnedForestClassifier(60, random_state=0).fit(X, Y)
    with cluster("auto"):
        model = surewood.BinnedForestClassifier(60, random_state=0).fit(X, Y)
    assert ray_session.is_initialized()
    assert (model.predict_proba(X) == alone.predict_proba(X)).all()


def test_nobody_answers():
    pytest.importorskip("distributed")
    with (
        pytest.raises(ConnectionError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9 "),
        cluster("tcp://127.0.0.1:9", timeout=0.5),
    ):
        pass


def test_an_empty_address():
    with pytest.raises(ValueError, match="the address of the cluster is empty"), cluster(" "):
        pass


@pytest.mark.parametrize(
    ("module", "address", "extra"),
    [("distributed", "tcp://127.0.0.1:8786", "dask"), ("ray", "ray://127.0.0.1:10001", "ray")],
)
def test_without_the_extra(module, address, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with (
        pytest.raises(ImportError, match=rf"not installed: pip install 'surewood\[{extra}\]'"),
        cluster(address),
    ):
        pass
