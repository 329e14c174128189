"""A checksum of what a data set says, whatever file, number type or order of rows it comes in."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd

_ROWS_PER_BLOCK = 4096
_MISSING = b"\xff"  # no UTF-8 text contains it


def content_sha256(frame: pd.DataFrame) -> str:
    """SHA-256 of the column names and of the rows, sorted.

    A row is its numbers as float64 (missing: NaN) followed by its texts in UTF-8. Two frames with the same
    names, values and kinds of columns agree even if one has int8 where the other has float64, or another
    order of rows.

    Examples
    --------
    >>> import pandas as pd
    >>> a = pd.DataFrame({"x": [1, 2], "target": ["no", "yes"]})
    >>> content_sha256(a) == content_sha256(a.iloc[::-1].astype({"x": "float32"}))
    True
    >>> content_sha256(a) == content_sha256(a.assign(x=[2, 1]))
    False
    """
    is_number = {name: pd.api.types.is_numeric_dtype(frame[name].dtype) for name in frame.columns}
    numbers = [name for name, yes in is_number.items() if yes]
    texts = [name for name, yes in is_number.items() if not yes]
    header = "\n".join(f"{name}\t{'number' if yes else 'text'}" for name, yes in is_number.items())
    digests: list[bytes] = []
    for start in range(0, len(frame), _ROWS_PER_BLOCK):
        block = frame.iloc[start : start + _ROWS_PER_BLOCK]
        digests += _row_digests(block[numbers], block[texts])
    whole = hashlib.sha256(header.encode() + b"\n")
    for digest in sorted(digests):
        whole.update(digest)
    return whole.hexdigest()


def _row_digests(numbers: pd.DataFrame, texts: pd.DataFrame) -> list[bytes]:
    matrix = numbers.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0  # -0.0 becomes 0.0
    matrix[np.isnan(matrix)] = np.nan  # of the many NaN, one
    matrix = np.ascontiguousarray(matrix, dtype="<f8")
    words = [
        [_MISSING if missing else str(value).encode() for value, missing in zip(column, column.isna())]
        for _, column in texts.items()
    ]
    cells = list(zip(*words)) if words else [()] * len(matrix)
    return [hashlib.sha256(row.tobytes() + b"\0".join(own)).digest() for row, own in zip(matrix, cells)]
