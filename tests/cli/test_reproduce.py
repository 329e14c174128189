"""``surewood reproduce``: stopped three times and resumed, it gives the numbers of an uninterrupted run."""

import json
import os
import signal
import sys
import time

import pytest
from typer.testing import CliRunner

from surewood.cli import app
from tests.cli.tiny_reproduction import finish, numbers, start


def stop_after(out, n_lines, by, *more):
    """Send a signal as soon as the file has so many lines; returns what was said on standard error."""
    process = start(out, *more)
    file = out / "results.jsonl"
    for _ in range(3000):
        if process.poll() is not None or (file.exists() and file.read_bytes().count(b"\n") >= n_lines):
            break
        time.sleep(0.01)
    process.send_signal(by)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == (-by if by == signal.SIGKILL else 130), "the run ended before it was stopped"
    return errors.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_killed_and_interrupted_and_resumed_the_numbers_are_the_same(tmp_path):
    finish(tmp_path / "whole")
    parts = tmp_path / "parts"
    stop_after(parts, 4, signal.SIGKILL)
    stop_after(parts, 19, signal.SIGKILL, "--resume")
    said = stop_after(parts, 22, signal.SIGINT, "--resume")
    assert "results.jsonl resumes: add --resume to the command" in said
    finish(parts, "--resume")
    assert len(numbers(parts)) == 40
    assert numbers(parts) == numbers(tmp_path / "whole")
    for name in ("results.csv", "table.md", "table.html", "summary.json"):
        assert (parts / name).stat().st_size > 100


def run(*arguments):
    return CliRunner().invoke(app, ["reproduce", *arguments])


def test_unknown_papers_profiles_and_sets_are_one_sentence(tmp_path):
    for arguments, words in (
        (["rfc"], "there is no paper called 'rfc'; there are rcf, cascades, mddf."),
        (["mddf", "--protocol", "official"], "mddf has no protocol 'official'; it has paper."),
        (["rcf", "--profile", "slow"], "rcf has no profile 'slow'; it has quick, standard, full."),
        (
            ["cascades", "--sets", "iris", "--out", str(tmp_path)],
            "cascades has no data set 'iris'; its sets are",
        ),
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert words in result.stderr
        assert "Traceback" not in result.output


def test_without_any_data_there_is_a_line_a_set_and_no_table(tmp_path, monkeypatch):
    monkeypatch.setenv("SUREWOOD_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("SUREWOOD_CACHE", str(tmp_path / "cache"))
    result = run("cascades", "--sets", "splice,a1a", "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert "splice is missing: data set 'splice' was not found" in result.stderr
    assert "none of the data sets is available" in result.stderr


@pytest.mark.needs_data
def test_a_missing_set_is_marked_in_the_table(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    source = os.path.join(os.environ["SUREWOOD_DATA"], "ionosphere.parquet")
    os.symlink(source, folder / "ionosphere.parquet")
    monkeypatch.setenv("SUREWOOD_DATA", str(folder))
    monkeypatch.setenv("SUREWOOD_CACHE", str(tmp_path / "cache"))
    result = run("cascades", "--sets", "splice,ionosphere", "--out", str(tmp_path / "out"), "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    cells = {row[0]: row[1:] for row in summary["tables"][0]["rows"]}
    assert cells.keys() == {"splice", "ionosphere"}  # only those asked for
    assert cells["splice"].count("missing") == 6
    assert "missing" not in cells["ionosphere"]
    reasons = {entry["dataset"]: entry["reason"] for entry in summary["missing"]}
    assert reasons.keys() == {"splice"}
    assert "not found" in reasons["splice"]
    assert "cascades, profile quick: 10 units on 2 data sets. As many units of profile" in result.stderr
    page = (tmp_path / "out" / "table.html").read_text(encoding="utf-8")
    assert "critical distance" in page
