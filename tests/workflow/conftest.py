"""A small model that `fit` wrote, shared by the tests of this folder."""

import pytest

from surewood import workflow
from tests.cli.command import messy_frame

SMALL = {"n_estimators": 5, "max_layers": 1}


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "customers.csv"
    messy_frame(120).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def fitted(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    return workflow.fit(table, target="treu?", model="mddf", parameters=SMALL, n_jobs=1, out=folder)


@pytest.fixture(scope="session")
def folder(fitted):
    return fitted.files["model"].parent
