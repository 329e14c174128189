"""Memory for reading a table."""

from surewood.tables.reading_cost import reading_bytes


def test_memory_grows_with_rows_and_stops_growing_with_columns():
    assert reading_bytes(2000, 10) == 2 * reading_bytes(1000, 10)
    assert reading_bytes(1000, 5) < reading_bytes(1000, 10) < reading_bytes(1000, 32)
    assert reading_bytes(1000, 32) == reading_bytes(1000, 10_000)
