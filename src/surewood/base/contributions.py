"""How much each column adds to predictions: Shapley values, as every classifier reports them.

Rows are compared with background rows: a sample of the training rows, or rows that the user gives. A pool of
both (:class:`MatrixPool`, :class:`FramePool`) makes mixed rows from their cells.

Values of trees are exact where a family has them; otherwise orders of the columns are sampled. For a row x
and a background row b, columns of b are replaced by those of x one after another, in a random order and then
in the reverse one; the change of the prediction at each step goes to its column. The steps of an order sum to
f(x) - f(b). Averaged over background rows this estimates the interventional Shapley value, whose value
function is the mean prediction with some columns of x and the others of the background.

Where fewer background rows are drawn for x than there are, one is drawn from each of as many strata by their
predictions, and f(b), whose mean over the whole background is known, serves as control variate: each column
is regressed on it. Without shrinkage the coefficients would sum to -1, because the steps sum to f(x) - f(b),
and the corrected values to f(x) minus the mean prediction; what shrinkage leaves is divided by size.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood._arrays import AnyArray, Counts, Floats
from surewood.base.folds import draw_seed
from surewood.base.notebook import bars, framed
from surewood.base.wording import cell_text, points_text
from surewood.parallel.memory import available_memory
from surewood.tables import ColumnReader, Table, TrainingTable, begin_predict, column_names, plain
from surewood.tables.schema import category_counts


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
        found = [pd.factorize(column, use_na_sentinel=False)[0] for column in self.values.T]
        return np.array(found, dtype=np.int64).reshape(self.values.shape[1], -1).T

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
        found = [pd.factorize(column, use_na_sentinel=False)[0] for column in self._values]
        return np.array(found, dtype=np.int64).T

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
    assert inputs.given is not None
    n_rows = background_size(len(hashes), inputs.given.n_columns)
    places = (np.arange(n_rows) * len(hashes)) // max(n_rows, 1)
    rows = np.argpartition(hashes, places)[places] if n_rows else places
    found = np.asarray(inputs.given.take(rows).matrix())
    with np.errstate(over="ignore"):
        single = found.astype(np.float32)
    return single if np.array_equal(single, found, equal_nan=True) else found


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
    known = np.isnan(codes) | ((codes >= 0) & (codes < count) & (codes == np.floor(codes)))
    if not known.all():
        raise ValueError("background_ has a category that the model does not know.")


def check_columns(name: str, X: Any, names: list[str] | None, n_columns: int) -> None:
    """Refuse rows with other columns than the training table, in one sentence.

    Examples
    --------
    >>> check_columns("background", np.zeros((2, 3)), None, 4)
    Traceback (most recent call last):
    ValueError: background must have the 4 columns of the training table, got 3.
    """
    own = [str(one) for one in getattr(X, "columns", ())] or None
    if own is not None and names is not None:
        absent = [one for one in names if one not in own]
        if absent:
            raise ValueError(f"{name} must have the columns of the training table; it lacks {absent[0]!r}.")
        extra = [one for one in own if one not in names]
        if extra:
            raise ValueError(f"{name} has a column {extra[0]!r} that the training table does not have.")
    shape = np.shape(X)
    if len(shape) == 2 and shape[1] != n_columns:
        raise ValueError(f"{name} must have the {n_columns} columns of the training table, got {shape[1]}.")
    if len(shape) and shape[0] == 0:
        raise ValueError(f"{name} has no rows.")


EVALUATIONS, EVALUATIONS_PER_ROW = 40_000, (400, 4_000)
LEAST_ORDERS, MOST_ORDERS = 6, 100
_RIDGE = 0.05
_BATCH_VALUES = 4_000_000  # cells of the mixed rows that are predicted at once


def default_orders(n_rows: int, n_columns: int, n_background: int) -> int:
    """Orders per row, each used forwards and backwards.

    Few rows get more predictions each, and a wide table gets fewer orders.

    Examples
    --------
    >>> default_orders(100, 20, 200), default_orders(1, 20, 200), default_orders(100, 1000, 200)
    (10, 100, 6)
    """
    fewest, most = EVALUATIONS_PER_ROW
    evaluations = min(max(EVALUATIONS // max(n_rows, 1), fewest), most)
    wanted = evaluations // (2 * max(n_columns, 1))
    return min(max(LEAST_ORDERS, min(wanted, MOST_ORDERS)), n_background)


@dataclass(frozen=True)
class SampledValues:
    """Estimated Shapley values."""

    #: Shape (n_rows, n_groups, n_classes).
    values: Floats
    standard_error: Floats
    #: Mean prediction of the background. Shape (n_classes,).
    expected: Floats


def sample_values(
    predict: Callable[[Counts], Floats],
    codes: Counts,
    n_rows: int,
    groups: Sequence[Sequence[int]],
    n_orders: int,
    seed: int,
) -> SampledValues:
    """Estimate Shapley values.

    Parameters
    ----------
    predict : callable
        Predictions of mixed rows. A mixed row is given by the pool's row whose cell it has in each column.
    codes : ndarray of int64, shape (n_pool, n_columns)
        The pool: the rows to explain, then the background. Equal cells of a column have equal codes.
    n_rows : int
        Rows to explain.
    groups : list of list of int
        Positions of the columns of each group.
    n_orders : int
        Orders per row, each used forwards and backwards; at most as many as background rows.
    seed : int
    """
    n_background = len(codes) - n_rows
    own = np.arange(len(codes))[:, None] + np.zeros((1, codes.shape[1]), dtype=np.int64)
    fixed = predict(own)
    expected = fixed[n_rows:].mean(axis=0)
    rng = np.random.default_rng(seed)
    values = np.zeros((n_rows, len(groups), fixed.shape[1]))
    errors = np.zeros_like(values)
    steps = max(2 * n_orders * len(groups), 1)
    at_once = max(1, _BATCH_VALUES // (steps * max(codes.shape[1], fixed.shape[1])))
    group_of = np.empty(codes.shape[1], dtype=np.int64)
    for g, columns in enumerate(groups):
        group_of[list(columns)] = g
    hashes = _column_hashes(codes, rng)
    spread = _by_prediction(fixed[n_rows:])
    for begin in range(0, n_rows, at_once):
        rows = np.arange(begin, min(begin + at_once, n_rows))
        drawn = n_rows + spread[_one_per_stratum(len(rows), n_orders, n_background, rng)]
        orders = rng.permuted(np.tile(np.arange(len(groups)), (len(rows), n_orders, 1)), axis=2)
        paths = _Paths(rows, drawn, orders, group_of, hashes)
        found = paths.values(predict, fixed)
        variance = fixed[n_rows:].var(axis=0)
        values[rows], errors[rows] = _combined(found, fixed[drawn], fixed[rows], expected, variance)
    return SampledValues(values, errors, expected)


def _by_prediction(predicted: Floats) -> Counts:
    """Background rows in the order of their predictions, along the direction in which these differ most."""
    apart = predicted - predicted.mean(axis=0)
    _, axes = np.linalg.eigh(apart.T @ apart)
    return np.argsort(apart @ axes[:, -1], kind="stable")


def _one_per_stratum(n_rows: int, n_drawn: int, n_all: int, rng: np.random.Generator) -> Counts:
    """For each row one place out of each of `n_drawn` even parts of `n_all` places, in random order."""
    at = (np.arange(n_drawn) + rng.random((n_rows, n_drawn))) * (n_all / n_drawn)
    return rng.permuted(np.minimum(at.astype(np.int64), n_all - 1), axis=1)


def _column_hashes(codes: Counts, rng: np.random.Generator) -> NDArray[np.uint64]:
    """A random number for each cell of the pool, the same for equal cells of a column."""
    out = np.empty(codes.shape, dtype=np.uint64)
    for j in range(codes.shape[1]):
        keys = rng.integers(0, 2**64 - 1, size=int(codes[:, j].max(initial=0)) + 1, dtype=np.uint64)
        out[:, j] = keys[codes[:, j]]
    return out


def _part(at: tuple[Counts, ...], part: slice) -> tuple[Counts, ...]:
    return tuple(one[part] for one in at)


class _Paths:
    """The mixed rows on the way from background rows to rows, in the given orders and their reverses.

    A mixed row is known by the sum of the numbers of its cells (modulo 2^64): equal ones are predicted once.
    """

    def __init__(
        self,
        rows: Counts,
        drawn: Counts,
        orders: Counts,
        group_of: Counts,
        hashes: NDArray[np.uint64],
    ) -> None:
        self.rows, self.drawn, self.group_of, self.hashes = rows, drawn, group_of, hashes
        self.orders = np.stack([orders, orders[:, :, ::-1]], axis=2)  # row, order, direction, step

    def values(self, predict: Callable[[Counts], Floats], fixed: Floats) -> Floats:
        """Changes of the prediction by group, mean of both directions: (rows, orders, groups, classes)."""
        n_rows, n_orders, _, n_groups = self.orders.shape
        place = np.argsort(self.orders, axis=3)  # step at which each group becomes that of the row
        keys = self._keys()
        inner = keys[..., 1:-1].ravel()
        _, first, inverse = np.unique(inner, return_index=True, return_inverse=True)
        k = fixed.shape[1]
        predicted = np.empty((n_rows, n_orders, 2, n_groups + 1, k))
        predicted[..., 0, :] = fixed[self.drawn][:, :, None]
        predicted[..., -1, :] = fixed[self.rows][:, None, None]
        if len(first):
            shape = (n_rows, n_orders, 2, n_groups - 1)
            at = np.unravel_index(first, shape)
            width = max(1, _BATCH_VALUES // len(self.group_of))  # a wide table in parts, else all at once
            parts = [slice(k, k + width) for k in range(0, len(first), width)]
            found = np.concatenate([predict(self._mixed(_part(at, part), place)) for part in parts])
            predicted[..., 1:-1, :] = found[inverse].reshape(*shape, k)
        change = np.diff(predicted, axis=3)
        by_group = np.take_along_axis(change, place[..., None], axis=3)
        return np.asarray(by_group.mean(axis=2))

    def _keys(self) -> NDArray[np.uint64]:
        """Numbers of the mixed rows: (rows, orders, directions, steps + 1)."""
        difference = self.hashes[self.rows][:, None] - self.hashes[self.drawn]  # modulo 2^64
        by_group = np.zeros((*difference.shape[:2], self.orders.shape[3]), dtype=np.uint64)
        for column, group in enumerate(self.group_of):
            by_group[..., group] += difference[..., column]
        steps = np.take_along_axis(by_group[:, :, None], self.orders, axis=3)
        start = self.hashes[self.drawn].sum(axis=2, dtype=np.uint64)[:, :, None, None]
        added = np.cumsum(steps, axis=3, dtype=np.uint64)
        return np.concatenate([np.broadcast_to(start, (*steps.shape[:3], 1)), start + added], axis=3)

    def _mixed(self, at: tuple[Any, ...], place: Counts) -> Counts:
        """Mixed rows, after step ``at[3] + 1`` of a path, as rows of the pool by column."""
        row, order, direction, step = at
        is_own = (place[row, order, direction] <= step[:, None])[:, self.group_of]
        return np.asarray(np.where(is_own, self.rows[row][:, None], self.drawn[row, order][:, None]))


def _combined(
    found: Floats, at_background: Floats, at_rows: Floats, expected: Floats, variance: Floats
) -> tuple[Floats, Floats]:
    """Values and standard errors from those of single orders, with f(b) as control variate.

    Parameters
    ----------
    found : ndarray, shape (rows, orders, groups, classes)
    at_background : ndarray, shape (rows, orders, classes)
    at_rows : ndarray, shape (rows, classes)
    expected, variance : ndarray, shape (classes,)
        Mean and variance of f(b) over the whole background.
    """
    n_orders, n_groups = found.shape[1:3]
    mean, centre = found.mean(axis=1), at_background.mean(axis=1)
    apart = at_background - centre[:, None]
    deviation = found - mean[:, None]
    spread = (apart**2).sum(axis=1)
    slope = (deviation * apart[:, :, None]).sum(axis=1)
    shrunk = (spread + _RIDGE * n_orders * variance)[:, None]
    slope = np.divide(slope, shrunk, out=np.zeros_like(slope), where=shrunk > 0)
    values = mean + slope * (expected - centre)[:, None]
    # What is missing now goes to the columns by the size of their values, so that a column without influence
    # stays at 0.
    size = np.abs(values)
    total = size.sum(axis=1, keepdims=True)
    weight = np.divide(size, total, out=np.full_like(size, 1.0 / n_groups), where=total > 0)
    values += weight * (at_rows - expected - values.sum(axis=1))[:, None]
    residual = deviation - slope[:, None] * apart[:, :, None]
    freedom = max(n_orders - 2, 1)
    return values, np.sqrt((residual**2).sum(axis=1) / freedom / n_orders)


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
    found = sample_values(opened.predict_mixed, codes, opened.n_rows, positions, n_orders, seed)
    cells = grouped_cells(opened.cells(), positions)
    return Contributions(
        found.values, found.expected, found.standard_error, names, opened.classes, cells, "sampled"
    )


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
        found: Floats = model.predict_proba(table.with_values(np.ascontiguousarray(values)))
        return found

    reader = ColumnReader(table, model.schema_)

    def cells() -> list[list[Any]]:
        return [[reader.actual(row, j) for j in range(len(names))] for row in range(len(rows))]

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
    return [[row[own[0]] if len(own) == 1 else _several(row, own) for own in positions] for row in cells]


def _several(row: list[Any], own: Sequence[int]) -> str:
    more = ", ..." if len(own) > _CELLS_SHOWN else ""
    return ", ".join(str(row[j]) for j in own[:_CELLS_SHOWN]) + more


def refuse_too_many(n_rows: int, n_columns: int, n_classes: int) -> None:
    """Refuse contributions that do not fit into memory, in one sentence."""
    needed, free = 3 * 8 * n_rows * n_columns * n_classes, available_memory()
    if free is not None and needed > free:
        raise ValueError(
            f"contributions of {n_rows:,} rows need about {needed / 2**20:.0f} MiB of memory, of which "
            f"{free / 2**20:.0f} MiB are available; explain fewer rows at a time."
        )
