"""Choosing target, loss and depth of a margin forest by held-out score, with the first layer shared ([D-31]).

The first layer depends on the depth schedule only, so the 72 settings of the paper need four first layers.
Later layers differ in their weights and must be grown; ``halving`` drops the worse settings layer by layer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from numbers import Real
from typing import Any

import numpy as np

from surewood.deepforest.additive import StepRule
from surewood.deepforest.block import BlockFit
from surewood.deepforest.checks import check_number
from surewood.deepforest.first_layer import choose_first_layer
from surewood.deepforest.margin_forest import MarginDeepForestClassifier, parse_schedules
from surewood.deepforest.margin_growth import (
    MarginFit,
    MarginGrowth,
    MarginPlan,
    grow_margin_forest,
)
from surewood.deepforest.members import Member, parse_compositions
from surewood.deepforest.training import RunOptions, TrainingSet
from surewood.tables import Table

#: The grid of the paper (4.3), [D-27]: 6 x 3 x 4 settings.
PAPER_GRID = {
    "thetas": (0.7, 0.75, 0.8, 0.85, 0.9, 0.95),
    "mus": (0.01, 0.05, 0.1),
    "schedules": (2, 4, 8, 16),
}


@dataclass(frozen=True)
class SettingRecord:
    """One setting of the grid and how far it came.

    Attributes
    ----------
    forests : tuple of str
    theta, mu_loss : float
    schedule : int, None or tuple
    score : float
        Best monitored score over its layers (ESTIMATE, biased by the choice).
    n_layers : int
        Layers it was grown to before it was dropped or stopped.
    """

    forests: tuple[str, ...]
    theta: float
    mu_loss: float
    schedule: Any
    score: float
    n_layers: int


class MarginDeepForestClassifierCV(MarginDeepForestClassifier):
    """Margin deep forest with target, loss and depth schedule chosen by held-out score.

    Parameters
    ----------
    n_estimators : int, default=100
    thetas : tuple of float, default=(0.7, 0.8, 0.9)
    mus : tuple of float, default=(0.05,)
    schedules : tuple, default=(4, 8, 16)
        Growth rates of the depth (or None), each as `depth_schedule` of :class:`MarginDeepForestClassifier`.
        ``MarginDeepForestClassifierCV(**PAPER_GRID)`` searches the 72 settings of the paper.
    halving : float or None, default=3.0
        After each layer only one in `halving` of the settings goes on; None grows every one to its end.
    forests : list or "auto", default="auto"
        "auto" takes, for each schedule, the block with the best held-out score at the first layer.
    **parameters
        All other parameters of :class:`MarginDeepForestClassifier` but `theta`, `mu_loss`, `depth_schedule`.

    Attributes
    ----------
    best_params_ : dict
        The chosen ``forests``, ``theta``, ``mu_loss`` and ``depth_schedule``.
    settings_ : list of SettingRecord
        All settings with their scores.

    See Also
    --------
    MarginDeepForestClassifier : with fixed values; it has all other attributes and methods.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MarginDeepForestClassifierCV(5, thetas=(0.7, 0.9), schedules=(4,), random_state=0).fit(X, y)
    >>> sorted(model.best_params_), len(model.settings_)
    (['depth_schedule', 'forests', 'mu_loss', 'theta'], 2)
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        forests: Any = "auto",
        cross_fit: str = "kfold",
        n_folds: int = 5,
        thetas: Any = (0.7, 0.8, 0.9),
        mus: Any = (0.05,),
        schedules: Any = (4, 8, 16),
        halving: float | None = 3.0,
        step: str = "simplex",
        margins: str = "layer",
        reweighting: str = "sample_size",
        strength: float | None = None,
        weighting: str = "reweight",
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
        self.thetas = thetas
        self.mus = mus
        self.schedules = schedules
        self.halving = halving
        self.step = step
        self.margins = margins
        self.reweighting = reweighting
        self.strength = strength
        self.weighting = weighting
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

    def _offered(self, compositions: list[list[Member]], table: Table) -> list[list[Member]]:
        return compositions  # a machine in each layer of dozens of settings would take hours

    def _check(self, compositions: list[list[Member]]) -> None:
        self._check_steps()
        for name in ("thetas", "mus", "schedules"):
            values = getattr(self, name)
            if not isinstance(values, list | tuple | np.ndarray) or len(values) == 0:
                raise ValueError(f"{name} must be a list with at least one value, got {values!r}.")
        for value in self.thetas:
            if not (isinstance(value, Real) and 0.0 < value < 1.0):
                raise ValueError(f"thetas must be strictly between 0 and 1, got {value!r}.")
        for value in self.mus:
            if not (isinstance(value, Real) and 0.0 < value <= 1.0):
                raise ValueError(f"mus must be in (0, 1], got {value!r}.")
        for value in self.schedules:
            for members in compositions:
                parse_schedules(value, len(members))
        if self.halving is not None:
            check_number(self, "halving", 1.0, float("inf"), open_ends=True)

    def _grow(
        self,
        training: TrainingSet,
        validation: TrainingSet | None,
        compositions: list[list[Member]],
        n_folds: int,
        seed: int,
        run: RunOptions,
    ) -> MarginFit:
        plans, firsts = self._plans(compositions, n_folds, seed), {}
        for schedule in dict.fromkeys(plan.schedule for plan in plans):
            blocks = {plan.first_key: plan for plan in plans if plan.schedule == schedule}
            plan, fit = choose_first_layer(training, list(blocks.values()), run)
            firsts[plan.first_key] = fit
        plans = [plan for plan in plans if plan.first_key in firsts]
        trials = search(training, validation, plans, firsts, run, self.halving)
        best = max(range(len(trials)), key=lambda i: (trials[i].score, -i))
        plan, first = plans[best], firsts[plans[best].first_key]
        fit = grow_margin_forest(training, plan, run, first=first, validation=validation)
        return SearchedFit(**vars(fit), settings=[setting(p, t) for p, t in zip(plans, trials)])

    def _plans(self, compositions: list[list[Member]], n_folds: int, seed: int) -> list[MarginPlan]:
        """One plan a setting; earlier ones win ties."""
        plans = []
        for members, schedule, theta, mu in product(compositions, self.schedules, self.thetas, self.mus):
            for rates in parse_schedules(schedule, len(members)):
                step = StepRule(self.step, self.margins, float(theta), float(mu))
                plans.append(self._plan(members, rates, step, n_folds, seed))
        return plans

    def _store(self, inputs: Any, reader: Any, ordered: Any, training: Any, grown: Any, run: Any) -> None:
        super()._store(inputs, reader, ordered, training, grown, run)
        self.settings_: list[SettingRecord] = grown.settings
        best = max(self.settings_, key=lambda record: record.score)
        self.best_params_ = {
            "forests": list(best.forests),
            "theta": best.theta,
            "mu_loss": best.mu_loss,
            "depth_schedule": best.schedule,
        }

    def _trial_layers(self) -> tuple[float, float]:
        """First layers are shared by the targets; one in `halving` of the settings goes on at each layer."""
        compositions = parse_compositions(self.forests, self.n_estimators)
        first = len(compositions) * len(self.schedules)
        settings = first * len(self.thetas) * len(self.mus)
        later = self.max_layers if self.halving is None else 1.0 / (1.0 - 1.0 / float(self.halving))
        return first, first + settings * later

    def _first_depth(self, n_members: int) -> list[int | None]:
        schedule = parse_schedules(self.schedules[-1], n_members)[-1]
        return [None if rate is None else 2 * rate for rate in schedule]


