"""How much each column adds to predictions: Shapley values, as every classifier reports them.

Rows are compared with background rows: a sample of the training rows, or rows that the user gives. A pool of
both (:class:`MatrixPool`, :class:`FramePool`) makes mixed rows from their cells.

Values of trees are exact where a family has them; otherwise orders of the columns are sampled
(:mod:`~surewood.base.sampled_values`).
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood._arrays import AnyArray, Counts, Floats
from surewood.base.folds import draw_seed
from surewood.base.notebook import bars, framed
from surewood.base.sampled_values import default_orders, sample_values
from surewood.base.wording import cell_text, points_text
from surewood.tables import ColumnReader, Table, TrainingTable, begin_predict, column_names, plain
from surewood.tables.planning.dates import date_text
from surewood.tables.schema import category_counts
from surewood.tables.workspace import available_memory


class RowPool(Protocol):
    """Rows from which mixed rows are made."""

    columns: list[str]

    def codes(self) -> Counts:
        """Numbers of the cells, shape (n_pool, n_columns): the same for equal cells of a column."""
        ...

    def mixed(self, at: Counts) -> Any:
        """Rows whose cell in column j is that of row ``at[:, j]`` of the pool."""
        ...


class MatrixPool:
    """Rows of one matrix.

    Examples
    --------
    >>> pool = MatrixPool(np.array([[1.0, 2.0]]), np.array([[1.0, 5.0]]), ["a", "b"])
    >>> pool.codes().tolist(), pool.mixed(np.array([[0, 1]])).tolist()
    ([[0, 0], [0, 1]], [[1.0, 5.0]])
    """

    def __init__(self, rows: AnyArray, background: AnyArray, columns: list[str]) -> None:
        self.values = np.concatenate([rows, background])
        self.columns = columns

    def codes(self) -> Counts:
        """Numbers of the cells."""
        by_column = [pd.factorize(column, use_na_sentinel=False)[0] for column in self.values.T]
        return np.array(by_column, dtype=np.int64).reshape(self.values.shape[1], -1).T

    def mixed(self, at: Counts) -> AnyArray:
        """Rows with cells of the pool's rows."""
        return np.take_along_axis(self.values, at, axis=0)


class FramePool:
    """Rows of a frame; every column keeps its type.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [20, 40], "job": ["clerk", "baker"]})
    >>> FramePool(frame[:1], frame[1:]).mixed(np.array([[0, 1]])).values.tolist()
    [[20, 'baker']]
    """

    def __init__(self, rows: pd.DataFrame, background: pd.DataFrame) -> None:
        self.columns = [str(name) for name in rows.columns]
        self._names = rows.columns
        self._values = [_joined(rows.iloc[:, j], background.iloc[:, j]) for j in range(rows.shape[1])]

    def codes(self) -> Counts:
        """Numbers of the cells."""
        by_column = [pd.factorize(column, use_na_sentinel=False)[0] for column in self._values]
        return np.array(by_column, dtype=np.int64).T

    def mixed(self, at: Counts) -> pd.DataFrame:
        """Rows with cells of the pool's rows."""
        taken = {j: column.take(at[:, j]) for j, column in enumerate(self._values)}
        frame = pd.DataFrame(taken, copy=False)
        frame.columns = self._names
        return frame


def _joined(rows: pd.Series, background: pd.Series) -> Any:
    """Two columns one after the other, in the type of the first where both have the same."""
    kinds = (rows.dtype, background.dtype)
    if kinds[0] != kinds[1] and all(isinstance(kind, pd.CategoricalDtype) for kind in kinds):
        return pd.api.types.union_categoricals([rows, background], ignore_order=True)
    return pd.concat([rows, background], ignore_index=True).array


BACKGROUND_ROWS = 200
_BACKGROUND_VALUES = 100_000
_FEWEST_ROWS = 20


