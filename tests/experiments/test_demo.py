"""``make demo`` on the smallest bundled set: the table, the page and the JSON."""

import json
import os
import subprocess
import sys


def test_demo_as_a_stranger_runs_it(tmp_path):
    environment = {**os.environ}
    environment.pop("SUREWOOD_DATA", None)
    shown = subprocess.run(
        [sys.executable, "-m", "surewood.experiments.demo", "--data", "wine", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    assert shown.returncode == 0, shown.stderr
    assert "binned forest" in shown.stdout
    summary = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    floor = next(row for row in summary["results"] if row["floor"])
    for row in summary["results"]:
        assert row["error"] <= row["guarantee"] <= 1
        if row["ours"]:
            assert row["error"] < floor["error"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert summary["certificate"]["sentence"] in page
    assert [family["summary"]["model"]["title"] for family in summary["families"]] == [
        "Random composite forest",
        "Deep cascade SVM",
        "Margin deep forest",
    ]
    assert page.count("Inside the ") == 3


def test_a_wrong_name_is_one_sentence(tmp_path):
    shown = subprocess.run(
        [sys.executable, "-m", "surewood.experiments.demo", "--data", "irsi", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert shown.returncode == 2
    assert shown.stderr == "there is no data set called 'irsi'; did you mean iris?\n"
