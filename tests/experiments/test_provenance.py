"""Versions, machine and peak memory of a result."""

import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from surewood.experiments import provenance
from surewood.experiments.provenance import commit, forget_peak_memory, machine, peak_memory, versions


def test_versions_name_python_and_what_numbers_depend_on():
    found = versions()
    assert found["numpy"] == np.__version__
    assert {"python", "surewood", "scikit-learn"} <= set(found)
    assert "cores" in machine()


def test_the_commit_is_that_of_a_checkout_or_unknown(monkeypatch, tmp_path):
    assert re.fullmatch(r"([0-9a-f]{12}\+?)?", commit())
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "provenance.py"))
    assert commit.__wrapped__() == ""


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_mark_tells_that_code_or_protocols_were_changed(monkeypatch, tmp_path):
    code = tmp_path / "src" / "surewood" / "experiments" / "provenance.py"
    protocol, results = (tmp_path / "papers" / "toy" / name for name in ("protocol.toml", "results.csv"))
    for path in (code, protocol, results):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("first\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.setattr(provenance, "__file__", str(code))
    (code.parent / "notes.txt").write_text("a local file\n")
    results.write_text("records of the run before\n")
    clean = commit.__wrapped__()
    assert re.fullmatch(r"[0-9a-f]{12}", clean)
    protocol.write_text("other sizes\n")
    assert commit.__wrapped__() == f"{clean}+"


@pytest.mark.skipif(sys.platform != "linux", reason="the peak can be reset on Linux only")
def test_the_peak_follows_what_was_allocated():
    forget_peak_memory()
    before = peak_memory()
    block = np.ones(8_000_000)  # 64 MB, touched
    assert peak_memory() - before > 50e6
    del block