def draw_background(inputs: TrainingTable, hashes: NDArray[np.uint64]) -> AnyArray:
    """A sample of the rows of a fit, as the engines read them; the same in whatever order the rows came.

    Rows are put into the order of their hashes and taken at even distances, so contents with many copies
    come up as often as they should.

    Parameters
    ----------
    inputs : TrainingTable
    hashes : ndarray of uint64
        Hash of the content of each row of ``inputs.given``.

    Returns
    -------
    ndarray, shape (at most 200 rows, n_columns)
        float32 where nothing is lost, else float64; fewer rows of wide tables.
    """
    n_rows = background_size(len(hashes), inputs.given.n_columns)
    places = (np.arange(n_rows) * len(hashes)) // max(n_rows, 1)
    rows = np.argpartition(hashes, places)[places] if n_rows else places
    rows_kept = np.asarray(inputs.given.take(rows).matrix())
    with np.errstate(over="ignore"):
        single = rows_kept.astype(np.float32)
    return single if np.array_equal(single, rows_kept, equal_nan=True) else rows_kept


def background_size(n_rows: int, n_columns: int) -> int:
    """Rows that a model keeps of its training table.

    Examples
    --------
    >>> background_size(1000, 20), background_size(50, 20), background_size(1000, 1000)
    (200, 50, 100)
    """
    wide = max(_FEWEST_ROWS, _BACKGROUND_VALUES // max(n_columns, 1))
    return min(n_rows, BACKGROUND_ROWS, wide)


def check_kept(kept: Any, n_categories: NDArray[np.int64], n_columns: int) -> None:
    """Refuse rows of a model file that are no table of the model's columns.

    Examples
    --------
    >>> check_kept(np.array([[0.5, 3.0]]), np.array([0, 2]), 2)
    Traceback (most recent call last):
    ValueError: background_ has a category that the model does not know.
    """
    if not isinstance(kept, np.ndarray) or kept.dtype.kind != "f" or kept.shape[1:] != (n_columns,):
        raise ValueError(f"background_ must be a matrix of numbers with {n_columns} columns.")
    if np.isinf(kept).any():
        raise ValueError("background_ must have no infinite values.")
    codes, count = kept[:, n_categories > 0], n_categories[n_categories > 0]
    valid = np.isnan(codes) | ((codes >= 0) & (codes < count) & (codes == np.floor(codes)))
    if not valid.all():
        raise ValueError("background_ has a category that the model does not know.")


def check_columns(name: str, X: Any, names: list[str] | None, n_columns: int) -> None:
    """Refuse rows with other columns than the training table, in one sentence.

    Examples
    --------
    >>> check_columns("background", np.zeros((2, 3)), None, 4)
    Traceback (most recent call last):
    ValueError: background must have the 4 columns of the training table, got 3.
    """
    names_given = [str(column) for column in getattr(X, "columns", ())] or None
    if names_given is not None and names is not None:
        absent = [column for column in names if column not in names_given]
        if absent:
            raise ValueError(f"{name} must have the columns of the training table; it lacks {absent[0]!r}.")
        extra = [column for column in names_given if column not in names]
        if extra:
            raise ValueError(f"{name} has a column {extra[0]!r} that the training table does not have.")
    shape = np.shape(X)
    if len(shape) == 2 and shape[1] != n_columns:
        raise ValueError(f"{name} must have the {n_columns} columns of the training table, got {shape[1]}.")
    if len(shape) and shape[0] == 0:
        raise ValueError(f"{name} has no rows.")


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
        Value in each row and column; None where it is missing.
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
        """The columns that matter most for the prediction of a row, as JSON-serializable values.

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
            ``column``, ``value`` (that of the row), ``contribution`` (to the probability) and
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
        contributions = self.values[row, :, k]
        order = np.argsort(-np.abs(contributions), kind="stable")[:limit]
        return [
            {
                "column": self.columns[j],
                "value": plain(self.cells[row][j]),
                "contribution": float(contributions[j]),
                "standard_error": float(self.standard_error[row, j, k]),
            }
            for j in order
            if contributions[j] != 0
        ]

    def _class_of(self, row: int, label: Any) -> int:
        """Position of a label, by default of the predicted one."""
        if label is None:
            return int(self.predictions[row].argmax())
        return class_position(self.classes, label)

    def because(self, row: int, label: Any = None, limit: int = TOP_COLUMNS) -> dict[str, Any]:
        """Why a row has its probability, as JSON-serializable values: what ``explain`` begins with.

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
            "others": total - sum(column["contribution"] for column in columns),
            "n_others": len(self.columns) - len(columns),
            "method": self.method,
        }

    def _shown(self) -> Iterator[tuple[str, float, list[dict[str, Any]]]]:
        """Headline, mean prediction in percent and top columns of the first rows."""
        for row in range(min(len(self), _ROWS_SHOWN)):
            k = int(self.predictions[row].argmax())
            headline = f"row {row}: {self.classes[k]} {100 * self.predictions[row, k]:.1f} %"
            yield headline, 100 * self.expected[k], self.top(row)

    def _repr_html_(self) -> str:
        """The first rows with the page's look, for notebooks."""
        pieces = []
        for headline, mean, columns in self._shown():
            drawn = [
                (
                    f"{column['column']} = {cell_text(column['value'])}",
                    0.0,
                    100 * column["contribution"],
                    "leaf" if column["contribution"] >= 0 else "warn",
                    points_text(column["contribution"]),
                )
                for column in columns
            ]
            pieces.append(f"<h4>{escape(headline)}</h4><p class='soft'>mean {mean:.1f} %</p>{bars(drawn)}")
        if len(self) > _ROWS_SHOWN:
            pieces.append(f"<p class='soft'>{len(self) - _ROWS_SHOWN:,} more rows</p>")
        return framed(f"Contributions of columns, {self.method}", "".join(pieces))

    def __repr__(self) -> str:
        n_rows, n_columns, n_classes = self.values.shape
        lines = [
            f"Contributions of {n_columns} columns to the probabilities of {n_classes} classes, "
            f"{n_rows} rows, {self.method}"
        ]
        for headline, mean, columns in self._shown():
            pieces = [
                f"{column['column']} = {cell_text(column['value'])}: {points_text(column['contribution'])}"
                for column in columns
            ]
            lines.append(f"{headline}, mean {mean:.1f} %; {', '.join(pieces)}")
        return "\n".join([*lines, "..."] if n_rows > _ROWS_SHOWN else lines)


