"""A messy table and a model fitted on it, shared by the tests of the commands."""

import json

import pytest

from tests.cli.command import QUICK, messy_frame, run, write


@pytest.fixture(scope="session")
def messy(tmp_path_factory):
    """A messy CSV, as some spreadsheet wrote it, and a model fitted on it."""
    folder = tmp_path_factory.mktemp("messy")
    path = write(messy_frame(), folder / "Kunden.csv", sep=";", encoding="cp1252", decimal=",")
    return folder, path


@pytest.fixture(scope="session")
def fitted(messy):
    folder, path = messy
    shown = run("fit", path, "--target", "treu?", *QUICK, "--out", folder / "model", "--json")
    assert shown.returncode == 0, shown.stderr
    return folder / "model", json.loads(shown.stdout)
