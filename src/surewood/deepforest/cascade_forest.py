"""The public cascade of gcForest, with confidence screening (theory.md §5)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.deepforest.base import DeepForestBase
from surewood.deepforest.cascade_growth import CascadeFit, CascadePlan, grow_cascade
from surewood.deepforest.checks import check_choice, check_integer, check_number
from surewood.deepforest.explaining import layer_entry, questions_asked
from surewood.deepforest.importances import trace_layer
from surewood.deepforest.members import Member, parse_compositions
from surewood.deepforest.training import RunOptions, TrainingSet
from surewood.tables import plain


class CascadeForestClassifier(DeepForestBase):
    """Cascade forest (gcForest's cascade), optionally with confidence screening.

    Every layer is a set of cross-fitted forests. Layer t + 1 sees the table and the class vectors of all
    forests of layer t; the mean vector of the layer with the best held-out accuracy is the prediction.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of each forest (in each fold).
    forests : list, default=("random", "random", "completely_random", "completely_random")
        The forests of a layer, as in :class:`MarginDeepForestClassifier`.
    cross_fit : {"kfold", "oob"}, default="kfold"
        Held-out folds, or out-of-bag trees of forests grown once (`n_folds` times fewer trees).
    n_folds : int, default=5
        Lowered, with a warning, where a class has fewer rows.
    screening : None, "auto" or float, default=None
        Points whose largest class share reaches the gate stop at the layer. "auto" finds the gate of each
        layer from its held-out accuracy; a number is a fixed gate.
    screening_factor : float, default=3.0
        "auto": points that stop must be wrong this many times less often than all points in play.
    screening_growth : bool, default=False
        Enlarge forests in inverse proportion to the share of points in play.
    max_depth : int or None, default=None
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
    min_samples_leaf : int, default=1
    min_weight_fraction_leaf : float, default=0.0
        Least weight of a leaf, as a fraction of the weight a tree sees.
    max_layers : int, default=20
    patience : int, default=4
        Layers in a row without improvement before growing stops.
    min_improvement : float, default=0.0
    monitor, validation_fraction, calibrate, class_weight, categorical_features, max_bins, keep_in_memory, \
spill_folder, keep_held_out, max_memory, n_jobs, random_state, verbose
        As in :class:`MarginDeepForestClassifier`.

    Attributes
    ----------
    classes_, layers_, n_layers_, held_out_scores_, staged_held_out_scores_, feature_importances_, \
n_features_in_, feature_names_in_, schema_
        As in :class:`MarginDeepForestClassifier`.
    gates_ : ndarray, one entry a layer
        Confidence from which points stop at each layer; infinite without screening.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CascadeForestClassifier(n_estimators=10, screening="auto", random_state=0).fit(X, y)
    >>> model.predict(X[:2]).tolist(), model.predict_proba(X).shape
    ([0, 0], (150, 3))
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        forests: Any = ("random", "random", "completely_random", "completely_random"),
        cross_fit: str = "kfold",
        n_folds: int = 5,
        screening: float | str | None = None,
        screening_factor: float = 3.0,
        screening_growth: bool = False,
        max_depth: int | None = None,
        max_features: Any = "sqrt",
        criterion: str = "gini",
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_layers: int = 20,
        patience: int = 4,
        min_improvement: float = 0.0,
        monitor: Any = "accuracy",
        validation_fraction: float | None = None,
        calibrate: bool | str = True,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        max_bins: int = 255,
        keep_in_memory: bool = True,
        spill_folder: Any = None,
        keep_held_out: bool = False,
        max_memory: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.forests = forests
        self.cross_fit = cross_fit
        self.n_folds = n_folds
        self.screening = screening
        self.screening_factor = screening_factor
        self.screening_growth = screening_growth
        self.max_depth = max_depth
        self.max_features = max_features
        self.criterion = criterion
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_layers = max_layers
        self.patience = patience
        self.min_improvement = min_improvement
        self.monitor = monitor
        self.validation_fraction = validation_fraction
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.keep_in_memory = keep_in_memory
        self.spill_folder = spill_folder
        self.keep_held_out = keep_held_out
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def gates_(self) -> NDArray[np.float64]:
        """Confidence from which points stop at each kept layer."""
        return np.array([layer.gate for layer in self.model_.layers])

    def _check(self, compositions: list[list[Member]]) -> None:
        if len(compositions) > 1:
            raise ValueError("forests='auto' is for margin forests; name the forests of the cascade.")
        if self.screening is not None and not isinstance(self.screening, str):
            check_number(self, "screening", 0.0, 1.0)
        else:
            check_choice(self, "screening", (None, "auto"))
        check_number(self, "screening_factor", 1.0, float("inf"), open_ends=True)
        if self.max_depth is not None:
            check_integer(self, "max_depth", 1)

    def _grow(
        self,
        training: TrainingSet,
        validation: TrainingSet | None,
        compositions: list[list[Member]],
        n_folds: int,
        seed: int,
        run: RunOptions,
    ) -> CascadeFit:
        screening = self.screening
        plan = CascadePlan(
            members=compositions[0],
            settings=self._tree_settings(),
            n_folds=n_folds,
            max_depth=self.max_depth,
            cross_fit=self.cross_fit,
            max_layers=self.max_layers,
            patience=self.patience,
            min_improvement=self.min_improvement,
            monitor=self.monitor,
            screening=screening if screening is None or isinstance(screening, str) else float(screening),
            screening_factor=self.screening_factor,
            screening_growth=self.screening_growth,
            max_bins=self.max_bins,
            seed=seed,
        )
        return grow_cascade(training, plan, run, validation)

    def _trace_importances(self) -> NDArray[np.float64]:
        traced: NDArray[np.float64] | None = None
        for layer in self.model_.layers:
            traced = trace_layer(layer.importances, self.n_features_in_, traced)
        assert traced is not None
        return traced

    def _explained(self, base: Any, names: list[str]) -> tuple[str, NDArray[np.float64], list[list[Any]]]:
        told: list[list[Any]] = [[] for _ in range(base.matrix.n_rows)]
        kinds = [member.kind for member in parse_compositions(self.forests, self.n_estimators)[0]]
        for number, (here, inputs, vectors, scores) in enumerate(self.model_.walk(base, self.n_jobs)):
            layer = self.model_.layers[number]
            if not len(here):
                break
            asked = questions_asked(layer.block, inputs, names, False)
            for k, row in enumerate(here):
                entry = layer_entry(
                    number + 1, 1.0, kinds, vectors[:, k], scores[row], asked[k], self.classes_
                )
                entry["gate"] = plain(layer.gate)
                told[row].append(entry)
        return "cascade_forest", scores, told

    def _first_depth(self, n_members: int) -> list[int | None]:
        return [self.max_depth] * n_members

    def _vector_columns(self, n_classes: int, n_members: int) -> int:
        return n_classes * n_members
