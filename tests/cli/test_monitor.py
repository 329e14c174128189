"""``surewood monitor``: exit codes and what is printed."""

import json

from tests.cli.command import messy_frame, mistake, run, write


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
    assert said.endswith("this batch was seen before; adding it again would count the same rows twice.")
