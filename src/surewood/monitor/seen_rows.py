"""Rows that a monitor has counted, so that batches which overlap are not counted twice.

One 64-bit word per content: a hash of the row whose lowest bit says whether the row was counted with a label.
Rows that come first without a label and later with one count once for the shift and once for the error.
"""

from __future__ import annotations

import base64

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Mask
from surewood.tables import content_hashes

__all__ = ["SeenRows"]

_SALT = 0x5EE2
_LABEL = np.uint64(1)


class SeenRows:
    """Which contents were counted, with or without a label.

    Examples
    --------
    >>> seen = SeenRows()
    >>> rows = SeenRows.hashes([[0.1, 0.2], [0.3, 0.4], [0.1, 0.2]])
    >>> seen.new(rows, labelled=False).tolist()
    [True, True, False]
    >>> seen.remember(rows, np.array([True, False, False]))
    >>> seen.new(rows, labelled=False).tolist(), seen.new(rows, labelled=True).tolist()
    ([False, False, False], [False, True, False])
    >>> SeenRows(seen.text()).new(rows, labelled=True).tolist()
    [False, True, False]
    """

    def __init__(self, text: str = "") -> None:
        try:
            self._words = np.frombuffer(base64.b64decode(text, validate=True), dtype="<u8").astype(np.uint64)
        except ValueError:
            raise ValueError("hashes of rows must be 64-bit words in base 64") from None
        if (self._words[1:] >> _LABEL <= self._words[:-1] >> _LABEL).any():
            raise ValueError("hashes of rows must ascend")

    @staticmethod
    def hashes(X: object, columns: list[str] | None = None) -> NDArray[np.uint64]:
        """Hashes of rows; of the named columns in their order, where the table has names."""
        return np.asarray(content_hashes(X, salt=_SALT, columns=columns) & ~_LABEL)

    def new(self, hashes: NDArray[np.uint64], *, labelled: bool, among: Mask | None = None) -> Mask:
        """Which rows `among` these were not counted yet; of equal rows the first."""
        words = self._words[self._words & _LABEL > 0] if labelled else self._words
        found = ~np.isin(hashes, words & ~_LABEL) & (True if among is None else among)
        rows = np.flatnonzero(found)
        first = np.zeros(len(hashes), dtype=bool)
        first[rows[np.unique(hashes[rows], return_index=True)[1]]] = True
        return first

    def remember(self, hashes: NDArray[np.uint64], labelled: Mask) -> None:
        """Remember that rows were counted."""
        words = np.concatenate([self._words, hashes | labelled.astype(np.uint64)])
        words = np.unique(words)
        last = np.r_[words[1:] >> _LABEL != words[:-1] >> _LABEL, True] if len(words) else words.astype(bool)
        self._words = words[last]  # of two that differ in the label's bit, the one that has it

    def text(self) -> str:
        """The words as text: eleven characters per row."""
        return base64.b64encode(self._words.astype("<u8").tobytes()).decode("ascii")