def class_position(classes: AnyArray, label: Any) -> int:
    """Position of a label among the classes; one sentence where it is not there.

    Examples
    --------
    >>> class_position(np.array(["no", "yes"]), "yes")
    1
    """
    labels = [plain(value) for value in classes]
    if plain(label) in labels:
        return labels.index(plain(label))
    shown = ", ".join(str(value) for value in labels[:8]) + (", ..." if len(labels) > 8 else "")
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
    positions: dict[str, list[int]] = {}
    for j, column in enumerate(columns):
        positions.setdefault(owner.get(column, column), []).append(j)
    return list(positions), list(positions.values())


_CELLS_SHOWN = 8  # of a group of columns
Groups = Mapping[str, Sequence[str]] | None


@dataclass(frozen=True)
class OpenedRows:
    """Rows of a table, perhaps with background rows, and the model that predicts mixtures of them."""

    #: The rows, then the background.
    pool: RowPool
    #: Probabilities of rows as the pool makes them.
    predict: Callable[[Any], Floats]
    #: Rows that are no background.
    n_rows: int
    classes: AnyArray
    #: What stands in the rows, as a user would say it.
    cells: Callable[[], list[list[Any]]]
    #: The classifier.
    model: Any = None

    def predict_mixed(self, at: Counts) -> Floats:
        """Probabilities of rows whose cell in column j is that of row ``at[:, j]`` of the pool."""
        return np.asarray(self.predict(self.pool.mixed(at)), dtype=np.float64)


def pool_contributions(
    opened: OpenedRows, groups: Groups, n_orders: int | None, random_state: Any
) -> Contributions:
    """Sampled contributions."""
    names, positions = group_positions(opened.pool.columns, groups)
    refuse_too_many(opened.n_rows, len(names), len(opened.classes))
    codes = opened.pool.codes()
    n_background = len(codes) - opened.n_rows
    if n_orders is None:
        n_orders = default_orders(opened.n_rows, len(names), n_background)
    elif not isinstance(n_orders, numbers.Integral) or n_orders < 2:
        raise ValueError(f"n_orders must be a whole number >= 2, got {n_orders!r}.")
    n_orders, seed = min(int(n_orders), n_background), draw_seed(random_state)
    values, errors, expected = sample_values(
        opened.predict_mixed, codes, opened.n_rows, positions, n_orders, seed
    )
    cells = grouped_cells(opened.cells(), positions)
    return Contributions(values, expected, errors, names, opened.classes, cells, "sampled")


