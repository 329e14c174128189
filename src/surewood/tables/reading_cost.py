"""Memory that reading a table takes, counted before it is read."""

from __future__ import annotations

_COLUMNS_AT_ONCE = 32  # columns that are read from a table together, as float64
_COPIES = 1.5  # of them: as they are read, and in part as they are hashed or binned
_BYTES_PER_ROW = 120  # hashes, sort order, weights, class codes and where each row went


def reading_bytes(n_rows: int, n_columns: int) -> float:
    """Memory for checking a table, merging its equal rows and reading it some columns at a time.

    Examples
    --------
    >>> from surewood.tables import reading_bytes
    >>> reading_bytes(1000, 10) > 1000 * 10 * 8
    True
    """
    return n_rows * (_BYTES_PER_ROW + _COPIES * 8.0 * min(n_columns, _COLUMNS_AT_ONCE))
