"""Available memory is a plausible number.

Thresholds of malloc while a bundle runs: set, and put back even after an error.
"""

from __future__ import annotations

import ctypes
import os
from types import SimpleNamespace

import pytest

from surewood.parallel.memory import available_memory, kept_memory


def test_available_memory_is_a_plausible_number():
    assert available_memory() is None or 1 << 20 < available_memory() < 1 << 50


@pytest.fixture
def calls(monkeypatch):
    made = []
    library = SimpleNamespace(
        mallopt=lambda name, value: made.append((name, value)), malloc_trim=lambda n: made.append("trim")
    )
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    return made


@pytest.mark.skipif(os.name != "posix", reason="malloc's thresholds exist on POSIX systems only")
def test_the_wanted_threshold_is_put_back_and_free_memory_returned(calls, monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    with pytest.raises(KeyError), kept_memory():
        raise KeyError
    assert calls[:2] == [(-3, 32 << 20), (-1, 128 << 20)]
    assert calls[2:] == [(-1, 65536), (-3, 128 << 10), "trim"]


@pytest.mark.parametrize("value", ["", "no number"])
def test_nothing_is_touched_where_the_environment_asks_for_nothing(calls, monkeypatch, value):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", value)
    with kept_memory():
        pass
    assert calls == []
