"""What an input table looks like to the schema, whatever holds it: a column at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

NUMBER, CATEGORY, TIME = "number", "category", "time"
#: Whole numbers up to here are floats, too.
LARGEST_EXACT = 2**53


class Source(ABC):
    """Columns of an input, before anything is known about them."""

    n_rows: int
    n_columns: int
    names: list[str] | None
    array: Any

    @abstractmethod
    def label(self, j: int) -> str:
        """The column's name, or its position."""

    @abstractmethod
    def kind(self, j: int) -> str:
        """Number, category or time."""

    def is_plain_text(self, j: int) -> bool:
        """Whether a category column is text that nobody declared to be categories."""
        return False

    @abstractmethod
    def categories(self, j: int) -> list[Any]:
        """The values of a category column, in code order."""

    @abstractmethod
    def codes(self, j: int, index: pd.Index) -> NDArray[np.float64]:
        """Category codes by an index of the values, NaN where missing or not in it."""

    @abstractmethod
    def numbers(self, j: int) -> NDArray[np.float64]:
        """A number or time column."""

    def rounded_columns(self) -> list[int]:
        """Number columns with whole numbers that a float cannot hold, such as long identifiers."""
        return []

    @abstractmethod
    def refuse_infinities(self, is_number: list[bool]) -> None:
        """Raise where a number column has one."""
