"""Multi-grained scanning: forests over sliding windows, as a transformer in front of any classifier.

A window forest predicts the class of the whole row from a piece of it; its class vectors at all positions are
the new features (theory.md §5, *Deep Forest*). Held-out vectors without a special case for training rows: the
fold of a row is a function of its values, the models of fold i never see rows of fold i, and every row, old
or new, is scanned by the models of its own fold. So ``fit_transform(X, y)`` equals ``fit(X,
y).transform(X)``, no training row meets a model that knew its label, and old and new rows have vectors of the
same smoothness.

:class:`Grain` are the windows of one size over rows that are sequences or images, :class:`GrainModel` the
forests that look through them, :class:`MultiGrainedScanner` is the public transformer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import Codes, Floats, Ints, check_number
from surewood.base.folds import draw_seed
from surewood.base.parameters import COMMON, RunParameters, check_parameters, parameters
from surewood.base.rules import AUTO, Boolean, Either, Integer, Nullable, Rule
from surewood.deepforest.data import layer_seed, order_rows
from surewood.deepforest.forests import (
    LIST_OF_FORESTS,
    BlockMember,
    TreeSettings,
    parse_members,
    tree_params,
)
from surewood.parallel.progress import stage
from surewood.tables import begin_fit, begin_predict, column_names
from surewood.tables.row_hashes import linear_keys
from surewood.trees.binning import BinMapper, bin_array
from surewood.trees.flat_tree import FlatForest
from surewood.trees.growing import grow_forest

_HASH_SEED = 0xF01D
_CHUNK_VALUES = 2**22  # window values gathered at once
_MOST_OF_A_ROW = 2**24  # values in the windows of one row, or that they become, in a model file


@dataclass(frozen=True)
class Grain:
    """Windows of one size over rows of one shape."""

    #: Spatial axes, then the number of channels.
    shape: tuple[int, ...]
    #: One entry per spatial axis.
    size: tuple[int, ...]
    stride: tuple[int, ...]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in ("shape", "size", "stride"):
            for side in getattr(self, name):
                check_number(name, side, 1, 2**31, whole=True)
        n_axes = len(self.shape) - 1
        if n_axes < 1 or (len(self.size), len(self.stride)) != (n_axes, n_axes):
            raise ValueError("shape, size and stride of windows have different numbers of axes.")
        if any(size > side for size, side in zip(self.size, self.shape)):
            raise ValueError("a window is larger than a row.")

    @property
    def positions(self) -> tuple[int, ...]:
        """Windows along each axis."""
        spatial = self.shape[:-1]
        return tuple((n - w) // s + 1 for n, w, s in zip(spatial, self.size, self.stride))

    @property
    def n_positions(self) -> int:
        return math.prod(self.positions)

    @property
    def n_values(self) -> int:
        """Values in a window."""
        return math.prod(self.size) * self.shape[-1]

    def windows(self, rows: NDArray[Any]) -> NDArray[Any]:
        """All windows of some rows, shape (n_rows · n_positions, n_values), row after row.

        Examples
        --------
        >>> Grain((4, 1), (2,), (1,)).windows(np.array([[1.0, 2.0, 3.0, 4.0]])).tolist()
        [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]]
        """
        arrays = rows.reshape(len(rows), *self.shape)
        axes = tuple(range(1, 1 + len(self.size)))
        view = np.lib.stride_tricks.sliding_window_view(arrays, self.size, axis=axes)
        steps = (slice(None), *(slice(None, None, step) for step in self.stride))
        view = view[steps]
        # (row, positions..., channel, window...) -> (row, positions..., window..., channel)
        view = np.moveaxis(view, 1 + len(self.size), -1)
        return np.ascontiguousarray(view).reshape(len(rows) * self.n_positions, self.n_values)


def make_grains(n_features: int, shape: Any, windows: Any, stride: int) -> list[Grain]:
    """The grains that the scanner's parameters describe.

    Examples
    --------
    >>> [grain.size for grain in make_grains(16, None, "auto", 1)]
    [(1,), (2,), (4,)]
    >>> [grain.positions for grain in make_grains(12, (3, 4), [(2, 2)], 1)]
    [(2, 3)]
    """
    spatial, channels = _read_shape(n_features, shape, windows)
    if isinstance(windows, str):
        sizes = sorted({tuple(math.ceil(n / part) for n in spatial) for part in (16, 8, 4)})
    else:
        sizes = [_size(item, len(spatial)) for item in windows]
    for size in sizes:
        if any(w < 1 or w > n for w, n in zip(size, spatial)):
            raise ValueError(f"a window of size {size} does not fit into rows of shape {spatial}.")
    return [Grain((*spatial, channels), size, (stride,) * len(spatial)) for size in sizes]


def _size(item: Any, n_axes: int) -> tuple[int, ...]:
    size = (item,) * n_axes if np.ndim(item) == 0 else tuple(item)
    if len(size) != n_axes or not all(isinstance(n, int | np.integer) for n in size):
        raise ValueError(f"window {item!r} must be an integer or have one integer for each of {n_axes} axes.")
    return tuple(int(n) for n in size)


def _read_shape(n_features: int, shape: Any, windows: Any) -> tuple[tuple[int, ...], int]:
    """Spatial axes and number of channels."""
    if shape is None:
        return (n_features,), 1
    sizes = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    whole = all(isinstance(n, int | np.integer) and n > 0 for n in sizes)
    if not 1 <= len(sizes) <= 3 or not whole or math.prod(sizes) != n_features:
        raise ValueError(
            f"shape {shape!r} does not describe rows of {n_features} values; its one to three entries must "
            "multiply to that."
        )
    one_axis = isinstance(windows[0], list | tuple) and len(windows[0]) == 1
    if len(sizes) == 1 or (len(sizes) == 2 and not one_axis):
        return sizes, 1
    return sizes[:-1], sizes[-1]


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
        same = all((forest.n_features, forest.n_classes) == (n_values, n_classes) for forest in forests)
        if not same or self.mapper.n_columns != n_values or len({len(fold) for fold in self.forests}) > 1:
            raise ValueError("windows, bins and forests do not belong together.")

    def scan(self, rows: NDArray[Any], fold: Ints, n_jobs: int | None) -> Floats:
        """Class vectors at all positions (n_rows, n_positions · n_members · n_classes)."""
        grain, first = self.grain, self.forests[0]
        n_classes = first[0].n_classes
        out = np.empty((len(rows), grain.n_positions, len(first), n_classes))
        at_once = max(1, _CHUNK_VALUES // (grain.n_positions * grain.n_values))
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
        sizes = {(len(model.forests), len(model.forests[0])) for model in self.grains}
        if sizes != {(self.n_folds, self.n_members)}:
            raise ValueError("every window needs the forests of every fold.")
        for model in self.grains:
            width = max(model.grain.n_values, self.n_members * model.forests[0][0].n_classes)
            if model.grain.n_positions * width > _MOST_OF_A_ROW:
                raise ValueError(f"the windows of a row have more than {_MOST_OF_A_ROW:,} values.")

    def scan(self, rows: NDArray[Any], n_jobs: int | None) -> list[Floats]:
        """Class vectors of each grain; every row is scanned by the models of its own fold."""
        fold = row_folds(rows, self.n_folds)
        return [model.scan(rows, fold, n_jobs) for model in self.grains]


def row_keys(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """A 64-bit key of each row's values, the same for float32 and float64 and for both zeros."""
    values = np.ascontiguousarray(rows, dtype=np.float64) + 0.0
    values[np.isnan(values)] = np.nan  # one pattern of bits for all of them
    bits = values.view(np.uint64)
    keys = linear_keys((bits ^ (bits >> np.uint64(31))).T, _HASH_SEED, odd=True)
    return keys ^ (keys >> np.uint64(29))


