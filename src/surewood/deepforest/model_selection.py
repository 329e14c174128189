"""Choosing target, loss and depth of a margin forest by held-out score ([D-31]).

:class:`MarginDeepForestClassifierCV` is the public class, `search_settings` its search. The first layer
depends on the block and its depths only, so the 72 settings of the paper need four first layers. Later layers
differ in their weights and have to be grown; `halving` drops the worse settings after each layer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from surewood.base.parameters import COMMON, Switch, parameters
from surewood.base.rules import Boolean, ListOf, Nullable, Number, Rule
from surewood.deepforest.blocks import BlockFit
from surewood.deepforest.data import DeepForestData, TrainingSet
from surewood.deepforest.estimator import (
    DEPTH_SCHEDULE,
    MARGIN_RULES,
    MARGIN_SWITCHES,
    MU_LOSS,
    THETA,
    MarginForestBase,
)
from surewood.deepforest.forests import PUBLISHED
from surewood.deepforest.margin_growth import MarginGrowth, choose_first_layer
from surewood.deepforest.plan import DeepForestPlan, MarginSetting
from surewood.deepforest.training import train_margin_forest

#: The grid of the paper (4.3), [D-27]: 6 x 3 x 4 settings.
PAPER_GRID = {
    "thetas": (0.7, 0.75, 0.8, 0.85, 0.9, 0.95),
    "mus": (0.01, 0.05, 0.1),
    "schedules": (2, 4, 8, 16),
}


_RULES: Mapping[str, Rule] = {
    **MARGIN_RULES,
    "thetas": ListOf(THETA, "numbers strictly between 0 and 1"),
    "mus": ListOf(MU_LOSS, "numbers above 0 and at most 1"),
    "schedules": ListOf(DEPTH_SCHEDULE, "depth schedules: 'auto', integers of at least 1, lists or None"),
    "refit": Boolean(),
}


@parameters(_RULES)
class MarginDeepForestClassifierCV(MarginForestBase):
    """Margin deep forest with target, loss and depth schedule chosen by held-out score.

    The order of the columns matters: features are drawn by position, and ties go to the first column.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of each forest (in each fold).
    forests : list or "auto", default="auto"
        "auto" takes, for each schedule, the block with the least held-out loss at the first layer.
    cv : int, splitter or list of (train, test) pairs, default=5
        Folds of the cross-fitting, as in :class:`MarginDeepForestClassifier`. Settings are compared by the
        held-out scores of these folds.
    thetas : list of float, default=(0.7, 0.8, 0.9)
        Margin targets to compare.
    mus : list of float, default=(0.05,)
        Slopes of the loss beyond the target (`mu_loss`) to compare.
    schedules : list, default=(4, 8, 16)
        Depth schedules to compare, each as `depth_schedule` of :class:`MarginDeepForestClassifier`.
    refit : bool, default=True
        Grow the best setting and keep it; without it there is only the comparison and nothing predicts.
    max_features, min_weight_fraction_leaf, max_layers, calibrate, class_weight, categorical_features, \
time_limit, remember_rows, n_jobs, random_state, verbose
        As in :class:`MarginDeepForestClassifier`.
    study : dict or None, default=None
        Switches for experiments: those of :class:`MarginDeepForestClassifier` and the two below.

    Attributes
    ----------
    best_params_ : dict
        The chosen ``forests``, ``theta``, ``mu_loss`` and ``depth_schedule``: parameters of
        :class:`MarginDeepForestClassifier`.
    best_score_ : float
        ESTIMATE, biased by the choice: best held-out score of the chosen setting.
    best_index_ : int
        Its place in `cv_results_`.
    cv_results_ : dict of arrays
        One entry per setting, made for ``pandas.DataFrame(model.cv_results_)``: ``params``,
        ``param_theta``, ``param_mu_loss``, ``param_depth_schedule``, ``param_forests``,
        ``mean_test_score``, ``rank_test_score`` as in scikit-learn, and ``n_layers``, the layers that the
        setting was grown to before it was dropped or stopped.
    model_, classes_, layers_, n_layers_, stop_reason_, alphas_, forests_, depth_schedule_, \
