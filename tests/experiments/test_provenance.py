"""Versions, machine and peak memory of a result."""

import sys

import numpy as np
import pytest

from surewood.experiments.provenance import forget_peak_memory, machine, peak_memory, versions


def test_versions_name_python_and_what_numbers_depend_on():
    found = versions()
    assert found["numpy"] == np.__version__
    assert {"python", "surewood", "scikit-learn"} <= set(found)
    assert "cores" in machine()


@pytest.mark.skipif(sys.platform != "linux", reason="the peak can be reset on Linux only")
def test_the_peak_follows_what_was_allocated():
    forget_peak_memory()
    before = peak_memory()
    block = np.ones(8_000_000)  # 64 MB, touched
    assert peak_memory() - before > 50e6
    del block
