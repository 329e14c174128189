"""Which batch is which: a key that does not depend on the order of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from surewood.tables import content_hashes
from surewood.tables.mixing import splitmix64

__all__ = ["batch_key"]


def batch_key(X: Any) -> str:
    """A key of the rows' contents.

    Examples
    --------
    >>> batch_key([[1.0, 2.0], [3.0, 4.0]]) == batch_key([[3.0, 4.0], [1.0, 2.0]])
    True
    >>> batch_key([[1.0, 2.0]]) == batch_key([[1.0, 2.0], [1.0, 2.0]])
    False
    """
    hashes = np.asarray(splitmix64(content_hashes(X)), dtype=np.uint64)
    return f"{hashes.size}-{int(hashes.sum(dtype=np.uint64)):016x}"
