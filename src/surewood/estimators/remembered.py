"""What a fitted classifier remembers of its training rows: hashes that recognise copies ([D-33], [D-34])."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import check_array, check_number
from surewood.tables import FitInputs, content_hashes, table_content_hashes, table_hash_pairs
from surewood.tables.mixing import splitmix64

_DIGESTED_ROWS = 256
#: Significant digits of numbers in equal contents, and in contents that are alike.
_EQUAL, _ALIKE = 6, 2


@dataclass(frozen=True)
class RememberedRows:
    """Sorted hashes of the contents of all rows that a fit was given, rows of weight 0 included.

    Two contents are equal when they agree after rounding numbers to 6 significant digits and stripping text,
    and alike when they agree after rounding to 2.

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
    #: Ascending, one for each content: its hash with fewer digits. None in files of earlier versions.
    rough: NDArray[np.uint64] | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Refuse what no fit remembers: a file may hold anything."""
        self.__dict__.update(state)
        check_array(self.hashes, "hashes", np.uint64, 1)
        if (self.hashes[1:] <= self.hashes[:-1]).any():
            raise ValueError("hashes of rows must ascend.")
        if self.rough is not None:
            check_array(self.rough, "rough hashes", np.uint64, 1)
            if len(self.rough) != len(self.hashes) or (self.rough[1:] < self.rough[:-1]).any():
                raise ValueError("rough hashes of rows must ascend, one for each content.")
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
        hashes, rough = table_hash_pairs(inputs.given, inputs.schema, (_EQUAL, _ALIKE), salt)
        distinct, of_each = _distinct(hashes, rough)
        return cls(distinct, salt, len(hashes), inputs.schema.names, rough=of_each), hashes

    @classmethod
    def from_table(cls, X: Any, salt: int | None = None) -> RememberedRows:
        """Remember the rows of a table: for models of other libraries."""
        salt = secrets.randbits(63) if salt is None else salt
        hashes, rough = (content_hashes(X, digits, salt) for digits in (_EQUAL, _ALIKE))
        names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        distinct, of_each = _distinct(hashes, rough)
        return cls(distinct, salt, len(hashes), names, rough=of_each)

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
        more, rough = (content_hashes(X, digits, self.salt, self.columns) for digits in (_EQUAL, _ALIKE))
        new = ~_among(self.hashes, more)
        added, of_added = _distinct(more[new], rough[new])
        return replace(
            self,
            hashes=np.sort(np.concatenate([self.hashes, added])),
            n_rows=self.n_rows + len(more),
            rough=None if self.rough is None else np.sort(np.concatenate([self.rough, of_added])),
        )

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
        found = _among(self.hashes, content_hashes(X, _EQUAL, self.salt, self.columns))
        return found if self.earlier is None else found | self.earlier.contains(X)

    def resembles(self, X: Any) -> NDArray[np.bool_]:
        """Which rows agree with a remembered row in two significant digits of every number, and in all text.

        Examples
        --------
        >>> rows = RememberedRows.from_table(np.array([[1.234, 5.678]]))
        >>> rows.resembles(np.array([[1.23, 5.68], [1.3, 5.68]]))
        array([ True, False])
        """
        rough = np.empty(0, dtype=np.uint64) if self.rough is None else self.rough
        found = _among(rough, content_hashes(X, _ALIKE, self.salt, self.columns))
        return found if self.earlier is None else found | self.earlier.resembles(X)

    @property
    def n_alike(self) -> int | None:
        """Contents that are alike another one of them; None where that was not remembered."""
        if self.rough is None:
            return None
        same = np.r_[False, self.rough[1:] == self.rough[:-1], False]
        return int((same[1:] | same[:-1])[: len(self.rough)].sum())


def _among(ascending: NDArray[np.uint64], found: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which of these hashes are among the ascending ones."""
    if len(ascending) == 0:
        return np.zeros(len(found), dtype=bool)
    place = np.minimum(np.searchsorted(ascending, found), len(ascending) - 1)
    return np.asarray(ascending[place] == found)


def _distinct(
    hashes: NDArray[np.uint64], rough: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Each hash once, ascending, and the rough hashes of these rows, ascending too."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    first = np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)]
    return ordered[first], np.sort(rough[order[first]])


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
