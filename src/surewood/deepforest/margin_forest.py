"""The public margin deep forest (theory.md §4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from surewood.deepforest import report_facts
from surewood.deepforest.additive import StepRule
from surewood.deepforest.base import DeepForestBase
from surewood.deepforest.checks import check_choice, check_number
from surewood.deepforest.evidence import theorem_evidence
from surewood.deepforest.explaining import layer_entry, questions_asked
from surewood.deepforest.first_layer import choose_first_layer
from surewood.deepforest.importances import mix, trace_layer
from surewood.deepforest.margin_growth import (
    MarginFit,
    MarginPlan,
    Schedule,
    grow_margin_forest,
)
from surewood.deepforest.members import (
    CONTRAST_BLOCK,
    Member,
    only_forests,
    parse_compositions,
    parse_members,
)
from surewood.deepforest.reweighting import STRENGTHS, WeightRule
from surewood.deepforest.training import RunOptions, TrainingSet
from surewood.deepforest.wide_tables import has_machine, machine_bytes, suits_contrasts
from surewood.tables import Table

#: Growth rates that ``depth_schedule="auto"`` compares at the first layer.
AUTO_SCHEDULES: tuple[int, ...] = (8, 16)


class MarginDeepForestClassifier(DeepForestBase):
    """Margin distribution deep forest (mdDF).

    Layers of cross-fitted forests. Each layer sees the table and the weighted sum of the class vectors of all
    layers before it, is trained with weights that look at points of small margin, and joins the sum with the
    step that minimises the margin loss exactly. Growing stops when held-out accuracy does, and the best layer
    is kept, so a fit never ends below its own first layer.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of each forest (in each fold).
    forests : list or "auto", default="auto"
        The forests of a layer. "auto" takes the block with the best held-out accuracy at the first layer:
        the published one (two "random", two "completely_random"), two "extra" with two "completely_random"
        or two "random", or four "extra"; for tables of at least 100 columns, all numbers without gaps, also
        a contrast machine with one "extra" (docs/margin-forest.md).
        "random" is a random forest, "extra" draws one threshold for each of the tried features,
        "completely_random" draws feature and threshold; a pair such as ``("extra", 50)`` sets the number of
        trees. "contrast" is a softmax regression on thousands of folded contrasts of rows.
        Any scikit-learn classifier with ``predict_proba`` may stand in a forest's place: it is cloned
        and seeded for each fold and sees standardised, one-hot encoded, imputed numbers, or the table's own
        numbers if it takes NaN. Four times "random" is the variant mdDF-SF.
    cross_fit : {"kfold", "oob"}, default="kfold"
        Held-out folds, or out-of-bag trees of forests grown once (`n_folds` times fewer trees; then all
        forests bootstrap).
    n_folds : int, default=5
        Lowered, with a warning, where a class has fewer rows.
    theta : float, default=0.8
        Margin target, in (0, 1).
    mu_loss : float, default=0.05
        Slope of the loss beyond the target, in (0, 1].
    step : {"simplex", "literal", "capped"}, default="simplex"
        How layers are added: mixed so that weights sum to 1; with the published unbounded step; with steps
        of at most 1.
    margins : {"layer", "of_sum"}, default="layer"
        Margins that the loss sees: the sum of the layers' margins (published), or the margin of the sum.
    reweighting : str, default="sample_size"
        Weights of later layers: "literal" (proportional to the loss, as published), "tempered" (loss to the
        power `strength`), "sample_size" (loss to the largest power up to 1 that leaves an effective sample
        size of `strength` times the number of points), "below_target" (points below the target only),
        "mixed" (a share `strength` of uniform weights), "chosen" (the power with the best held-out score at
        the second layer), "none".
    strength : float or None, default=None
        Parameter of `reweighting`; None is the rule's own default: 0.8 for "sample_size", 0.5 for "tempered"
        and "mixed".
    weighting : {"reweight", "resample"}, default="reweight"
        Whether trees weigh their rows, or draw them by weight.
    depth_schedule : int, list of int, "auto" or None, default="auto"
        Trees of layer t have depth at most ``a * (t + 1)``. "auto" takes the better of 8 and 16 by the
        held-out accuracy of the first layer; a list has one rate a forest; None is no limit.
    layer_inputs : {"both", "scores", "features"}, default="both"
        What later layers see: table and scores, scores only (mdDF-ST), table only (mdDF-NP).
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Inputs tried at a node.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
    min_samples_leaf : int, default=1
    min_weight_fraction_leaf : float, default=0.0
        Least weight of a leaf, as a fraction of the weight a tree sees.
    max_layers : int, default=10
    patience : int, default=3
        Layers in a row without improvement before growing stops.
    min_improvement : float, default=1e-4
    monitor : str or callable, default="accuracy"
        What stops growing and picks the layer: "accuracy", "margin_ratio", or any scikit-learn scorer, on
        held-out predictions.
    validation_fraction : float or None, default=None
        Decide on this share of the rows, set aside, instead of on the held-out predictions of all.
    calibrate : bool or {"auto", "temperature", "isotonic"}, default=True
        Calibrate probabilities on the held-out scores. Never changes a prediction.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list of names, positions, mask or None, default="from_dtype"
    max_bins : int, default=255
    keep_in_memory : bool, default=True
        False: finished layers are written to a folder and mapped back.
    spill_folder : str, Path or None, default=None
        That folder; None is a temporary one that goes with the estimator.
    keep_held_out : bool, default=False
        Keep ``staged_held_out_scores_``, which the figures need.
    max_memory : float or None, default=None
        Bytes a fit may take: beyond them finished layers go to disk, or the fit is refused with its estimate.
    n_jobs : int or None, default=None
        Threads (or workers of the active joblib backend). Results do not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    layers_ : list of LayerRecord
        One record a layer, kept or not; ``pandas.DataFrame(model.layers_)`` is a table.
    n_layers_ : int
        Layers that predict.
    alphas_ : ndarray, one entry a layer
        Weight of each layer in the final score.
    held_out_scores_ : ndarray, shape (n_rows, n_classes)
        Scores of the training rows from models that did not see them (NaN for rows of weight 0).
    held_out_labels_ : ndarray of int32, shape (n_rows,)
        Class codes of those rows.
    staged_held_out_scores_ : list of ndarray
        The same for every layer, with `keep_held_out`.
    forests_ : list of (str, int)
        Kind and number of trees of each forest of a layer.
    depth_schedule_ : tuple
        The growth rate of each forest.
    reweighting_ : WeightRule
        The rule in force ("chosen" resolved).
    feature_importances_ : ndarray, shape (n_features,)
    n_features_in_, feature_names_in_, schema_
        What the training table looked like.

    Notes
    -----
    Accuracies and margin ratios of held-out points choose the layer; they are ESTIMATES and HEURISTICS and no
    guarantee. Rows are put in an order of their own first, so the order of the training rows does not matter.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MarginDeepForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> model.predict(X[:2]).tolist(), model.layers_[0].n_trees
    ([0, 0], 200)
    """

    __report_facts__ = report_facts.margin_report_facts

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        forests: Any = "auto",
        cross_fit: str = "kfold",
        n_folds: int = 5,
        theta: float = 0.8,
        mu_loss: float = 0.05,
        step: str = "simplex",
        margins: str = "layer",
        reweighting: str = "sample_size",
        strength: float | None = None,
        weighting: str = "reweight",
        depth_schedule: Any = "auto",
        layer_inputs: str = "both",
        max_features: Any = "sqrt",
        criterion: str = "gini",
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_layers: int = 10,
        patience: int = 3,
        min_improvement: float = 1e-4,
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
        self.theta = theta
        self.mu_loss = mu_loss
        self.step = step
        self.margins = margins
        self.reweighting = reweighting
        self.strength = strength
        self.weighting = weighting
        self.depth_schedule = depth_schedule
        self.layer_inputs = layer_inputs
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
    def alphas_(self) -> NDArray[np.float64]:
        """Weight of each kept layer in the final score."""
        return np.array(self.model_.alphas())

    def _check(self, compositions: list[list[Member]]) -> None:
        check_number(self, "theta", 0.0, 1.0, open_ends=True)
        check_number(self, "mu_loss", 1e-12, 1.0)
        self._check_steps()
        for members in compositions:
            parse_schedules(self.depth_schedule, len(members))

    def _check_steps(self) -> None:
        """What does not depend on the target and the depth."""
        check_choice(self, "step", ("simplex", "literal", "capped"))
        check_choice(self, "margins", ("layer", "of_sum"))
        check_choice(self, "reweighting", tuple(STRENGTHS))
        check_choice(self, "weighting", ("reweight", "resample"))
        check_choice(self, "layer_inputs", ("both", "scores", "features"))
        if self.strength is not None:
            check_number(self, "strength", 0.0, 1.0)

    def _plan(
        self, members: list[Member], schedule: Schedule, step: StepRule, n_folds: int, seed: int
    ) -> MarginPlan:
        strength = STRENGTHS[self.reweighting] if self.strength is None else float(self.strength)
        return MarginPlan(
            members=members,
            settings=self._tree_settings(),
            schedule=schedule,
            step=step,
            weights=WeightRule(self.reweighting, strength),
            n_folds=n_folds,
            cross_fit=self.cross_fit,
            layer_inputs=self.layer_inputs,
            max_layers=self.max_layers,
            patience=self.patience,
            min_improvement=self.min_improvement,
            monitor=self.monitor,
            max_bins=self.max_bins,
            seed=seed,
        )

    def _grow(
        self,
        training: TrainingSet,
        validation: TrainingSet | None,
        compositions: list[list[Member]],
        n_folds: int,
        seed: int,
        run: RunOptions,
    ) -> MarginFit:
        step = StepRule(self.step, self.margins, float(self.theta), float(self.mu_loss))
        plans = [
            self._plan(members, schedule, step, n_folds, seed)
            for members in compositions
            for schedule in self._schedules(members)
        ]
        plan, first = choose_first_layer(training, plans, run)
        if not only_forests(plan.members):
            return grow_margin_forest(training, plan, run, first=first, validation=validation)
        training = training.without_numbers()
        validation = None if validation is None else validation.without_numbers()
        return grow_margin_forest(training, plan, run, first=first, validation=validation)

    def _schedules(self, members: list[Member]) -> list[Schedule]:
        """The depths to compare; beside a machine, which has none, the largest is enough."""
        schedules = parse_schedules(self.depth_schedule, len(members))
        return schedules[-1:] if has_machine([members]) else schedules

    def _offered(self, compositions: list[list[Member]], table: Table) -> list[list[Member]]:
        if len(compositions) == 1 or isinstance(self.depth_schedule, list | tuple):
            return compositions
        limit = np.inf if self.max_memory is None else self.max_memory / 2
        needed = machine_bytes(table.n_rows, table.n_columns, effective_n_jobs(self.n_jobs))
        if needed > limit or not suits_contrasts(table):
            return compositions
        return [*compositions, parse_members(CONTRAST_BLOCK, self.n_estimators)]

    def _store(
        self, inputs: Any, reader: Any, ordered: Any, training: Any, grown: MarginFit, run: Any
    ) -> None:
        if only_forests(grown.plan.members):
            reader = replace(reader, numbers=None)
        super()._store(inputs, reader, ordered, training, grown, run)
        self.depth_schedule_ = grown.plan.schedule
        self.reweighting_ = grown.plan.weights
        self.forests_ = [(member.kind, member.n_trees) for member in grown.plan.members]

    def _trace_importances(self) -> NDArray[np.float64]:
        traced: list[NDArray[np.float64]] = []
        alphas: list[float] = []
        for layer in self.model_.layers:
            earlier = mix(traced, alphas) if traced else None
            sees_table = self.model_.layer_inputs != "scores"
            traced.append(trace_layer(layer.importances, self.n_features_in_, earlier, sees_table))
            keep = 1.0 - layer.step if alphas and self.model_.mode == "simplex" else 1.0
            alphas = [keep * alpha for alpha in alphas] + [layer.step]
        return mix(traced, alphas)

    def _explained(self, base: Any, names: list[str]) -> tuple[str, NDArray[np.float64], list[list[Any]]]:
        told: list[list[Any]] = [[] for _ in range(base.matrix.n_rows)]
        kinds, only_scores = [kind for kind, _ in self.forests_], self.model_.layer_inputs == "scores"
        alphas, layers = self.model_.alphas(), self.model_.layers
        for number, (inputs, vectors, scores) in enumerate(self.model_.walk(base, self.n_jobs)):
            asked = questions_asked(layers[number].block, inputs, names, only_scores and number > 0)
            for row, own in enumerate(told):
                share = alphas[number] / sum(alphas)
                own.append(
                    layer_entry(
                        number + 1, share, kinds, vectors[:, row], scores[row], asked[row], self.classes_
                    )
                )
        return "margin_forest", scores, told

    def __certificate_evidence__(self) -> Iterator[Any]:
        """Held-out error, margin ratio, and the value of the stated theorem (4.7): no guarantee."""
        yield from super().__certificate_evidence__()
        yield from theorem_evidence(self)

    def _first_depth(self, n_members: int) -> list[int | None]:
        schedule = parse_schedules(self.depth_schedule, n_members)[-1]
        return [None if rate is None else 2 * rate for rate in schedule]

    def _trial_layers(self) -> tuple[float, float]:
        compositions = parse_compositions(self.forests, self.n_estimators)
        tried = len(compositions) * len(parse_schedules(self.depth_schedule, len(compositions[0]))) - 1
        return tried, tried

    def _vector_columns(self, n_classes: int, n_members: int) -> int:
        return n_classes


def parse_schedules(depth_schedule: Any, n_members: int) -> list[Schedule]:
    """The schedules to compare, each with one growth rate a forest.

    Examples
    --------
    >>> parse_schedules(8, 2), parse_schedules(None, 1)
    ([(8, 8)], [(None,)])
    """
    if isinstance(depth_schedule, str) and depth_schedule == "auto":
        return [(rate,) * n_members for rate in AUTO_SCHEDULES]
    if depth_schedule is None or _is_rate(depth_schedule):
        return [(depth_schedule,) * n_members]
    is_list = isinstance(depth_schedule, list | tuple) and len(depth_schedule) == n_members
    if is_list and all(rate is None or _is_rate(rate) for rate in depth_schedule):
        return [tuple(depth_schedule)]
    raise ValueError(
        "depth_schedule must be a positive integer, None, 'auto', or a list with an integer or None for each "
        f"of the {n_members} forests, got {depth_schedule!r}."
    )


def _is_rate(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and value >= 1
