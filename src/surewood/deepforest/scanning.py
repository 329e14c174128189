"""Multi-grained scanning: forests over sliding windows, as a transformer in front of any classifier.

A window forest predicts the class of the whole row from a piece of it; its class vectors at all positions are
the new features (theory.md §5, *Deep Forest*). Held-out vectors without a special case for training rows: the
fold of a row is a function of its values, the models of fold i never see rows of fold i, and every row, old
or new, is scanned by the models of its own fold. So ``fit_transform(X, y)`` equals ``fit(X,
y).transform(X)``, no training row meets a model that knew its label, and old and new rows have vectors of the
same smoothness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import Floats
from surewood.deepforest.folds import layer_seed
from surewood.deepforest.members import Member, parse_members
from surewood.deepforest.old_form import scanner_of_old_state
from surewood.deepforest.parameters import LIST_OF_FORESTS
from surewood.deepforest.row_order import order_rows
from surewood.deepforest.window_forests import (
    CHUNK_VALUES,
    ScannerModel,
    WindowPlan,
    WindowRows,
    row_folds,
    row_keys,
    train_grain,
)
from surewood.deepforest.window_views import Grain, make_grains
from surewood.estimators.cost import CostEstimate, probe_seconds, refuse_beyond
from surewood.estimators.declaring import RunParameters, parameters
from surewood.estimators.parameters import COMMON, check_parameters, memory_bytes
from surewood.estimators.rules import AUTO, Boolean, Either, Integer, Kind, Nullable, Rule
from surewood.estimators.seeds import draw_seed
from surewood.parallel.progress import stage
from surewood.tables import Table, begin_fit, begin_predict, column_names, reading_bytes

_RULES: Mapping[str, Rule] = {
    **COMMON,
    "shape": Nullable(Integer(1), Kind("a tuple of integers", lambda value: isinstance(value, tuple | list))),
    "windows": Either(
        AUTO, Kind("a list of window sizes", lambda value: isinstance(value, tuple | list), bool)
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
        Largest number of windows that a forest is grown on; beyond it they are sampled.
    max_depth : int or None, default=None
    min_samples_leaf : int, default=5
    passthrough : bool, default=False
        Keep the original values as the first columns.
    max_memory : float, str or None, default=None
        Bytes (or text such as "4GB") that a fit and the transformation of its rows may take beyond the table
        itself; what would need more is refused. `max_windows` lowers the need of the fit.
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
    max_memory: float | str | None = None

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
        members = self._members()
        inputs = begin_fit(self, X, y, sample_weight, merge=False)
        if inputs.table.is_category.any():
            raise ValueError("MultiGrainedScanner slides windows over numbers; X has category columns.")
        grains = make_grains(inputs.table.n_columns, self.shape, self.windows, self.stride)
        needed = sum(self._memory(grains, members, *inputs.table.shape, inputs.n_classes).values())
        refuse_beyond(memory_bytes(self.max_memory), needed, "lower max_windows or use a larger stride")
        rows = _numbers(inputs.table)
        ordered = order_rows(row_keys(rows), inputs.y, inputs.weight)
        training = WindowRows(rows, inputs.y, inputs.n_classes, ordered, row_folds(rows, self.n_folds))
        plan = WindowPlan(
            members, self.n_folds, self.max_windows, self.max_depth, self.min_samples_leaf, self.n_jobs
        )
        seed = draw_seed(self.random_state)
        with stage(self.verbose, "growing window forests", len(grains) * self.n_folds) as advance:
            models = [
                train_grain(grain, training, plan, layer_seed(seed, number), advance)
                for number, grain in enumerate(grains)
            ]
        inputs.store(self)
        self.model_ = ScannerModel(models, self.n_folds, len(members))
        return self

    def _members(self) -> tuple[Member, ...]:
        """The forests of each grain, after a check of all parameters."""
        check_parameters(self)
        members = parse_members(self.forests, self.n_estimators)
        if any(not member.is_forest for member in members):
            raise ValueError("the scanner's forests must be kinds of forests, not classifiers.")
        return members

    def estimate_cost(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> CostEstimate:
        """Memory and a range of time of ``fit`` and ``transform`` on a table, beforehand (ESTIMATE)."""
        members = self._members()
        inputs = begin_fit(self, X, y, sample_weight, merge=False)
        grains = make_grains(inputs.table.n_columns, self.shape, self.windows, self.stride)
        parts = self._memory(grains, members, *inputs.table.shape, inputs.n_classes)
        return CostEstimate.of(parts, probe_seconds(self, X, y))

    def _memory(
        self, grains: list[Grain], members: Sequence[Member], n_rows: int, n_columns: int, n_classes: int
    ) -> dict[str, float]:
        """Parts of the memory; the grains are worked on one after another."""
        drawn = [min(n_rows * grain.n_positions, self.max_windows) for grain in grains]
        windows = max(n * (9.0 * grain.n_values + 60.0) for n, grain in zip(drawn, grains))
        cut = n_rows * max(grain.n_positions * grain.n_values for grain in grains)
        n_trees = sum(member.n_trees for member in members) * self.n_folds
        # Per leaf about four times the smallest size, 2 nodes of 8 bytes and a sparse class vector.
        leaf_bytes = 16.0 + 6.0 * (1 + min(n_classes, self.min_samples_leaf))
        trees = sum(n_trees * n / (4.0 * self.min_samples_leaf) * leaf_bytes for n in drawn)
        columns = sum(grain.n_positions for grain in grains) * len(members) * n_classes
        return {
            "table": reading_bytes(n_rows, n_columns) + 8.0 * n_rows * n_columns,
            "windows": windows + 2.0 * 8.0 * min(CHUNK_VALUES, cut),
            "trees": trees,
            "class vectors": 2.0 * 8.0 * n_rows * columns,
        }

    @property
    def grains_(self) -> list[Grain]:
        """Shape, size, stride and positions of the windows."""
        check_is_fitted(self, "model_")
        return [model.grain for model in self.model_.grains]

    def transform(self, X: Any) -> Floats:
        """Class vectors at all window positions, shape (n_rows, n_columns)."""
        check_is_fitted(self, "model_")
        rows = _numbers(begin_predict(self, X))
        parts = self.model_.scan(rows, self.n_jobs)
        return np.hstack([rows.astype(np.float64), *parts] if self.passthrough else parts)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns: grain, position, forest, class."""
        check_is_fitted(self, "model_")
        names: list[str] = []
        if self.passthrough:
            names += column_names(self.schema_, self.n_features_in_)
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
        super().__setstate__(scanner_of_old_state(state) if "models_" in state else state)
        if not isinstance(self.passthrough, bool | np.bool_):
            raise ValueError(f"passthrough must be True or False, got {self.passthrough!r}.")


def _numbers(table: Table) -> NDArray[Any]:
    return np.ascontiguousarray(table.matrix())
