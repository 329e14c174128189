"""``surewood explain`` and ``importances``: models, predictions and columns in words."""

from __future__ import annotations

import json

import pytest

from tests.cli.command import messy_frame, run, write


@pytest.mark.parametrize("family", ["rcf", "cascade"])
def test_the_other_families_end_to_end(tmp_path, family):
    path = write(messy_frame(100), tmp_path / "t.csv")
    small = {"rcf": ["--set", "n_estimators=4"], "cascade": ["--set", "max_leaves=1"]}[family]
    shown = run("fit", path, "--target", "treu?", "--model", family, *small, "--n-jobs", "1", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    explained = run("explain", "surewood-t", path, "--row", "3", folder=tmp_path)
    assert explained.returncode == 0, explained.stderr
    assert "Nearest support vectors" in explained.stdout
    assert (
        explained.stdout.index("Prediction:")
        < explained.stdout.index("Because")
        < explained.stdout.index("Nearest")
    )
    assert " points" in explained.stdout
    assert "of t.csv" in explained.stdout or f"of {path}" in explained.stdout
    overview = run("explain", "surewood-t", folder=tmp_path)
    assert "degrees" in overview.stdout
    assert "Certificate" in overview.stdout


def test_as_text_and_as_json(tmp_path):
    path = write(messy_frame(160), tmp_path / "t.csv")
    small = ("--model", "rcf", "--set", "n_estimators=4", "--n-jobs", "1")
    assert run("fit", path, "--target", "treu?", *small, folder=tmp_path).returncode == 0
    fresh = write(messy_frame(120, seed=3), tmp_path / "may.csv")
    shown = run("importances", "surewood-t", fresh, "--repeats", "2", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "Increase of log-loss when a column is shuffled (ESTIMATE)" in shown.stdout
    assert "95 % interval" in shown.stdout
    options = ("--metric", "error", "--json")
    found = json.loads(run("importances", "surewood-t", fresh, *options, folder=tmp_path).stdout)
    assert {one["column"] for one in found["columns"]} == {"Âge", "Stadt", "seit", "Einkommen €"}
    assert (found["metric"], found["rows"]) == ("error", 120)
