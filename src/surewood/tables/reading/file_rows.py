"""Rows of several files that were read as one table: each is named by its file and its line there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class FileRows:
    """Where the rows of a table stand, counted from 1 over all files.

    Attributes
    ----------
    files : tuple of str
    units : tuple of str
        What the numbers of each file count: "line" or "row".
    ends : ndarray of int
        Rows of all files up to the end of each.
    numbers : ndarray of int
        The number that its file gives each row.

    Examples
    --------
    >>> lines = np.array([2, 3])
    >>> rows = FileRows.of([("data/a.csv", "line", lines), ("data/b.csv", "line", lines + 1)])
    >>> rows.name(2), rows.name(4)
    ('a.csv line 3', 'b.csv line 4')
    """

    files: tuple[str, ...]
    units: tuple[str, ...]
    ends: NDArray[np.int64]
    numbers: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[tuple[str, str, NDArray[np.int64]]]) -> FileRows:
        """Of files with the unit and the numbers of their rows; files of one name keep their folders."""
        paths = [path for path, _, _ in parts]
        seen = Counter(Path(path).name for path in paths)
        names = [path if seen[Path(path).name] > 1 else Path(path).name for path in paths]
        ends = np.cumsum([len(numbers) for _, _, numbers in parts], dtype=np.int64)
        units = tuple(unit for _, unit, _ in parts)
        return cls(tuple(names), units, ends, np.concatenate([numbers for _, _, numbers in parts]))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        texts = (*self.files, *self.units)
        if not all(isinstance(text, str) for text in texts) or len(self.files) != len(self.units):
            raise ValueError("the files of the rows have names that are none.")
        whole = all(isinstance(a, np.ndarray) and a.dtype.kind == "i" for a in (self.ends, self.numbers))
        if not whole or len(self.ends) != len(self.files) or (np.diff(self.ends) < 0).any():
            raise ValueError("the files of the rows have numbers of the wrong type.")
        if len(self.ends) == 0 or self.ends[0] < 0 or self.ends[-1] != len(self.numbers):
            raise ValueError("the files have another number of rows than their table.")

    def name(self, row: int) -> str:
        """File and line of a row."""
        if not 1 <= row <= len(self.numbers):
            return f"row {row}"
        file, unit = self.place(row)
        return f"{file} {unit} {self.numbers[row - 1]}"

    def place(self, row: int) -> tuple[str, str]:
        """File of a row, and what its number there counts."""
        k = int(np.searchsorted(self.ends, row))
        return self.files[k], self.units[k]

    def file_of_each(self) -> list[str]:
        """The file of each row."""
        return np.repeat(self.files, np.diff(self.ends, prepend=0)).tolist()


def row_name(number: int, unit: str, files: FileRows | None) -> str:
    """What to call a row: its line, or its file and its line there.

    Examples
    --------
    >>> row_name(17, "line", None)
    'line 17'
    """
    return f"{unit} {number}" if files is None else files.name(int(number))