def row_folds(rows: NDArray[Any], n_folds: int) -> Ints:
    """Fold of each row, a function of its values alone.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    >>> fold = row_folds(rows, 3)
    >>> bool(fold[0] == fold[2])
    True
    """
    return (row_keys(rows) >> np.uint64(11)).astype(np.int64) % n_folds


def _gather(rows: NDArray[Any], drawn_rows: Ints, drawn_positions: Ints, grain: Grain) -> NDArray[Any]:
    """The drawn windows, without building all windows of all rows at once."""
    out = np.empty((len(drawn_rows), grain.n_values), dtype=rows.dtype)
    at_once = max(1, _CHUNK_VALUES // (grain.n_positions * grain.n_values))
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


_RULES: Mapping[str, Rule] = {
    **COMMON,
    "shape": Nullable(Integer(1), Rule("a tuple of integers", lambda value: isinstance(value, tuple | list))),
    "windows": Either(
        AUTO, Rule("a list of window sizes", lambda value: isinstance(value, tuple | list), bool)
    ),
    "forests": LIST_OF_FORESTS,
    "stride": Integer(1),
    "n_folds": Integer(2),
    "max_windows": Integer(1),
    "min_samples_leaf": Integer(1),
    "passthrough": Boolean(),
}


@parameters(_RULES)
class MultiGrainedScanner(TransformerMixin, RunParameters, BaseEstimator):  # type: ignore[misc]
    """Class vectors of forests that look at rows through sliding windows.

    The order of the columns matters: windows slide over them.

    Parameters
    ----------
    shape : int, tuple of int or None, default=None
        Layout of a row: ``(length,)``, ``(length, channels)``, ``(height, width)`` or ``(height, width,
        channels)``. None is a sequence. Two entries are an image, or a sequence with channels if the windows
        have one size.
    windows : "auto" or list, default="auto"
        Window sizes, an integer or one integer per spatial axis. "auto" is a 16th, an 8th and a quarter of
        each axis.
    stride : int, default=1
    forests : list, default=("random", "completely_random")
        Kinds of forests, or pairs of a kind and a number of trees.
    n_estimators : int, default=30
        Trees of each forest.
    n_folds : int, default=3
        Folds; the fold of a row is a function of its values, so they cannot be given.
    max_windows : int, default=100000
        Maximum number of windows that a forest is grown on; more are sampled.
    max_depth : int or None, default=None
    min_samples_leaf : int, default=5
    passthrough : bool, default=False
        Keep the original values as the first columns.
    n_jobs : int or None, default=None
    random_state : int, RandomState or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    model_ : ScannerModel
        The fitted window forests.
    grains_ : list of Grain
        Shape, size, stride and positions of the windows.
    n_features_in_, feature_names_in_, schema_

    Notes
    -----
    The columns of the result are ordered by grain, position, forest, class. Missing values are
    allowed; all columns must be numbers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> X = rng.normal(size=(60, 8)); X[np.arange(60), 2 + 3 * y] += 5.0
    >>> scanner = MultiGrainedScanner(windows=[3], n_estimators=5, random_state=0)
    >>> scanner.fit_transform(X, y).shape  # 6 positions, 2 forests, 2 classes
    (60, 24)
    """

    shape: Any = None
    windows: Any = "auto"
    stride: int = 1
    forests: Any = ("random", "completely_random")
    n_estimators: int = 30
    n_folds: int = 3
    max_windows: int = 100_000
    max_depth: int | None = None
    min_samples_leaf: int = 5
    passthrough: bool = False

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> MultiGrainedScanner:
        """Grow the window forests.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Numbers; every row a flattened sequence or image.
        y : array of shape (n_rows,)
            Labels.
        sample_weight : array of shape (n_rows,), optional
            Rows of weight 0 are ignored.
        """
        check_parameters(self)
        members = parse_members(self.forests, self.n_estimators)
        if not all(member.is_forest for member in members):
            raise ValueError("the scanner's forests must be kinds of forests, not classifiers.")
        inputs = begin_fit(self, X, y, sample_weight, merge=False)
        if inputs.table.is_category.any():
            raise ValueError("MultiGrainedScanner slides windows over numbers; X has category columns.")
        grains = make_grains(inputs.table.n_columns, self.shape, self.windows, self.stride)
        rows = np.ascontiguousarray(inputs.table.matrix())
        source, weight = order_rows(row_keys(rows), inputs.y, inputs.weight)
        train_grain = partial(self._train_grain, members, rows, inputs.y, inputs.n_classes, source, weight)
        seed = draw_seed(self.random_state)
        with stage(self.verbose, "growing window forests", len(grains) * self.n_folds) as advance:
            models = [
                train_grain(grain, layer_seed(seed, number), advance) for number, grain in enumerate(grains)
            ]
        inputs.store(self)
        self.model_ = ScannerModel(models, self.n_folds, len(members))
        return self

    def _train_grain(
        self,
        members: Sequence[BlockMember],
        rows: NDArray[Any],
        y: Codes,
        n_classes: int,
        source: Ints,
        weight: Floats | None,
        grain: Grain,
        seed: int,
        advance: Callable[[int], None],
    ) -> GrainModel:
        """The forests of one grain, fold by fold, grown on all windows of the rows `source` or a sample."""
        drawn = np.arange(len(source) * grain.n_positions)
        if len(drawn) > self.max_windows:
            rng = np.random.default_rng(seed)
            drawn = np.sort(rng.choice(len(drawn), self.max_windows, replace=False))
        at = drawn // grain.n_positions
        row, weight = source[at], None if weight is None else weight[at]
        matrix = bin_array(_gather(rows, row, drawn % grain.n_positions, grain), weight)
        fold, settings = (
            row_folds(rows, self.n_folds)[row],
            TreeSettings(min_samples_leaf=self.min_samples_leaf),
        )
        forests = []
        for held in range(self.n_folds):
            used = np.flatnonzero(fold != held)
            if len(used) == 0:  # all rows fall into one fold: nothing else to learn from
                used = np.arange(len(row))
            grown = [
                grow_forest(
                    matrix,
                    y[row],
                    n_classes,
                    tree_params(member, settings, grain.n_values, self.max_depth),
                    n_trees=member.n_trees,
                    seed=layer_seed(seed, held, number),
                    weight=weight,
                    rows=used,
                    n_jobs=self.n_jobs,
                    by_content=False,
                )
                for number, member in enumerate(members)
            ]
            forests.append([result.forest for result in grown])
            advance(1)
        return GrainModel(grain, matrix.mapper, forests)

    @property
    def grains_(self) -> list[Grain]:
        """Shape, size, stride and positions of the windows."""
        check_is_fitted(self, "model_")
        return [model.grain for model in self.model_.grains]

    def transform(self, X: Any) -> Floats:
        """Class vectors at all window positions, shape (n_rows, n_columns)."""
        check_is_fitted(self, "model_")
        rows = np.ascontiguousarray(begin_predict(self, X).matrix())
        vectors = self.model_.scan(rows, self.n_jobs)
        return np.hstack([rows.astype(np.float64), *vectors] if self.passthrough else vectors)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns: grain, position, forest, class."""
        check_is_fitted(self, "model_")
        names = column_names(self.schema_, self.n_features_in_) if self.passthrough else []
        for grain in self.grains_:
            size = "x".join(map(str, grain.size))
            for position in range(grain.n_positions):
                for number in range(self.model_.n_members):
                    names += [f"scan{size}_at{position}_forest{number}_{label}" for label in self.classes_]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not isinstance(self.passthrough, bool | np.bool_):
            raise ValueError(f"passthrough must be True or False, got {self.passthrough!r}.")
