"""`cluster(address)`: connects, disconnects, and says clearly why it cannot.

``--cluster ADDRESS``: the same model and the same numbers there as here; nobody at the address.

The scripts of ``examples/``, run as they are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_digits, load_iris

import surewood
from surewood.parallel import cluster
from tests.cli.command import mistake, run, write

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


NOBODY = "tcp://127.0.0.1:9"


@pytest.fixture
def seen_by_dask(dask_cluster):
    """A function that tells whether tasks came to the scheduler since the test began."""
    before = dask_cluster.scheduler.transition_counter
    return lambda: dask_cluster.scheduler.transition_counter > before


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    X, y = load_digits(return_X_y=True, as_frame=True)
    return write(X.assign(digit=y), tmp_path_factory.mktemp("tables") / "digits.csv")


def fit(digits, out, *more):
    # One block: a search sends nothing here, because each of its steps is too short to be worth it.
    layer = ("--model", "mddf", "--set", 'forests=["random"]', "--set", "n_estimators=200")
    shown = run(
        "fit", digits, "--target", "digit", "--out", out, *layer, "--set", "max_layers=1", "--json", *more
    )
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout), surewood.load(out / "model.surewood")


def test_fit_on_dask_gives_the_same_model(digits, tmp_path, dask_cluster, seen_by_dask):
    here, alone = fit(digits, tmp_path / "here")
    assert not seen_by_dask()
    there, model = fit(digits, tmp_path / "there", "--cluster", dask_cluster.scheduler_address)
    assert seen_by_dask()
    assert there["holdout"] == here["holdout"]
    assert there["certificate"] == here["certificate"]
    X = load_digits(as_frame=True).data
    assert (model.predict_proba(X) == alone.predict_proba(X)).all()


def test_no_dask_scheduler_at_the_address(tmp_path):
    pytest.importorskip("distributed")
    said = mistake("fit", "wine", "--out", tmp_path / "out", "--cluster", NOBODY)
    assert said.startswith(f"--cluster {NOBODY}: no Dask scheduler answers at {NOBODY} (")
    assert not (tmp_path / "out").exists()


def test_a_command_with_an_empty_address():
    assert mistake("fit", "wine", "--cluster", "") == (
        "--cluster : the address of the cluster is empty; give tcp://host:port, ray://host:port or auto."
    )


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow  # starts a cluster
@pytest.mark.parametrize(("script", "needs"), [("dask_fit.py", "distributed"), ("ray_fit.py", "ray")])
def test_the_script_ends_with_the_same_model(script, needs):
    pytest.importorskip(needs, reason=f"examples/{script} needs {needs}")
    shown = subprocess.run(
        [sys.executable, EXAMPLES / script],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=600,
    )
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[-1] == "the same probabilities, bit for bit: True"
    assert "Traceback" not in shown.stderr


def test_every_script_is_tested():
    tested_elsewhere = "demo.py"  # tests/test_demo.py
    scripts = ["dask_fit.py", tested_elsewhere, "ray_fit.py"]
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == scripts
