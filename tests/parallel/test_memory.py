"""Available memory is a plausible number."""

from surewood.parallel.memory import available_memory


def test_available_memory_is_a_plausible_number():
    assert available_memory() is None or 1 << 20 < available_memory() < 1 << 50
