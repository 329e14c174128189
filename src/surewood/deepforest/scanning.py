"""Multi-grained scanning: forests over sliding windows, as a transformer in front of any classifier.

A window forest predicts the class of the whole row from a piece of it; its class vectors at all positions are
the new features (theory.md §5, *Deep Forest*). Held-out vectors without a special case for training rows: the
fold of a row is a function of its values, the models of fold i never see rows of fold i, and every row, old
or new, is scanned by the models of its own fold. So ``fit_transform(X, y)`` equals ``fit(X,
y).transform(X)``, no training row meets a model that knew its label, and old and new rows have vectors of the
same smoothness.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import Floats
from surewood.deepforest.checks import check_integer
from surewood.deepforest.folds import layer_seed
from surewood.deepforest.members import Member, TreeSettings, parse_members, tree_params
from surewood.deepforest.row_order import OrderedRows, order_rows
from surewood.deepforest.window_views import Grain, make_grains
from surewood.estimators.cost import CostEstimate, check_max_memory, probe_seconds, refuse_beyond
from surewood.parallel.progress import stage
from surewood.tables import begin_fit, begin_predict, reading_bytes
from surewood.trees import BinMapper, FlatForest, bin_array, grow_forest

_HASH_SEED = 0xF01D
_CHUNK_VALUES = 2**22  # window values gathered at once while transforming


@dataclass
class _GrainModel:
    """Forests of one grain: ``forests[fold][member]`` and the bins of their windows."""

    grain: Grain
    mapper: BinMapper
    forests: list[list[FlatForest]]


@dataclass(frozen=True)
class _Windows:
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


class MultiGrainedScanner(TransformerMixin, BaseEstimator):
    """Class vectors of forests that look at rows through sliding windows.

    Parameters
    ----------
    shape : int, tuple of int or None, default=None
        How a row is laid out: ``(length,)``, ``(length, channels)``, ``(height, width)`` or ``(height, width,
        channels)``. None is a sequence. Two entries are an image unless the windows have one size.
    windows : "auto" or list, default="auto"
        Window sizes, an integer or one integer a spatial axis. "auto" is a 16th, an 8th and a quarter of each
        axis.
    stride : int, default=1
    forests : list, default=("random", "completely_random")
        Kinds of forests, or pairs of a kind and a number of trees.
    n_estimators : int, default=30
        Trees of each forest.
    n_folds : int, default=3
    max_windows : int, default=100000
        Most windows a forest is grown on; more are sampled.
    max_depth : int or None, default=None
    min_samples_leaf : int, default=5
    passthrough : bool, default=False
        Keep the original values as the first columns.
    max_memory : float or None, default=None
        Bytes that a fit and the transformation of its rows may take beyond the table itself; what would need
        more is refused. `max_windows` lowers the need of the fit.
    n_jobs : int or None, default=None
    random_state : int, RandomState or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    grains_ : list of Grain
        Shape, size, stride and positions of the windows.
    n_features_in_, feature_names_in_, schema_

    Notes
    -----
    The columns of the result are ordered by grain, position, forest, class. Missing values are taken as they
    come; all columns must be numbers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> X = rng.normal(size=(60, 8)); X[np.arange(60), 2 + 3 * y] += 5.0
    >>> scanner = MultiGrainedScanner(windows=[3], n_estimators=5, random_state=0)
    >>> scanner.fit_transform(X, y).shape  # 6 positions, 2 forests, 2 classes
    (60, 24)
    """

    def __init__(
        self,
        *,
        shape: Any = None,
        windows: Any = "auto",
        stride: int = 1,
        forests: Any = ("random", "completely_random"),
        n_estimators: int = 30,
        n_folds: int = 3,
        max_windows: int = 100_000,
        max_depth: int | None = None,
        min_samples_leaf: int = 5,
        passthrough: bool = False,
        max_memory: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.shape = shape
        self.windows = windows
        self.stride = stride
        self.forests = forests
        self.n_estimators = n_estimators
        self.n_folds = n_folds
        self.max_windows = max_windows
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.passthrough = passthrough
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> MultiGrainedScanner:
        """Grow the window forests.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Numbers; every row a flattened sequence or image.
        y : array of shape (n_rows,)
            Labels.
        sample_weight : array of shape (n_rows,), optional
            Rows of weight 0 are absent.
        """
        members = self._check()
        inputs = begin_fit(self, X, y, sample_weight, merge=False)
        if inputs.table.is_category.any():
            raise ValueError("MultiGrainedScanner slides windows over numbers; X has category columns.")
        grains = make_grains(inputs.table.n_columns, self.shape, self.windows, self.stride)
        parts = self._memory(grains, members, *inputs.table.shape, inputs.n_classes)
        refuse_beyond(self.max_memory, sum(parts.values()), "lower max_windows or use a larger stride")
        rows = _numbers(inputs.table)
        ordered = order_rows(row_keys(rows), inputs.y, inputs.weight)
        training = _Windows(rows, inputs.y, inputs.n_classes, ordered, row_folds(rows, self.n_folds))
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        models = []
        with stage(self.verbose, "growing window forests", len(grains) * self.n_folds) as advance:
            for number, grain in enumerate(grains):
                models.append(self._fit_grain(grain, training, members, layer_seed(seed, number), advance))
        inputs.store(self)
        self.grains_, self.models_, self.members_ = grains, models, members
        return self

    def estimate_cost(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> CostEstimate:
        """Memory and a range of time of ``fit`` and ``transform`` on a table, beforehand (ESTIMATE)."""
        members = self._check()
        inputs = begin_fit(self, X, y, sample_weight, merge=False)
        grains = make_grains(inputs.table.n_columns, self.shape, self.windows, self.stride)
        parts = self._memory(grains, members, *inputs.table.shape, inputs.n_classes)
        return CostEstimate.of(parts, probe_seconds(self, X, y))

    def _memory(
        self, grains: list[Grain], members: list[Member], n_rows: int, n_columns: int, n_classes: int
    ) -> dict[str, float]:
        """Parts of the memory; the grains are worked on one after another."""
        drawn = [min(n_rows * grain.n_positions, self.max_windows) for grain in grains]
        windows = max(n * (9.0 * grain.n_values + 60.0) for n, grain in zip(drawn, grains))
        cut = n_rows * max(grain.n_positions * grain.n_values for grain in grains)
        n_trees = sum(member.n_trees for member in members) * self.n_folds
        # About a leaf of four times the smallest size, 2 nodes of 8 bytes and a sparse class vector a leaf.
        a_leaf = 16.0 + 6.0 * (1 + min(n_classes, self.min_samples_leaf))
        trees = sum(n_trees * n / (4.0 * self.min_samples_leaf) * a_leaf for n in drawn)
        columns = sum(grain.n_positions for grain in grains) * len(members) * n_classes
        return {
            "table": reading_bytes(n_rows, n_columns) + 8.0 * n_rows * n_columns,
            "windows": windows + 2.0 * 8.0 * min(_CHUNK_VALUES, cut),
            "trees": trees,
            "class vectors": 2.0 * 8.0 * n_rows * columns,
        }

    def _check(self) -> list[Member]:
        check_max_memory(self.max_memory)
        for name in ("n_estimators", "stride", "max_windows", "min_samples_leaf"):
            check_integer(self, name, 1)
        check_integer(self, "n_folds", 2)
        if self.max_depth is not None:
            check_integer(self, "max_depth", 1)
        members = parse_members(self.forests, self.n_estimators)
        if any(not member.is_forest for member in members):
            raise ValueError("the scanner's forests must be kinds of forests, not classifiers.")
        return members

    def _fit_grain(
        self, grain: Grain, training: _Windows, members: list[Member], seed: int, advance: Any
    ) -> _GrainModel:
        row, position, weight = training.draw(grain, self.max_windows, seed)
        matrix = bin_array(_gather(training.rows, row, position, grain), weight)
        settings = TreeSettings(min_samples_leaf=self.min_samples_leaf)
        forests = []
        for held in range(self.n_folds):
            used = np.flatnonzero(training.fold[row] != held)
            if len(used) == 0:  # all rows fall into one fold: nothing else to learn from
                used = np.arange(len(row))
            grown = [
                grow_forest(
                    matrix,
                    training.y[row],
                    training.n_classes,
                    tree_params(member, settings, grain.n_values, self.max_depth, False),
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
        return _GrainModel(grain, matrix.mapper, forests)

    def transform(self, X: Any) -> Floats:
        """Class vectors at all window positions, shape (n_rows, n_columns)."""
        check_is_fitted(self, "models_")
        rows = _numbers(begin_predict(self, X))
        fold = row_folds(rows, self.n_folds)
        parts = [rows.astype(np.float64)] if self.passthrough else []
        for model in self.models_:
            parts.append(self._scan(model, rows, fold))
        return np.hstack(parts)

    def _scan(self, model: _GrainModel, rows: NDArray[Any], fold: NDArray[np.int64]) -> Floats:
        grain, n_members = model.grain, len(self.members_)
        n_classes = len(self.classes_)
        out = np.empty((len(rows), grain.n_positions, n_members, n_classes))
        at_once = max(1, _CHUNK_VALUES // (grain.n_positions * grain.n_values))
        for held, forests in enumerate(model.forests):
            mine = np.flatnonzero(fold == held)
            for start in range(0, len(mine), at_once):
                chunk = mine[start : start + at_once]
                windows = grain.windows(rows[chunk])
                for number, forest in enumerate(forests):
                    vectors = forest.predict_proba_raw(windows, model.mapper, self.n_jobs)
                    out[chunk, :, number] = vectors.reshape(len(chunk), grain.n_positions, n_classes)
        return out.reshape(len(rows), -1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns: grain, position, forest, class."""
        check_is_fitted(self, "models_")
        names: list[str] = []
        if self.passthrough:
            given = getattr(self, "feature_names_in_", None)
            names += (
                [f"x{j}" for j in range(self.n_features_in_)] if given is None else [str(n) for n in given]
            )
        for grain in self.grains_:
            size = "x".join(map(str, grain.size))
            for position in range(grain.n_positions):
                for number in range(len(self.members_)):
                    names += [f"scan{size}_at{position}_forest{number}_{label}" for label in self.classes_]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def row_keys(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """A 64-bit key of each row's values, the same for float32 and float64 and for both zeros."""
    values = np.ascontiguousarray(rows, dtype=np.float64) + 0.0
    values[np.isnan(values)] = np.nan  # one pattern of bits for all of them
    bits = values.view(np.uint64)
    factors = np.random.default_rng(_HASH_SEED).integers(1, 2**63, size=rows.shape[1], dtype=np.uint64)
    keys = (bits ^ (bits >> np.uint64(31))) @ (factors | np.uint64(1))
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


def _numbers(table: Any) -> NDArray[Any]:
    return np.ascontiguousarray(table.matrix())


def _gather(
    rows: NDArray[Any], drawn_rows: NDArray[np.int64], drawn_positions: NDArray[np.int64], grain: Grain
) -> NDArray[Any]:
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