@dataclass
class SearchedFit(MarginFit):
    """The fit of the chosen setting, with the record of all."""

    settings: list[SettingRecord]


@dataclass
class Trial:
    """How a setting did in the search."""

    score: float
    n_layers: int


def search(
    training: TrainingSet,
    validation: TrainingSet | None,
    plans: list[MarginPlan],
    firsts: dict[Any, BlockFit],
    run: RunOptions,
    halving: float | None,
) -> list[Trial]:
    """Grow all settings side by side, layer by layer, dropping the worse ones.

    Trees are thrown away as soon as their layer has been judged, so memory stays that of one layer a
    schedule.
    """
    run = replace(run, scores_only=True, spill=None, keep_held_out=False, verbose=0)
    growths = [MarginGrowth(training, plan, run, validation) for plan in plans]
    for growth in growths:
        growth.add_first(firsts[growth.plan.first_key])
    alive = [i for i, growth in enumerate(growths) if not growth.finished]
    while alive:
        for i in alive:
            growths[i].add_next()
        scores = [max(growth.monitor.scores) for growth in growths]
        if halving is not None:
            leaders = sorted(range(len(growths)), key=lambda i: (-scores[i], i))
            kept = max(1, math.ceil(len(alive) / halving)) if len(alive) > 1 else 1
            alive = [i for i in leaders if i in alive][:kept]
        alive = sorted(i for i in alive if not growths[i].finished)
        if len(alive) == 1 and halving is not None and _is_settled(scores, alive[0]):
            break
    return [Trial(max(growth.monitor.scores), len(growth.records)) for growth in growths]


def _is_settled(scores: list[float], leader: int) -> bool:
    """Whether the one setting left leads already: more layers cannot change the choice."""
    return scores[leader] >= max(scores)


def setting(plan: MarginPlan, trial: Trial) -> SettingRecord:
    """The record of a setting."""
    forests = tuple(member.kind for member in plan.members)
    return SettingRecord(
        forests, plan.step.theta, plan.step.mu_loss, _short(plan.schedule), trial.score, trial.n_layers
    )


def _short(schedule: tuple[Any, ...]) -> Any:
    return schedule[0] if len(set(schedule)) == 1 else schedule
