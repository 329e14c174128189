"""Freed memory is kept only where the environment asks glibc to give it back at once."""

import ctypes

import pytest

from surewood.parallel import kept_memory as module


class Library:
    """Records what is asked of malloc."""

    def __init__(self):
        self.calls = []

    def mallopt(self, name, value):
        self.calls.append((name, value))

    def malloc_trim(self, pad):
        self.calls.append(("trim", pad))


def test_thresholds_are_set_and_put_back(monkeypatch):
    library = Library()
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    with module.kept_memory():
        assert library.calls == [(-3, 32 << 20), (-1, 128 << 20)]
    assert library.calls[2:] == [(-1, 65536), (-3, 128 << 10), ("trim", 0)]


@pytest.mark.parametrize("value", ["", "many"])
def test_elsewhere_nothing_is_touched(monkeypatch, value):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", value)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: pytest.fail("malloc was touched"))
    with module.kept_memory():
        pass
