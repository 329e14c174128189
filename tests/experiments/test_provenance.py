"""Versions, machine and peak memory of a result."""

import re
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


@pytest.mark.skipif(sys.platform != "linux", reason="the peak can be reset on Linux only")
def test_the_peak_follows_what_was_allocated():
    forget_peak_memory()
    before = peak_memory()
    block = np.ones(8_000_000)  # 64 MB, touched
    assert peak_memory() - before > 50e6
    del block
