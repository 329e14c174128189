"""The forests of the mdDF paper: mdDF in its readings and variants, gcForest's cascade, and their tuning.

Everything is built from the public estimators. A *variant* is a name and the parameters in which it differs
from mdDF under the decisions of theory.md: published block, weights proportional to the loss (4.4), simplex
steps [D-29], depth schedule a (t + 1) [D-27], stop rule [D-30], tuned by held-out accuracy [D-31].
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

from surewood.deepforest import (
    CascadeForestClassifier,
    MarginDeepForestClassifier,
    MarginDeepForestClassifierCV,
)
from surewood.experiments.protocol import Profile

REFERENCE = "mdDF"
GCFOREST = "gcForest"
DEFAULT = "surewood default"

#: variant -> parameters that differ from mdDF's
VARIANTS: dict[str, dict[str, Any]] = {
    "mdDF": {},
    "mdDF literal": {"study": {"step": "literal"}},
    "mdDF-SF": {"forests": ["random"] * 4},
    "mdDF-ST": {"study": {"layer_inputs": "scores"}},
    "mdDF-NP": {"study": {"layer_inputs": "features"}},
}
#: other readings and options that theory.md names, for the question why a bar is missed
OPTIONS: dict[str, dict[str, Any]] = {
    "option: capped steps": {"study": {"step": "capped"}},
    "option: margins of the sum": {"study": {"margins": "of_sum"}},
    "option: resampling": {"study": {"weighting": "resample"}},
    "option: a schedule a forest": {"depth_schedule": [2, 4, 8, 16]},
    "option: margin ratio stops": {"study": {"monitor": "margin_ratio"}},
    "option: equal weights": {"study": {"reweighting": "none"}},
    "option: tempered weights": {"study": {"reweighting": "sample_size"}},
    "option: extra-trees": {"forests": ["extra", "extra", "completely_random", "completely_random"]},
}


@dataclass(frozen=True)
class Tuned:
    """Target, slope and growth rate, how they were found, and what finding them cost."""

    theta: float
    mu: float
    a: int
    n_settings: int
    seconds: float

    def parameters(self) -> dict[str, Any]:
        return {"theta": self.theta, "mu_loss": self.mu, "depth_schedule": self.a}


def common_parameters(profile: Profile, dataset: str, seed: int, n_jobs: int) -> dict[str, Any]:
    """What all margin forests of the paper share."""
    return {
        "forests": list(profile.get("forests", dataset)),
        "cv": profile.get("folds", dataset),
        "max_layers": profile.get("max_layers", dataset),
        "study": {
            "reweighting": "literal",
            "step": "simplex",
            "patience": profile.get("patience", dataset),
        },
        "random_state": seed,
        "n_jobs": n_jobs,
    }


def tune(profile: Profile, dataset: str, X: Any, y: Any, seed: int, n_jobs: int) -> Tuned:
    """θ, μ and a by held-out accuracy on the training part ([D-31]), over the profile's grid."""
    thetas, mus, rates = (tuple(profile.get(key, dataset)) for key in ("thetas", "mus", "schedules"))
    n_settings = len(thetas) * len(mus) * len(rates)
    if n_settings == 1:
        return Tuned(thetas[0], mus[0], rates[0], 1, 0.0)
    started = time.process_time()
    parameters = common_parameters(profile, dataset, seed, n_jobs)
    parameters["study"]["halving"] = profile.get("halving", dataset)
    search = MarginDeepForestClassifierCV(
        profile.get("tuning_trees", dataset), thetas=thetas, mus=mus, schedules=rates, **parameters
    )
    best = fit_quietly(search, X, y).best_params_
    seconds = time.process_time() - started
    return Tuned(best["theta"], best["mu_loss"], best["depth_schedule"], n_settings, seconds)


def margin_forest(
    method: str, profile: Profile, dataset: str, tuned: Tuned, seed: int, n_jobs: int
) -> MarginDeepForestClassifier:
    """A variant or option of mdDF, not fitted."""
    parameters = common_parameters(profile, dataset, seed, n_jobs)
    parameters.update(tuned.parameters())
    changes = {**VARIANTS, **OPTIONS}[method]
    study = {**parameters["study"], **changes.get("study", {})}
    parameters.update({**changes, "study": study})
    return MarginDeepForestClassifier(profile.get("trees", dataset), **parameters)


def shipped_forest(profile: Profile, dataset: str, seed: int, n_jobs: int) -> MarginDeepForestClassifier:
    """What a user gets without asking for anything, but for the profile's limits on trees and layers."""
    return MarginDeepForestClassifier(
        profile.get("default_trees", dataset),
        max_layers=profile.get("max_layers", dataset),
        random_state=seed,
        n_jobs=n_jobs,
    )


def gc_forest(profile: Profile, dataset: str, seed: int, n_jobs: int) -> CascadeForestClassifier:
    """gcForest's cascade with the same forests a layer (theory.md §4.8, §5)."""
    return CascadeForestClassifier(
        profile.get("trees", dataset),
        forests=list(profile.get("forests", dataset)),
        cv=profile.get("folds", dataset),
        study={"patience": profile.get("gcforest_patience", dataset)},
        max_layers=profile.get("gcforest_max_layers", dataset),
        random_state=seed,
        n_jobs=n_jobs,
    )


def cascade_facts(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Metrics and chosen values of a fitted cascade."""
    kept = model.layers_[model.n_layers_ - 1]
    metrics = {
        "layers": model.n_layers_,
        "layers_grown": len(model.layers_),
        "trees": sum(record.n_trees for record in model.layers_ if record.kept),
        "held_out_accuracy": 100.0 * kept.accuracy,
        "first_layer_accuracy": 100.0 * model.layers_[0].accuracy,
        "margin_ratio": kept.margin_ratio,
    }
    chosen: dict[str, Any] = {}
    if isinstance(model, MarginDeepForestClassifier):
        rates = list(model.depth_schedule_)
        chosen = {
            "theta": model.theta,
            "mu": model.mu_loss,
            "a": rates[0] if len(set(rates)) == 1 else rates,
            "forests": [kind for kind, _ in model.forests_],
            "alphas": [round(float(alpha), 4) for alpha in model.alphas_],
        }
    return metrics, chosen


def fit_quietly(model: Any, X: Any, y: Any) -> Any:
    """Fit without the warning about rare classes, which every unit of yeast would repeat."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*fewer than cv=.*", category=UserWarning)
        return model.fit(X, y)