held_out_scores_, held_out_labels_, staged_held_out_scores_, feature_importances_, n_features_in_, \
feature_names_in_, schema_
        As in :class:`MarginDeepForestClassifier`; with ``refit=True`` only, as far as they describe a model.

    See Also
    --------
    MarginDeepForestClassifier : with fixed values.

    Notes
    -----
    **Study switches** beside those of :class:`MarginDeepForestClassifier` (with their defaults):

    halving : float or None, 3.0
        After each layer only one in `halving` of the settings goes on; None grows all of them to their end.
    min_samples_leaf : int or float, 1
        Minimum number of rows in a leaf.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MarginDeepForestClassifierCV(5, thetas=(0.7, 0.9), schedules=(4,), random_state=0).fit(X, y)
    >>> sorted(model.best_params_), len(model.cv_results_["params"])
    (['depth_schedule', 'forests', 'mu_loss', 'theta'], 2)
    """

    _study_switches = {  # noqa: RUF012
        **MARGIN_SWITCHES,
        "halving": Switch(3.0, Nullable(Number(above=1.0))),
        "min_samples_leaf": Switch(1, COMMON["min_samples_leaf"]),
    }

    thetas: Any = (0.7, 0.8, 0.9)
    mus: Any = (0.05,)
    schedules: Any = (4, 8, 16)
    refit: bool = True

    @classmethod
    def paper(cls, **parameters: Any) -> MarginDeepForestClassifierCV:
        """The published mdDF with its grid of 72 settings, all of them grown to their end.

        Parameters
        ----------
        **parameters
            Changes; a `study` adds to the published switches.

        Examples
        --------
        >>> len(MarginDeepForestClassifierCV.paper().thetas)
        6
        """
        published = {"reweighting": "literal", "step": "literal", "halving": None}
        study = published | (parameters.pop("study", None) or {})
        return cls(**{**PAPER_GRID, "forests": PUBLISHED, "study": study, **parameters})

    def _trained(self, plan: DeepForestPlan[MarginSetting], data: DeepForestData) -> dict[str, Any]:
        growths, first = search_settings(plan, data.training)
        given_forests = None if isinstance(self.forests, str) else list(self.forests)
        attributes = search_results(growths, given_forests)
        if self.refit:
            chosen, n_settings = growths[attributes["best_index_"]].setting, len(growths)
            del growths  # their scores are not needed any more
            attributes["model_"] = train_margin_forest(plan, data, chosen, first, n_settings)
        return attributes


def search_settings(
    plan: DeepForestPlan[MarginSetting], training: TrainingSet
) -> tuple[list[MarginGrowth], BlockFit]:
    """Choose a block for each depth schedule by its first layer, then search the grid.

    Returns
    -------
    growths : list of MarginGrowth
        Of every setting of the chosen blocks, without trees.
    first : BlockFit
        The first layer of the best one.
    """
    firsts: dict[Any, BlockFit] = {}
    settings: list[MarginSetting] = []
    for schedule in dict.fromkeys(candidate.schedule for candidate in plan.candidates):
        if firsts and plan.run.time_limit.is_over:
            break
        sharing = [candidate for candidate in plan.candidates if candidate.schedule == schedule]
        blocks = {candidate.first_key: candidate for candidate in sharing}
        chosen, fit = choose_first_layer(training, list(blocks.values()), plan.run)
        firsts[chosen.first_key] = fit
        # The chosen block may have got fewer trees than it was planned with.
        settings += [replace(c, members=chosen.members) for c in sharing if c.kinds == chosen.kinds]
    # Of a time limit the comparison takes half of what is left: the best setting is grown again.
    time_limit = plan.run.time_limit.divided(2)
    run = replace(plan.run, keep_held_out=False, verbose=0, time_limit=time_limit, spill=False)
    growths = [MarginGrowth(training, setting, run) for setting in settings]
    _compare(growths, firsts, plan.halving)
    return growths, firsts[growths[_best(growths)].setting.first_key]


def _compare(growths: Sequence[MarginGrowth], firsts: dict[Any, BlockFit], halving: float | None) -> None:
    """Grow all settings side by side, layer by layer, dropping the worse ones.

    Trees are dropped as soon as their layer has been judged, so that memory holds one layer per schedule.
    """
    for growth in growths:
        growth.add_first(firsts[growth.setting.first_key])
        growth.drop_trees()
    alive = [k for k, growth in enumerate(growths) if not growth.finished]
    while alive:
        for k in alive:
            growths[k].add_next()
            growths[k].drop_trees()
        scores = [growth.best_score for growth in growths]
        if halving is not None:
            leaders = sorted(alive, key=lambda k: (-scores[k], k))
            alive = leaders[: max(1, math.ceil(len(alive) / halving))]
        alive = sorted(k for k in alive if not growths[k].finished)
        if len(alive) == 1 and halving is not None and scores[alive[0]] >= max(scores):
            break  # the one setting left leads already: more layers cannot change the choice


def _best(growths: Sequence[MarginGrowth]) -> int:
    """Place of the best score, the first of equal ones."""
    return max(range(len(growths)), key=lambda k: (growths[k].best_score, -k))


def search_results(growths: Sequence[MarginGrowth], forests: list[Any] | None) -> dict[str, Any]:
    """The public attributes of a search; `forests` as the user gave them, None where they were chosen."""
    settings = [growth.setting for growth in growths]
    # A schedule as a user would write it: one number where all forests share it.
    schedules = [s.schedule[0] if len(set(s.schedule)) == 1 else s.schedule for s in settings]
    params = [
        {
            "forests": list(setting.kinds) if forests is None else forests,
            "theta": setting.step.theta,
            "mu_loss": setting.step.mu_loss,
            "depth_schedule": schedule,
        }
        for setting, schedule in zip(settings, schedules)
    ]
    score = np.array([growth.best_score for growth in growths])
    best = _best(growths)
    return {
        "cv_results_": {
            "params": params,
            "param_theta": np.array([setting.step.theta for setting in settings]),
            "param_mu_loss": np.array([setting.step.mu_loss for setting in settings]),
            "param_depth_schedule": schedules,
            "param_forests": [setting.kinds for setting in settings],
            "mean_test_score": score,
            "rank_test_score": 1 + (score[:, None] < score).sum(axis=1),
            "n_layers": np.array([len(growth.records) for growth in growths]),
        },
        "best_index_": best,
        "best_params_": params[best],
        "best_score_": float(score[best]),
    }
