"""``surewood certify``, ``report`` and ``monitor``: guarantees from tables, files, exit codes."""

from __future__ import annotations

import json

from tests.cli.command import QUICK, messy_frame, mistake, run, write


def test_certify_notices_training_rows(tmp_path):
    path = write(messy_frame(90), tmp_path / "t.csv")
    assert run("fit", path, "--target", "treu?", *QUICK, folder=tmp_path).returncode == 0
    shown = run("certify", "surewood-t", path, folder=tmp_path)
    assert shown.returncode == 0
    assert "No guarantee: 72 of 90 holdout rows are training rows" in " ".join(shown.stdout.split())
    fresh = write(messy_frame(60, seed=5), tmp_path / "fresh.csv")
    shown = run("certify", "surewood-t", fresh, folder=tmp_path)
    assert "GUARANTEE" in shown.stdout
    assert "No guarantee" not in shown.stdout
    said = mistake("certify", "surewood-t", fresh, "--target", "Stadt", folder=tmp_path)
    assert said.startswith(
        f"{fresh}: the target 'Stadt' holds 'Málaga', 'Köln', 'Århus', none of the model's"
    )
    assert said.endswith("classes ('ja', 'nein'); is it the right column?")
    shown = run("predict", "surewood-t", fresh, "-o", "new/answers.csv", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert (tmp_path / "new" / "answers.csv").is_file()
    assert mistake("explain", "surewood-t", fresh, "--row", "62", folder=tmp_path) == (
        f"there is no row on line 62 of {fresh}; its 60 rows stand on lines 2 to 61."
    )


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


def test_exit_code_3_on_an_alarm(fitted, tmp_path):
    model, _ = fitted
    quiet = write(messy_frame(120, seed=21), tmp_path / "june.csv")
    options = ("--state", tmp_path / "s.json", "--limit", "0.3")
    shown = run("monitor", model, quiet, *options)
    assert shown.returncode == 0, shown.stderr
    assert "No alarm." in shown.stdout
    frame = messy_frame(400, seed=22)
    frame["treu?"] = frame["treu?"].map({"ja": "nein", "nein": "ja"})
    loud = write(frame, tmp_path / "july.csv")
    shown = run("monitor", model, loud, *options, "--json", "--page", tmp_path / "page.html")
    assert shown.returncode == 3
    assert json.loads(shown.stdout)["error_alarm"] is True
    assert (tmp_path / "page.html").is_file()
    said = mistake("monitor", model, loud, *options)
    assert said.endswith("this batch was seen before; adding it again would count the same rows twice (other "
                         "rows with the same values belong in one batch with later rows).")  # fmt: skip
