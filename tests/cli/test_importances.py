"""``surewood importances``: a table of columns, or JSON."""

import json

from tests.cli.command import messy_frame, run, write


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