def table_contributions(
    model: Any, X: Any, background: Any, groups: Groups, n_orders: int | None, random_state: Any
) -> Contributions:
    """Contributions of one of our classifiers, on tables as the engines read them."""
    others = background_matrix(model, background)
    opened = table_pool(model, X, others)
    names, positions = group_positions(opened.pool.columns, groups)
    tables = begin_predict(model, X), begin_predict(model, X).with_values(others)
    values = model._exact_values(*tables, positions)
    if values is None:
        return pool_contributions(opened, groups, n_orders, random_state)
    expected = model.predict_proba(tables[1]).mean(axis=0)
    cells = grouped_cells(opened.cells(), positions)
    return Contributions(values, expected, np.zeros_like(values), names, opened.classes, cells, "exact")


def table_pool(model: Any, X: Any, background: Floats | None = None) -> OpenedRows:
    """Rows for one of our classifiers, as the engines read them."""
    if not hasattr(model, "predict_proba"):
        name = type(model).__name__
        raise ValueError(f"only probabilities can be explained; fit {name} with calibrate=True.")
    table = begin_predict(model, X)
    names = column_names(model.schema_, model.n_features_in_)
    refuse_too_many(table.n_rows, len(names), len(model.classes_))
    rows = np.asarray(table.matrix(), dtype=np.float64)
    pool = MatrixPool(rows, np.empty((0, rows.shape[1])) if background is None else background, names)

    def predict(values: Any) -> Floats:
        probabilities: Floats = model.predict_proba(table.with_values(np.ascontiguousarray(values)))
        return probabilities

    reader = ColumnReader(table, model.schema_)

    times = [kind == "time" for kind in model.schema_.kinds]

    def cell(row: int, j: int) -> Any:
        value = reader.actual(row, j)
        return date_text(value / 86_400) if value is not None and times[j] else value

    def cells() -> list[list[Any]]:
        return [[cell(row, j) for j in range(len(names))] for row in range(len(rows))]

    return OpenedRows(pool, predict, len(rows), np.asarray(model.classes_), cells, model)


def background_matrix(model: Any, background: Any) -> Floats:
    """Background rows as the engines read them: the given ones, or those that the model keeps."""
    if background is None:
        kept = getattr(model, "background_", None)
        if kept is None or len(kept) == 0:
            raise ValueError(
                "this model keeps no rows to compare with (it was fitted with remember_rows=False); "
                "give background, such as 200 rows of the training table."
            )
        check_kept(kept, category_counts(model.schema_), model.n_features_in_)
        return np.asarray(kept, dtype=np.float64)
    if not isinstance(background, Table):
        check_columns("background", background, model.schema_.names, model.n_features_in_)
    return np.asarray(begin_predict(model, background).matrix(), dtype=np.float64)


def grouped_cells(cells: list[list[Any]], positions: Sequence[Sequence[int]]) -> list[list[Any]]:
    """Cells by group of columns: that of a single column, text of those of several.

    Examples
    --------
    >>> grouped_cells([[30, 1999, 2]], [[0], [1, 2]])
    [[30, '1999, 2']]
    """
    return [
        [row[group[0]] if len(group) == 1 else _several(row, group) for group in positions] for row in cells
    ]


def _several(row: list[Any], group: Sequence[int]) -> str:
    more = ", ..." if len(group) > _CELLS_SHOWN else ""
    return ", ".join(str(row[j]) for j in group[:_CELLS_SHOWN]) + more


def refuse_too_many(n_rows: int, n_columns: int, n_classes: int) -> None:
    """Refuse contributions that do not fit into memory, in one sentence."""
    needed, free = 3 * 8 * n_rows * n_columns * n_classes, available_memory()
    if free is not None and needed > free:
        raise ValueError(
            f"contributions of {n_rows:,} rows need about {needed / 2**20:.0f} MiB of memory, of which "
            f"{free / 2**20:.0f} MiB are available; explain fewer rows at a time."
        )
