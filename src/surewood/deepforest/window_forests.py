"""Forests over the windows of one grain: drawing windows, growing, and class vectors at all positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats, check_number
from surewood.deepforest.folds import layer_seed
from surewood.deepforest.members import Member, TreeSettings, tree_params
from surewood.deepforest.row_order import OrderedRows
from surewood.deepforest.window_views import Grain
from surewood.tables.row_hashes import linear_keys
from surewood.trees import BinMapper, FlatForest, bin_array, grow_forest

_HASH_SEED = 0xF01D
CHUNK_VALUES = 2**22  # window values gathered at once while transforming


@dataclass(frozen=True)
class GrainModel:
    """Forests of one grain: ``forests[fold][member]`` and the bins of their windows."""

    grain: Grain
    mapper: BinMapper
    forests: Sequence[Sequence[FlatForest]]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        n_values, n_classes = self.grain.n_values, self.forests[0][0].n_classes
        forests = [forest for fold in self.forests for forest in fold]
        same = all((one.n_features, one.n_classes) == (n_values, n_classes) for one in forests)
        if not same or self.mapper.n_columns != n_values or len({len(fold) for fold in self.forests}) > 1:
            raise ValueError("windows, bins and forests do not belong together.")

    def scan(self, rows: NDArray[Any], fold: NDArray[np.int64], n_jobs: int | None) -> Floats:
        """Class vectors at all positions (n_rows, n_positions · n_members · n_classes)."""
        grain, first = self.grain, self.forests[0]
        n_classes = first[0].n_classes
        out = np.empty((len(rows), grain.n_positions, len(first), n_classes))
        at_once = max(1, CHUNK_VALUES // (grain.n_positions * grain.n_values))
        for held, forests in enumerate(self.forests):
            mine = np.flatnonzero(fold == held)
            for start in range(0, len(mine), at_once):
                chunk = mine[start : start + at_once]
                windows = grain.windows(rows[chunk])
                for number, forest in enumerate(forests):
                    vectors = forest.predict_proba_raw(windows, self.mapper, n_jobs)
                    out[chunk, :, number] = vectors.reshape(len(chunk), grain.n_positions, n_classes)
        return out.reshape(len(rows), -1)


@dataclass(frozen=True)
class ScannerModel:
    """All grains, scanned one after another; `n_folds` and `n_members` are those of the fit."""

    grains: Sequence[GrainModel]
    n_folds: int
    n_members: int

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        check_number("n_folds", self.n_folds, 1, 2**31, whole=True)
        sizes = {(len(one.forests), len(one.forests[0])) for one in self.grains}
        if sizes != {(self.n_folds, self.n_members)}:
            raise ValueError("every window needs the forests of every fold.")

    def scan(self, rows: NDArray[Any], n_jobs: int | None) -> list[Floats]:
        """Class vectors of each grain; every row is scanned by the models of its own fold."""
        fold = row_folds(rows, self.n_folds)
        return [model.scan(rows, fold, n_jobs) for model in self.grains]


@dataclass(frozen=True)
class WindowRows:
    """Training rows, ready to be cut into windows."""

    rows: NDArray[Any]
    y: NDArray[np.int32]
    n_classes: int
    ordered: OrderedRows
    fold: NDArray[np.int64]

    def draw(
        self, grain: Grain, max_windows: int, seed: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats | None]:
        """Row, position and weight of the windows to grow on: all of them, or a sample."""
        total = len(self.ordered.source) * grain.n_positions
        flat = np.arange(total)
        if total > max_windows:
            flat = np.sort(np.random.default_rng(seed).choice(total, max_windows, replace=False))
        at = flat // grain.n_positions
        weight = None if self.ordered.weight is None else self.ordered.weight[at]
        return self.ordered.source[at], flat % grain.n_positions, weight


@dataclass(frozen=True)
class WindowPlan:
    """How the forests of every grain are grown."""

    members: Sequence[Member]
    n_folds: int
    max_windows: int
    max_depth: int | None
    min_samples_leaf: int
    n_jobs: int | None


def train_grain(grain: Grain, training: WindowRows, plan: WindowPlan, seed: int, advance: Any) -> GrainModel:
    """Grow the forests of one grain, fold by fold."""
    row, position, weight = training.draw(grain, plan.max_windows, seed)
    matrix = bin_array(_gather(training.rows, row, position, grain), weight)
    settings = TreeSettings(min_samples_leaf=plan.min_samples_leaf)
    forests = []
    for held in range(plan.n_folds):
        used = np.flatnonzero(training.fold[row] != held)
        if len(used) == 0:  # all rows fall into one fold: nothing else to learn from
            used = np.arange(len(row))
        grown = [
            grow_forest(
                matrix,
                training.y[row],
                training.n_classes,
                tree_params(member, settings, grain.n_values, plan.max_depth, False),
                n_trees=member.n_trees,
                seed=layer_seed(seed, held, number),
                weight=weight,
                rows=used,
                n_jobs=plan.n_jobs,
                by_content=False,
            )
            for number, member in enumerate(plan.members)
        ]
        forests.append([result.forest for result in grown])
        advance(1)
    return GrainModel(grain, matrix.mapper, forests)


def row_keys(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """A 64-bit key of each row's values, the same for float32 and float64 and for both zeros."""
    values = np.ascontiguousarray(rows, dtype=np.float64) + 0.0
    values[np.isnan(values)] = np.nan  # one pattern of bits for all of them
    bits = values.view(np.uint64)
    keys = linear_keys((bits ^ (bits >> np.uint64(31))).T, _HASH_SEED, odd=True)
    return keys ^ (keys >> np.uint64(29))


def row_folds(rows: NDArray[Any], n_folds: int) -> NDArray[np.int64]:
    """Fold of each row, a function of its values alone.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    >>> fold = row_folds(rows, 3)
    >>> bool(fold[0] == fold[2])
    True
    """
    return (row_keys(rows) >> np.uint64(11)).astype(np.int64) % n_folds


def _gather(
    rows: NDArray[Any], drawn_rows: NDArray[np.int64], drawn_positions: NDArray[np.int64], grain: Grain
) -> NDArray[Any]:
    """The drawn windows, without building all windows of all rows at once."""
    out = np.empty((len(drawn_rows), grain.n_values), dtype=rows.dtype)
    at_once = max(1, CHUNK_VALUES // (grain.n_positions * grain.n_values))
    starts = np.flatnonzero(np.diff(drawn_rows, prepend=-1))  # runs of windows of one row
    ends = np.append(starts[1:], len(drawn_rows))
    for first in range(0, len(starts), at_once):
        last = min(first + at_once, len(starts))
        span = slice(starts[first], ends[last - 1])
        chunk_rows = drawn_rows[starts[first:last]]
        windows = grain.windows(rows[chunk_rows])
        local = np.repeat(np.arange(last - first), ends[first:last] - starts[first:last])
        out[span] = windows[local * grain.n_positions + drawn_positions[span]]
    return out
