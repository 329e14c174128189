"""What a fitted classifier remembers of its training rows: hashes that recognise copies ([D-33], [D-34])."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import check_array, check_number
from surewood.tables import FitInputs, content_hashes, table_content_hashes
from surewood.tables.mixing import splitmix64

_DIGESTED_ROWS = 256


@dataclass(frozen=True)
class RememberedRows:
    """Sorted hashes of the contents of all rows that a fit was given, rows of weight 0 included.

    Two contents are equal when they agree after rounding numbers to 6 significant digits and stripping text.

    Examples
    --------
    >>> from surewood import BinnedForestClassifier
    >>> X = [[0.1, 1.0], [0.2, 2.0], [0.3, 3.0]]
    >>> rows = BinnedForestClassifier(2).fit(X, [0, 1, 1]).remembered_rows_
    >>> rows.contains([[0.2 + 1e-9, 2.0], [0.2, 2.5]])
    array([ True, False])
    """

    #: Ascending, each content once.
    hashes: NDArray[np.uint64]
    #: A digest of the training data, so that hashes of models of different data cannot be compared and the
    #: same fit gives the same model.
    salt: int
    #: Rows of the training table.
    n_rows: int
    #: Their columns, where the training table had names.
    columns: list[str] | None
    #: Rows of the fit that a warm start went on from, where they were others.
    earlier: RememberedRows | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Refuse what no fit remembers: a file may hold anything."""
        self.__dict__.update(state)
        check_array(self.hashes, "hashes", np.uint64, 1)
        if (self.hashes[1:] <= self.hashes[:-1]).any():
            raise ValueError("hashes of rows must ascend.")
        check_number("salt", self.salt, 0, 2**64 - 1, whole=True)
        check_number("n_rows", self.n_rows, len(self.hashes), 2**63 - 1, whole=True)
        names = self.columns
        if names is not None and not (isinstance(names, list) and all(isinstance(n, str) for n in names)):
            raise ValueError("columns must be a list of names.")

    @classmethod
    def of(cls, inputs: FitInputs) -> RememberedRows:
        """Remember the rows of a fit."""
        return cls.with_hashes(inputs)[0]

    @classmethod
    def with_hashes(cls, inputs: FitInputs) -> tuple[RememberedRows, NDArray[np.uint64]]:
        """The same, and the hash of each row that the fit was given."""
        assert inputs.given is not None
        salt = _digest(inputs)
        hashes = table_content_hashes(inputs.given, inputs.schema, salt=salt)
        return cls(_distinct(hashes), salt, len(hashes), inputs.schema.names), hashes

    @classmethod
    def from_table(cls, X: Any, salt: int | None = None) -> RememberedRows:
        """Remember the rows of a table: for models of other libraries."""
        salt = secrets.randbits(63) if salt is None else salt
        hashes = content_hashes(X, salt=salt)
        names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        return cls(_distinct(hashes), salt, len(hashes), names)

    @property
    def n_contents(self) -> int:
        """Different contents among the rows."""
        return len(self.hashes)

    def also(self, X: Any) -> RememberedRows:
        """Remember the rows of another table too, one with the same columns, such as rows used for tuning.

        Examples
        --------
        >>> rows = RememberedRows.from_table(np.array([[1.0], [2.0]])).also(np.array([[2.0], [3.0]]))
        >>> rows.n_contents, rows.n_rows
        (3, 4)
        """
        more = content_hashes(X, salt=self.salt, columns=self.columns)
        hashes = _distinct(np.concatenate([self.hashes, more]))
        return replace(self, hashes=hashes, n_rows=self.n_rows + len(more))

    def after(self, earlier: RememberedRows | None) -> RememberedRows | None:
        """Remember the rows of an earlier fit too, whose trees are still there; None where it forgot them.

        Examples
        --------
        >>> first, second = (RememberedRows.from_table(np.array([[x]])) for x in (1.0, 2.0))
        >>> second.after(first).contains(np.array([[1.0], [2.0], [3.0]]))
        array([ True,  True, False])
        """
        if earlier is None:
            return None
        same = earlier.salt == self.salt and np.array_equal(earlier.hashes, self.hashes)
        return replace(self, earlier=earlier.earlier if same else earlier)

    def contains(self, X: Any) -> NDArray[np.bool_]:
        """Which rows of a table have the content of a remembered row.

        Parameters
        ----------
        X : table
            Whatever an estimator takes; columns are found by name where both tables have names.
        """
        found = content_hashes(X, salt=self.salt, columns=self.columns)
        known = np.zeros(len(found), dtype=bool) if self.earlier is None else self.earlier.contains(X)
        if len(self.hashes) == 0:
            return known
        place = np.minimum(np.searchsorted(self.hashes, found), len(self.hashes) - 1)
        return np.asarray(known | (self.hashes[place] == found))


def _distinct(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each hash once, ascending: `np.unique`, which takes five times as long."""
    ordered = np.sort(hashes)
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]] if len(ordered) else ordered


def _digest(inputs: FitInputs) -> int:
    """A number that other training data would hardly share: of some rows, and of the size of each class.

    Equal rows were merged in an order of their content, so for most estimators the order of the rows does not
    matter here either. A streamed table is read up to its first rows only.
    """
    _, part = next(iter(inputs.table.batches()))
    rows = part.take(np.arange(min(part.n_rows, _DIGESTED_ROWS)))
    counts = np.bincount(inputs.y, minlength=inputs.n_classes)
    assert inputs.given is not None
    sizes = np.array([inputs.given.n_rows, *counts], dtype=np.uint64)
    word = np.uint64(0)
    for own in (*sizes, *table_content_hashes(rows, inputs.schema)):
        word = np.uint64(splitmix64(word ^ own))
    return int(word >> np.uint64(1))
