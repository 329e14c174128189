"""``surewood report``: files, claims with commas, JSON."""

import json

from tests.cli.command import messy_frame, run, write


def test_report_end_to_end(tmp_path):
    frame = messy_frame(300)
    first, second = write(frame[:150], tmp_path / "a.csv"), write(frame[150:], tmp_path / "b.csv")
    options = ("--model", "mddf", "--set", "n_estimators=5", "--set", "max_layers=1", "--n-jobs", "1")
    fitted = run("fit", first, "--target", "treu?", *options, "--out", tmp_path / "m")
    assert fitted.returncode == 0, fitted.stderr
    assert (tmp_path / "m" / "card.md").exists()
    shown = run("report", tmp_path / "m", second, "--claim", "error,recall:ja", "--out", tmp_path / "new")
    assert shown.returncode == 0, shown.stderr
    assert "card.md" in shown.stdout
    assert "recall of 'ja'" in shown.stdout
    plain = run("report", tmp_path / "m", second, "--out", tmp_path / "new", "--json")
    assert json.loads(plain.stdout)["format"] == 2
