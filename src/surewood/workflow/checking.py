"""Columns that give the target away, found before the fit: `check_table`.

A leak makes every number of a fit true and useless: the certificate holds for rows that leak alike, and the
rows of tomorrow do not. Each check names its column, the evidence and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from surewood.certify.columns import as_times
from surewood.tables import DataError, TablePreparer

LEAST_ROWS = 20  # below this nearly everything looks like a pattern
HEAD = 500  # rows that tell most columns from a leak
MOST_ROWS, FEWEST_ROWS, MOST_VALUES = 4000, 400, 500_000  # that judge single columns
#: A column is suspicious where it leaves at most this fraction of the baseline's errors. In 22 well-known
#: tables the best single column leaves 5.8 % (petal width of iris), the next 20 %; a copy of the outcome with
#: typing errors in one row of two hundred leaves 1 %.
REMAINING = 0.01
LEAST_ERRORS = 30  # errors of the baseline below which "almost none remain" is no evidence
LEAVES_PER_CLASS = 8
LATER = 0.5  # fraction of dates after the row's own time above which a column is from the future
_ID_NAME = re.compile(
    r"(^|[^a-z])(id|ids|uuid|guid|index|idx|key|nr|no|number|row|rownum|rowid)([^a-z]|$)", re.I
)


@dataclass(frozen=True)
class Finding:
    """Something about a column that its owner should look at before a fit.

    Attributes
    ----------
    column : str
    kind : {"target", "row number", "identifier", "predicts alone", "later date"}
    evidence : str
        What was seen.
    advice : str
        What to do about it.

    Examples
    --------
    >>> import pandas as pd
    >>> from surewood.workflow import check_table
    >>> frame = pd.DataFrame({"size": [3, 1, 2, 5] * 10, "paid": ["yes", "no"] * 20})
    >>> finding, = check_table(frame, ["good", "bad"] * 20)
    >>> finding.column, finding.kind
    ('paid', 'target')
    """

    column: str
    kind: str
    evidence: str
    advice: str

    def __str__(self) -> str:
        return f"check column {self.column!r}: {self.evidence}; {self.advice}."

    def to_dict(self) -> dict[str, str]:
        """Plain values."""
        return asdict(self)


def check_table(
    X: pd.DataFrame,
    y: Any,
    *,
    time: Any = None,
    row_numbers: Any = None,
    random_state: int = 0,
) -> list[Finding]:
    """Look for columns that give the target away or only name the row.

    Parameters
    ----------
    X : DataFrame
        Features as they stand in the table.
    y : array-like
        Labels.
    time : str or array, optional
        The time of each row, or its column: dates after it were not known then.
    row_numbers : array of int, optional
        Numbers of the rows in their file; by default in the given order.
    random_state : int, default=0
        Which rows judge a single column.

    Returns
    -------
    list of Finding
        The most serious of each column, in the order of the columns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> frame = pd.DataFrame({"size": rng.normal(size=200), "outcome": np.where(y == 1, "paid", "lost")})
    >>> from surewood import workflow
    >>> [print(finding) for finding in workflow.check_table(frame, y)]  # doctest: +ELLIPSIS
    check column 'outcome': its values are the classes under other names; leave it out (drop=outcome).
    [None]
    """
    labels = pd.Series(np.asarray(y, dtype=object)).reset_index(drop=True)
    X = X.reset_index(drop=True)
    if len(X) != len(labels):
        raise ValueError(f"y must have one label per row ({len(X)}), got {len(labels)}")
    if len(X) < LEAST_ROWS or X.shape[1] == 0:
        return []
    numbers = np.arange(len(X)) if row_numbers is None else np.asarray(row_numbers)
    times = None if time is None else as_times(time, X, len(X))
    found: dict[str, Finding] = {}
    for name in X.columns:
        finding = _of_values(str(name), X[name], labels, numbers)
        if finding is None and times is not None and not (isinstance(time, str) and name == time):
            finding = _later_date(str(name), X[name], times)
        if finding is not None:
            found[str(name)] = finding
    rest = X[[name for name in X.columns if str(name) not in found]]
    for finding in _predicting_alone(rest, labels, random_state):
        found.setdefault(finding.column, finding)
    return [found[str(name)] for name in X.columns if str(name) in found]


def _of_values(name: str, column: pd.Series, y: pd.Series, numbers: NDArray[Any]) -> Finding | None:
    """What the values alone show; a column whose first rows show nothing is not read further."""
    head = column[:HEAD]
    if _equal_to_target(name, head, y[:HEAD]) is not None:
        finding = _equal_to_target(name, column, y)
        if finding is not None:
            return finding
    if _row_number(name, head, y[:HEAD], numbers[:HEAD]) is not None:
        finding = _row_number(name, column, y, numbers)
        if finding is not None:
            return finding
    return _identifier(name, column) if head.nunique() == len(head) else None


def _drop(name: str) -> str:
    return f"leave it out (drop={name})"


def _equal_to_target(name: str, column: pd.Series, y: pd.Series) -> Finding | None:
    """A column whose values and the classes correspond one to one."""
    known = column.notna().to_numpy()
    if known.mean() < 0.99:
        return None
    values = pd.factorize(column[known].astype(str))[0]
    classes = pd.factorize(y[known])[0]
    n_classes, n_values = len(np.unique(classes)), len(np.unique(values))
    if n_values != n_classes:
        return None
    if len(np.unique(values.astype(np.int64) * n_classes + classes)) != n_classes:
        return None
    same = bool((column[known].astype(str).to_numpy() == y[known].astype(str).to_numpy()).all())
    evidence = "it equals the target" if same else "its values are the classes under other names"
    return Finding(name, "target", evidence, _drop(name))


def _whole_numbers(column: pd.Series) -> NDArray[np.int64] | None:
    """The column as integers, where it has no missing values and no fractions."""
    if pd.api.types.is_bool_dtype(column.dtype) or column.isna().any():
        return None
    values = pd.to_numeric(column, errors="coerce")
    if values.isna().any() or not np.isfinite(values.to_numpy(dtype=float)).all():
        return None
    if (values % 1 != 0).any() or float(np.abs(values).max()) > 2**53:
        return None
    return np.asarray(values.astype(np.int64))


def _row_number(name: str, column: pd.Series, y: pd.Series, numbers: NDArray[Any]) -> Finding | None:
    """Integers that count the rows of the file, up or down."""
    values = _whole_numbers(column)
    if values is None:
        return None
    up, down = values - numbers, values + numbers
    if not ((up == up[0]).all() or (down == down[0]).all()):
        return None
    changes = int((y.to_numpy()[1:] != y.to_numpy()[:-1]).sum())
    sorted_rows = ", and the rows are sorted by the target" if changes == y.nunique() - 1 else ""
    return Finding(name, "row number", f"it counts the rows of the file{sorted_rows}", _drop(name))


def _identifier(name: str, column: pd.Series) -> Finding | None:
    """A value of its own for every row: all whole numbers of a range, or distinct and named like an id."""
    if column.nunique() < len(column):
        return None
    values = _whole_numbers(column)
    if values is not None and int(values.max() - values.min()) + 1 == len(values):
        first, last = int(values.min()), int(values.max())
        evidence = f"every number from {first} to {last} occurs once, as in a list of names"
        return Finding(name, "identifier", evidence, _drop(name))
    text = not pd.api.types.is_numeric_dtype(column.dtype) and not _is_date(column)
    if (values is not None or text) and _ID_NAME.search(name):
        evidence = "every row has a value of its own, and the name says identifier"
        return Finding(name, "identifier", evidence, _drop(name))
    return None


def _is_date(column: pd.Series) -> bool:
    return bool(pd.api.types.is_datetime64_any_dtype(column.dtype))


def _later_date(name: str, column: pd.Series, times: NDArray[np.float64]) -> Finding | None:
    """A date column that is mostly later than the row's own time."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return None
    known = column.notna().to_numpy()
    if not known.any():
        return None
    try:
        moments = as_times(column[known].to_numpy(), None, int(known.sum()))
    except ValueError:
        return None
    later = float((moments > times[known]).mean())
    if later <= LATER:
        return None
    evidence = f"{100 * later:.0f} % of its dates are after the time of the row"
    return Finding(name, "later date", evidence, f"it was not known then; {_drop(name)}")


