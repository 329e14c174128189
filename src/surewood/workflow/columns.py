"""The columns of a table before a fit: what the user decides about them, and which give the target away.

:class:`ColumnOptions` makes the plan of the columns from the user's words over what the values suggest.
:func:`check_table` looks for leaks. A leak makes every number of a fit true and useless: the certificate
holds for rows that leak alike, and the rows of tomorrow do not. Each finding names its column, the evidence
and what to do.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from surewood.base.base import ClassifierBase
from surewood.certify.holdout import as_times
from surewood.report.quality import area_under_curve
from surewood.tables import ColumnPlan, DataError, TablePlan, TablePreparer, plan
from surewood.tables.planning.finding import Hints, find_column
from surewood.tables.planning.table_plan import completed, identifier_plan
from surewood.tables.preparing import as_frame


@dataclass(frozen=True)
class ColumnOptions:
    """What the user decides about columns.

    Attributes
    ----------
    plan : TablePlan or None
        An edited plan, which the other options change.
    drop, identifiers : tuple of str
        Columns not to use; columns that name a row, kept beside predictions.
    categorical, numeric, date : tuple of str
        Columns whose kind is known.
    missing : tuple of str
        Further texts that mean a missing value; ``"COLUMN=TEXT"`` in one column.
    decimal : {".", ","} or None
        The decimal mark, where the table leaves it open.

    Examples
    --------
    >>> options = ColumnOptions(categorical=("zip",), drop=("x",))
    >>> made = options.make_plan(pd.DataFrame({"zip": [10115, 80331, 10115], "x": [1, 2, 4], "y": [3, 5, 4]}))
    >>> [(column.name, column.kind) for column in made.columns]
    [('zip', 'category'), ('x', 'drop'), ('y', 'number')]
    """

    plan: TablePlan | None = None
    drop: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    decimal: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise DataError(f"decimal={self.decimal} is not a decimal mark; it is . or a comma.")
        named: dict[str, str] = {}
        groups = {
            "drop": self.drop,
            "id": self.identifiers,
            "categorical": self.categorical,
            "numeric": self.numeric,
            "date": self.date,
        }
        for option, names in groups.items():
            for name in names:
                if named.setdefault(name, option) != option:
                    raise DataError(f"column {name!r} is named twice ({named[name]}= and {option}=).")

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns that are no features."""
        return (*self.drop, *self.identifiers)

    @property
    def kinds(self) -> dict[str, str]:
        """Kinds that were given, by column."""
        return {
            **dict.fromkeys(self.categorical, "category"),
            **dict.fromkeys(self.numeric, "number"),
            **dict.fromkeys(self.date, "date"),
        }

    def make_plan(self, table: pd.DataFrame) -> TablePlan:
        """The plan of a table."""
        table = as_frame(table)
        if self.plan is None:
            codes, codes_in = self._missing(table.columns)
            return plan(
                table,
                drop=self.drop,
                identifiers=self.identifiers,
                kinds=self.kinds,
                missing=codes,
                missing_in=codes_in,
                decimal=self.decimal,
            )
        return completed(self._changed(self.plan), table)

    def _missing(self, names: Iterable[str]) -> tuple[tuple[str, ...], dict[str, list[str]]]:
        """Texts that mean a missing value in all columns, and in single ones."""
        present = set(names)
        everywhere: list[str] = []
        single: dict[str, list[str]] = {}
        for word in self.missing:
            name, mark, text = word.partition("=")
            if mark and name in present:
                single.setdefault(name, []).append(text)
            else:
                everywhere.append(word)
        return tuple(everywhere), single

    def _changed(self, given: TablePlan) -> TablePlan:
        columns = {column.name: column for column in given.columns}
        columns |= {n: ColumnPlan(n, kind, missing=self.missing) for n, kind in self.kinds.items()}
        columns |= {name: find_column(name, pd.Series(), Hints("drop")) for name in self.drop}
        columns |= {name: identifier_plan(name) for name in self.identifiers}
        return TablePlan(tuple(columns.values()), given.identifiers + self.identifiers)


def read_plan_file(path: str | Path) -> TablePlan:
    """A plan that ``surewood fit --plan`` or a fit wrote."""
    path = Path(path)
    try:
        return TablePlan.from_toml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"there is no plan file {path}.") from None
    except (UnicodeDecodeError, IsADirectoryError) as error:
        raise DataError(f"{path} is not a plan file, which is TOML.") from error
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def names_of(words: str | Iterable[str] | None) -> tuple[str, ...]:
    """Names given with commas, as several words, or both; empty ones left out.

    Examples
    --------
    >>> names_of("id, name"), names_of(["a,b", "c"]), names_of(None)
    (('id', 'name'), ('a', 'b', 'c'), ())
    """
    if words is None:
        return ()
    words = [words] if isinstance(words, str) else words
    return tuple(dict.fromkeys(name.strip() for word in words for name in word.split(",") if name.strip()))


