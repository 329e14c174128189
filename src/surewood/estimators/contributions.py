"""Contributions of columns to predictions, as every classifier reports them: `Contributions`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from surewood._arrays import AnyArray, Floats
from surewood.estimators.notebook import bars, framed
from surewood.estimators.wording import cell_text, points_text
from surewood.tables import plain

TOP_COLUMNS = 5
_ROWS_SHOWN = 3


@dataclass(frozen=True)
class Contributions:
    """How much each column adds to, or takes from, the probability of each class (Shapley values).

    The contributions of a row sum to the difference between its predicted probabilities and `expected`.

    Attributes
    ----------
    values : ndarray, shape (n_rows, n_columns, n_classes)
    expected : ndarray, shape (n_classes,)
        Mean prediction over the background.
    standard_error : ndarray, shape (n_rows, n_columns, n_classes)
        Of the values (ESTIMATE); all 0 where they are exact.
    columns : list of str
    classes : ndarray
    cells : list of list
        What stands in each row and column; None where it is missing.
    method : {"exact", "sampled"}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import BinnedForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = BinnedForestClassifier(20, random_state=0).fit(X, y)
    >>> found = forest.contributions(X[:2])
    >>> found.values.shape, found.columns[2]
    ((2, 4, 3), 'petal length (cm)')
    >>> bool(np.allclose(found.values.sum(axis=1) + found.expected, forest.predict_proba(X[:2])))
    True
    """

    values: Floats
    expected: Floats
    standard_error: Floats
    columns: list[str]
    classes: AnyArray
    cells: list[list[Any]]
    method: str

    def __len__(self) -> int:
        return len(self.values)

    @property
    def predictions(self) -> Floats:
        """Predicted probabilities of the rows: `expected` plus all contributions."""
        return np.asarray(self.expected + self.values.sum(axis=1))

    def of(self, label: Any) -> pd.DataFrame:
        """Contributions to the probability of one class, a row per row and a column per column.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from surewood import BinnedForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> found = BinnedForestClassifier(20, random_state=0).fit(X, y).contributions(X[:2])
        >>> found.of(0).shape
        (2, 4)
        >>> found.of("setosa")
        Traceback (most recent call last):
        ValueError: there is no class 'setosa'; the model's classes are 0, 1, 2.
        """
        return pd.DataFrame(self.values[:, :, class_position(self.classes, label)], columns=self.columns)

    def top(self, row: int, label: Any = None, limit: int = TOP_COLUMNS) -> list[dict[str, Any]]:
        """The columns that matter most for the prediction of a row, as values that JSON knows.

        Parameters
        ----------
        row : int
        label : label, optional
            The class whose probability is explained; the predicted one by default.
        limit : int, default=5
            Most columns.

        Returns
        -------
        list of dict
            ``column``, ``value`` (what stands in the row), ``contribution`` (to the probability) and
            ``standard_error``, largest contribution first; columns that contribute nothing are left out.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from surewood import BinnedForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> found = BinnedForestClassifier(20, random_state=0).fit(X, y).contributions(X[:1])
        >>> first = found.top(0)[0]
        >>> first["column"] in ("x2", "x3"), first["contribution"] > 0
        (True, True)
        """
        k = self._class_of(row, label)
        own = self.values[row, :, k]
        order = np.argsort(-np.abs(own), kind="stable")[:limit]
        return [
            {
                "column": self.columns[j],
                "value": plain(self.cells[row][j]),
                "contribution": float(own[j]),
                "standard_error": float(self.standard_error[row, j, k]),
            }
            for j in order
            if own[j] != 0
        ]

    def _class_of(self, row: int, label: Any) -> int:
        """Position of a label, by default of the predicted one."""
        if label is None:
            return int(self.predictions[row].argmax())
        return class_position(self.classes, label)

    def because(self, row: int, label: Any = None, limit: int = TOP_COLUMNS) -> dict[str, Any]:
        """Why a row has its probability, as values that JSON knows: what ``explain`` begins with.

        The arguments are those of :meth:`top`. The dictionary has ``label``, ``probability``, ``expected``
        (mean prediction), ``columns`` (of :meth:`top`), ``others`` (sum of all other contributions),
        ``n_others`` and ``method``.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from surewood import PolySVC
        >>> X, y = load_wine(return_X_y=True)
        >>> because = PolySVC().fit(X, y).contributions(X[:1]).because(0, limit=2)
        >>> because["label"], len(because["columns"]), because["n_others"]
        (0, 2, 11)
        """
        k = self._class_of(row, label)
        columns = self.top(row, self.classes[k], limit)
        total = float(self.values[row, :, k].sum())
        return {
            "label": plain(self.classes[k]),
            "probability": float(self.predictions[row, k]),
            "expected": float(self.expected[k]),
            "columns": columns,
            "others": total - sum(one["contribution"] for one in columns),
            "n_others": len(self.columns) - len(columns),
            "method": self.method,
        }

    def _repr_html_(self) -> str:
        """The first rows with the page's look, for notebooks."""
        parts = []
        for row in range(min(len(self), _ROWS_SHOWN)):
            k = int(self.predictions[row].argmax())
            head = f"row {row}: {self.classes[k]} {100 * self.predictions[row, k]:.1f} %"
            drawn = [
                (
                    f"{one['column']} = {cell_text(one['value'])}",
                    0.0,
                    100 * one["contribution"],
                    "leaf" if one["contribution"] >= 0 else "warn",
                    points_text(one["contribution"]),
                )
                for one in self.top(row)
            ]
            parts.append(
                f"<h4>{escape(head)}</h4><p class='soft'>mean {100 * self.expected[k]:.1f} %</p>{bars(drawn)}"
            )
        if len(self) > _ROWS_SHOWN:
            parts.append(f"<p class='soft'>{len(self) - _ROWS_SHOWN:,} more rows</p>")
        return framed(f"Contributions of columns, {self.method}", "".join(parts))

    def __repr__(self) -> str:
        rows, columns, classes = self.values.shape
        lines = [
            f"Contributions of {columns} columns to the probabilities of {classes} classes, "
            f"{rows} rows, {self.method}"
        ]
        for row in range(min(rows, _ROWS_SHOWN)):
            k = int(self.predictions[row].argmax())
            parts = [
                f"{one['column']} = {cell_text(one['value'])}: {points_text(one['contribution'])}"
                for one in self.top(row)
            ]
            first = f"row {row}: {self.classes[k]} {100 * self.predictions[row, k]:.1f} %, "
            lines.append(f"{first}mean {100 * self.expected[k]:.1f} %; {', '.join(parts)}")
        if rows > _ROWS_SHOWN:
            lines.append("...")
        return "\n".join(lines)


