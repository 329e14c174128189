"""The five commands that gave false guarantees, as a new user types them."""

import json

import numpy as np
import pandas as pd
import pytest

from surewood import PolySVC
from surewood.certify import certify
from tests.cli.command import run
from tests.promises.population import NOISE, draw
from tests.promises.tables import QUICK, fit, frame, write


def command(*arguments, **options):
    shown = run(*arguments, "--json", **options)
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def values(certificate):
    """Values of all guarantees of the error."""
    return [entry["value"] for entry in certificate["entries"] if entry["status"] == "GUARANTEE"]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("five")
    path = write(frame(400, 0), folder / "train.csv")
    command("fit", path, "--target", "y", "--holdout", 0, *QUICK, "--out", folder / "model")
    return folder


def test_a_file_of_copied_rows(tmp_path):
    copied = pd.concat([frame(300, 1)] * 5).sample(frac=1.0, random_state=1)
    path = write(copied, tmp_path / "copied.csv")
    found = command("fit", path, "--target", "y", *QUICK, "--out", tmp_path / "model")
    assert all(value >= NOISE for value in values(found["certificate"]))
    assert any(entry["n"] == 60 for entry in found["certificate"]["entries"])


def test_a_holdout_that_is_half_training_rows(fitted):
    half = pd.concat([frame(400, 0).head(196), frame(204, 2)])
    found = command("certify", fitted / "model", write(half, fitted / "half.csv"))
    assert len(values(found)) >= 1
    assert all(value >= NOISE for value in values(found))
    assert [entry["n"] for entry in found["entries"] if entry["status"] == "GUARANTEE"] == [204]
    assert "196 of 400" in found["facts"][0]


def test_the_training_rows_themselves(fitted):
    found = command("certify", fitted / "model", fitted / "train.csv")
    assert values(found) == []


def test_a_class_of_weight_zero():
    X, y = draw(400, 0)
    model = PolySVC(degree=1, class_weight={0: 1.0, 1: 0.0}).fit(X, y)
    assert all(entry.value >= 0.5 for entry in certify(model).guarantees)


def test_rows_are_not_moved_by_their_label(tmp_path):
    rows = frame(400, 3)
    held = fit(write(rows, tmp_path / "rows.csv")).holdout_rows.tolist()
    rare = rows.assign(y=np.where(np.isin(np.arange(400), held[:2]), "rare", rows["y"]))
    path = write(rare, tmp_path / "rare.csv")
    found = command("fit", path, "--target", "y", *QUICK, "--out", tmp_path / "model")
    assert found["holdout_rows"] == 80
    assert found["holdout"]["error"] >= 2 / 80
    assert any("class 'rare' has no training row" in note for note in found["notes"])
