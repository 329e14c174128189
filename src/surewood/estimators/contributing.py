"""Contributions of a fitted classifier: from tables and background rows to Shapley values."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surewood._arrays import AnyArray, Counts, Floats
from surewood.estimators.background import check_columns, check_kept
from surewood.estimators.contributions import Contributions, group_positions
from surewood.estimators.cost import mib
from surewood.estimators.many_columns import with_least_important_joined
from surewood.estimators.row_pools import MatrixPool, RowPool
from surewood.estimators.seeds import draw_seed
from surewood.estimators.shapley import default_orders, sample_values
from surewood.parallel.free_memory import available_memory
from surewood.tables import ColumnReader, Table, begin_predict, column_names
from surewood.tables.schema import category_counts

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
    names, positions = with_least_important_joined(opened.model, names, positions)
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
                "this model keeps no rows to compare with (it was fitted with remember_rows=False or by an "
                "older version); give background, such as 200 rows of the training table."
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
            f"contributions of {n_rows:,} rows need about {mib(needed)} of memory, of which {mib(free)} are "
            "available; explain fewer rows at a time."
        )
