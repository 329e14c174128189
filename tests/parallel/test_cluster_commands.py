"""``--cluster ADDRESS``: the same model and the same numbers there as here; nobody at the address."""

import json

import pytest
from sklearn.datasets import load_digits

import surewood
from tests.cli.command import mistake, run, write
from tests.cli.tiny_reproduction import finish, numbers

NOBODY = "tcp://127.0.0.1:9"
#: The sets of the tests are so small that nothing would be sent; results do not depend on either number.
SEND_SMALL_WORK = """
import surewood.svm.dual, surewood.parallel.remote
surewood.parallel.remote.LEAST_SECONDS = 5e-4
surewood.svm.dual._CHUNK_WORK = 1e6
"""


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
    small = ("--model", "mddf", "--set", "n_estimators=30", "--set", "max_layers=2", "--json")
    shown = run("fit", digits, "--target", "digit", "--out", out, *small, *more)
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


def test_reproduce_on_dask_gives_the_same_numbers(tmp_path, dask_cluster, seen_by_dask):
    finish(tmp_path / "here", "--sets", "wdbc")
    assert not seen_by_dask()
    address = dask_cluster.scheduler_address
    finish(tmp_path / "there", "--sets", "wdbc", "--cluster", address, before=SEND_SMALL_WORK)
    assert seen_by_dask()
    assert numbers(tmp_path / "there") == numbers(tmp_path / "here")


@pytest.mark.parametrize("command", [["fit", "wine"], ["reproduce", "cascades"]], ids=["fit", "reproduce"])
def test_no_dask_scheduler_at_the_address(command, tmp_path):
    pytest.importorskip("distributed")
    said = mistake(*command, "--out", tmp_path / "out", "--cluster", NOBODY)
    assert said.startswith(f"--cluster {NOBODY}: no Dask scheduler answers at {NOBODY} (")
    assert not (tmp_path / "out").exists()


def test_an_empty_address():
    assert mistake("fit", "wine", "--cluster", "") == (
        "--cluster : the address of the cluster is empty; give tcp://host:port, ray://host:port or auto."
    )