LEAST_ROWS = 20  # below this nearly everything looks like a pattern
HEAD = 500  # rows that tell most columns from a leak
MOST_ROWS, FEWEST_ROWS, MOST_VALUES = 4000, 400, 500_000  # that judge single columns
#: A column is suspicious where it leaves at most this fraction of the baseline's errors. In 22 well-known
#: tables the best single column leaves 5.8 % (petal width of iris), the next 20 %; a copy of the outcome with
#: typing errors in one row of two hundred leaves 1 %.
REMAINING = 0.01
MOST_AREA = 0.999  # area under the ROC curve, of two classes, from which a single column is suspicious
LEAST_ERRORS = 30  # errors of the baseline below which "almost none remain" is no evidence
LEAVES_PER_CLASS = 8
LATER = 0.5  # fraction of dates after the row's own time above which a column is from the future
_ID_NAME = re.compile(
    r"(^|[^a-z])(id|ids|uuid|guid|index|idx|key|nr|no|number|row|rownum|rowid)([^a-z]|$)", re.I
)


@dataclass(frozen=True)
class Finding:
    """A warning about a column, to be looked at before a fit.

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
    preparer: TablePreparer | None = None,
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
    preparer : TablePreparer, optional
        One that has learned the columns of the table; by default they are learned from some of the rows.

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
    rest = [name for name in X.columns if str(name) not in found]
    if rest:
        found |= _predicting_alone(X, rest, labels, preparer)
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
    return f"leave it out (drop={shlex.quote(name)})"


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


def _predicting_alone(
    X: pd.DataFrame, names: list[Any], y: pd.Series, preparer: TablePreparer | None
) -> dict[str, Finding]:
    """Columns that predict nearly every label: learned on half of the rows, judged on the other half."""
    n_rows = min(MOST_ROWS, max(FEWEST_ROWS, MOST_VALUES // len(names)))
    order = np.random.default_rng(0).permutation(len(X))[:n_rows]
    X, codes = X.iloc[order].reset_index(drop=True), pd.factorize(y.iloc[order])[0]
    learn, judge = np.arange(len(X) // 2), np.arange(len(X) // 2, len(X))
    majority = np.bincount(codes[learn]).argmax()
    baseline = int((codes[judge] != majority).sum())
    if baseline < LEAST_ERRORS or codes.max() >= ClassifierBase._most_classes:  # a fit will refuse them
        return {}
    if preparer is None:
        try:
            preparer = TablePreparer().fit(X)
        except DataError:  # no usable column
            return {}
    prepared = preparer.prepare(X)
    suspicious: dict[str, Finding] = {}
    for origin in [str(name) for name in names if str(name) in preparer.columns_]:
        for part in preparer.parts_.get(origin, [origin]):
            predicted, scores = _one_column(prepared[part], codes, learn, judge, int(majority))
            errors = int((predicted != codes[judge]).sum())
            two = codes.max() == 1
            area = max(area_under_curve(score, codes[judge] == 1) or 0.0 for score in scores) if two else 0.0
            if errors > REMAINING * baseline and area < MOST_AREA:
                continue
            evidence = (
                f"alone it predicts {len(judge) - errors:,} of {len(judge):,} rows that were not used to "
                f"learn from it (majority class: {len(judge) - baseline:,})"
            )
            evidence += f" and has an AUC of {area:.4f}" if area >= MOST_AREA else ""
            advice = f"if it is only known after the target, {_drop(origin)}"
            suspicious.setdefault(origin, Finding(origin, "predicts alone", evidence, advice))
    return suspicious


def _one_column(
    column: pd.Series, codes: NDArray[Any], learn: NDArray[Any], judge: NDArray[Any], majority: int
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Predictions from one column, by a small tree on a number or by category, and scores for class 1."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=np.float64)[:, None]
        values = np.clip(values, -1e30, 1e30)  # trees work in single precision
        leaves = LEAVES_PER_CLASS * len(np.unique(codes))
        tree = DecisionTreeClassifier(max_leaf_nodes=leaves, min_samples_leaf=2, random_state=0)
        proba = tree.fit(values[learn], codes[learn]).predict_proba(values[judge])
        filled = np.nan_to_num(values[judge, 0])
        return tree.classes_[proba.argmax(axis=1)], [proba[:, -1], filled, -filled]
    values = pd.factorize(column.astype(object))[0] + 1  # missing values are 0
    counts = np.zeros((int(values.max()) + 1, int(codes.max()) + 1), dtype=np.int64)
    np.add.at(counts, (values[learn], codes[learn]), 1)
    best = np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), majority)
    score = counts[:, -1] / np.maximum(counts.sum(axis=1), 1)
    return best[values[judge]], [score[values[judge]]]
