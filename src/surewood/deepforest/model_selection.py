"""Choosing target, loss and depth of a margin forest by held-out score, sharing first layers ([D-31])."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from surewood.deepforest.base import MarginForestBase
from surewood.deepforest.data import PreparedData
from surewood.deepforest.depth_schedules import parse_schedules
from surewood.deepforest.members import PUBLISHED, parse_compositions
from surewood.deepforest.model import MarginForestModel
from surewood.deepforest.parameters import (
    DEPTH_SCHEDULE,
    MARGIN_RULES,
    MARGIN_SWITCHES,
    MU_LOSS,
    THETA,
)
from surewood.deepforest.plan import Blocks, Parameters, SearchPlan, plan_search
from surewood.deepforest.search import SearchResult, SettingRecord
from surewood.deepforest.training import search_margin_forest, train_best_setting
from surewood.estimators.declaring import parameters
from surewood.estimators.parameters import COMMON, Switch
from surewood.estimators.rules import Boolean, ListOf, Nullable, Number, Rule
from surewood.tables import Table

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
max_memory, time_limit, remember_rows, n_jobs, random_state, verbose
        As in :class:`MarginDeepForestClassifier`.
    study : dict or None, default=None
        Switches that only a study needs: those of :class:`MarginDeepForestClassifier` and the two below.

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
    model_, classes_, layers_, n_layers_, stop_reason_, alphas_, forests_, depth_schedule_, reweighting_, \
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
        Least rows of a leaf.

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
        study = {"reweighting": "literal", "halving": None, **(parameters.pop("study", None) or {})}
        return cls(**{**PAPER_GRID, "forests": PUBLISHED, "study": study, **parameters})

    def _blocks(self, parameters: Parameters, table: Table) -> Blocks:
        # No contrast classifiers: one in each layer of dozens of settings would take hours.
        blocks = parse_compositions(parameters["forests"], parameters["n_estimators"])
        for members in blocks:
            for schedule in parameters["schedules"]:
                parse_schedules(schedule, len(members))
        return blocks

    def _plan(self, parameters: Parameters, blocks: Blocks, data: PreparedData, seed: int) -> SearchPlan:
        return plan_search(parameters, blocks, data, seed)

    def _train(self, plan: SearchPlan, data: PreparedData) -> tuple[SearchResult, MarginForestModel | None]:
        found = search_margin_forest(plan, data)
        return found, train_best_setting(plan, data, found) if plan.refit else None

    def _store(self, fitted: tuple[SearchResult, MarginForestModel | None]) -> None:
        found, model = fitted
        given = None if isinstance(self.forests, str) else list(self.forests)
        for name, value in search_attributes(found.settings, found.best_index, given).items():
            setattr(self, name, value)
        if model is not None:
            self.model_ = model
        elif "model_" in vars(self):  # of an earlier fit
            del self.model_

    @classmethod
    def _state_of_today(cls, state: dict[str, Any]) -> dict[str, Any]:
        state = super()._state_of_today(state)
        if "settings" in state:  # of a model file of format 1
            settings = state.pop("settings")
            best = max(range(len(settings)), key=lambda k: (settings[k].score, -k))
            given = None if isinstance(state["forests"], str) else list(state["forests"])
            state.update(search_attributes(settings, best, given))
        return state


def search_attributes(
    settings: tuple[SettingRecord, ...], best_index: int, forests: list[Any] | None
) -> dict[str, Any]:
    """The public attributes of a search; `forests` as the user gave them, None where they were chosen."""
    params = [
        {
            "forests": list(setting.forests) if forests is None else forests,
            "theta": setting.theta,
            "mu_loss": setting.mu_loss,
            "depth_schedule": setting.schedule,
        }
        for setting in settings
    ]
    score = np.array([setting.score for setting in settings])
    results: dict[str, Any] = {
        "params": params,
        "param_theta": np.array([setting.theta for setting in settings]),
        "param_mu_loss": np.array([setting.mu_loss for setting in settings]),
        "param_depth_schedule": [setting.schedule for setting in settings],
        "param_forests": [setting.forests for setting in settings],
        "mean_test_score": score,
        "rank_test_score": 1 + (score[:, None] < score).sum(axis=1),
        "n_layers": np.array([setting.n_layers for setting in settings]),
    }
    return {
        "cv_results_": results,
        "best_index_": best_index,
        "best_params_": params[best_index],
        "best_score_": float(score[best_index]),
    }