def _predicting_alone(X: pd.DataFrame, y: pd.Series, random_state: int) -> Iterator[Finding]:
    """Columns that predict nearly every label: learned on half of the rows, judged on the other half."""
    if X.shape[1] == 0:
        return
    n_rows = min(MOST_ROWS, max(FEWEST_ROWS, MOST_VALUES // X.shape[1]))
    order = np.random.default_rng(random_state).permutation(len(X))[:n_rows]
    X, codes = X.iloc[order].reset_index(drop=True), pd.factorize(y.iloc[order])[0]
    try:
        preparer = TablePreparer().fit(X)
    except DataError:  # no usable column
        return
    learn, judge = np.arange(len(X) // 2), np.arange(len(X) // 2, len(X))
    majority = np.bincount(codes[learn]).argmax()
    baseline = int((codes[judge] != majority).sum())
    if baseline < LEAST_ERRORS:
        return
    prepared = preparer.transform(X)
    for name in prepared.columns:
        predicted = _one_column(prepared[name], codes, learn, judge, int(majority))
        errors = int((predicted != codes[judge]).sum())
        if errors <= REMAINING * baseline:
            origin = next((str(c) for c in X.columns if name == c or name.startswith(f"{c}: ")), str(name))
            evidence = (
                f"alone it predicts {len(judge) - errors:,} of {len(judge):,} rows that were not used to "
                f"learn from it (majority class: {len(judge) - baseline:,})"
            )
            advice = f"if it is only known after the target, {_drop(origin)}"
            yield Finding(origin, "predicts alone", evidence, advice)


def _one_column(
    column: pd.Series, codes: NDArray[Any], learn: NDArray[Any], judge: NDArray[Any], majority: int
) -> NDArray[Any]:
    """Predictions from one column: a small tree on a number, the majority class of a category."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=np.float64)[:, None]
        values = np.clip(values, -1e30, 1e30)  # trees work in single precision
        leaves = LEAVES_PER_CLASS * len(np.unique(codes))
        tree = DecisionTreeClassifier(max_leaf_nodes=leaves, min_samples_leaf=2, random_state=0)
        return np.asarray(tree.fit(values[learn], codes[learn]).predict(values[judge]))
    values = pd.factorize(column.astype(object))[0] + 1  # missing values are 0
    counts = np.zeros((int(values.max()) + 1, int(codes.max()) + 1), dtype=np.int64)
    np.add.at(counts, (values[learn], codes[learn]), 1)
    best = np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), majority)
    return np.asarray(best[values[judge]])