def class_position(classes: AnyArray, label: Any) -> int:
    """Position of a label among the classes; one sentence where it is not there.

    Examples
    --------
    >>> class_position(np.array(["no", "yes"]), "yes")
    1
    """
    known = [plain(one) for one in classes]
    if plain(label) in known:
        return known.index(plain(label))
    shown = ", ".join(str(one) for one in known[:8]) + (", ..." if len(known) > 8 else "")
    raise ValueError(f"there is no class {label!r}; the model's classes are {shown}.")


def group_positions(columns: Sequence[str], groups: Any) -> tuple[list[str], list[list[int]]]:
    """Names of groups of columns, and the positions of their columns; a column in no group is its own.

    Parameters
    ----------
    columns : list of str
    groups : dict of str to list of str, or None
        Columns that count as one, by the name of the group.

    Examples
    --------
    >>> group_positions(["age", "born: year", "born: month"], {"born": ["born: year", "born: month"]})
    (['age', 'born'], [[0], [1, 2]])
    """
    owner: dict[str, str] = {}
    for name, members in (groups or {}).items():
        for member in [members] if isinstance(members, str) else members:
            if member not in columns:
                raise ValueError(f"groups names a column {member!r} that the table does not have.")
            if member in owner:
                raise ValueError(f"groups names the column {member!r} twice.")
            owner[member] = str(name)
    found: dict[str, list[int]] = {}
    for j, column in enumerate(columns):
        found.setdefault(owner.get(column, column), []).append(j)
    return list(found), list(found.values())
