"""The two parts of a repeat, and the methods of the mdDF paper: forests, their tuning, baselines.

Forests are built from the public estimators. A *variant* is a name and the parameters in which it differs
from mdDF under the decisions of theory.md: published block, weights proportional to the loss (4.4), simplex
steps [D-29], depth schedule a (t + 1) [D-27], stop rule [D-30], tuned by held-out accuracy [D-31]. Baselines
(§4.8) are scikit-learn's and XGBoost's own, with default parameters but for the sizes; all see the same
numbers: standardised, categories one-hot, missing values imputed.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from papers.datasets import load
from papers.mddf.program import MU, THETA, ProgramForest, category_numbers, growth_rate
from papers.protocol import PaperError, Profile, seed_of
from surewood.deepforest.estimator import CascadeForestClassifier, MarginDeepForestClassifier
from surewood.deepforest.model_selection import MarginDeepForestClassifierCV
from surewood.deepforest.scanning import MultiGrainedScanner
from surewood.tables import DesignEncoder, TableSchema

REFERENCE = "mdDF"
UNLIMITED = 1000  # growth rate of a depth that no tree reaches
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
#: other readings and options that theory.md names, for the question why a value is not reached
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
#: Sets of images: rows and columns, and gcForest's windows on them.
IMAGES = {"mnist": ((28, 28), [(7, 7), (10, 10), (13, 13)])}
Codes = NDArray[np.int64]
Numbers = NDArray[np.float32]


@dataclass(frozen=True)
class Parts:
    """Training and test part of a repeat; classes as codes 0, 1, ...

    `seeds` has the seed of the models and, where the split or the rows were drawn, that of the draw.
    """

    X: pd.DataFrame
    y: NDArray[np.int64]
    X_test: pd.DataFrame
    y_test: NDArray[np.int64]
    seeds: dict[str, int]


def parts_of(dataset: str, repeat: int, profile: Profile) -> Parts:
    """The two parts; the training part thinned to the profile's ``train_rows`` (0: all)."""
    data = load(dataset)
    seeds = {"model": seed_of("mddf", dataset, repeat)}
    if data.is_divided:
        (X, y), (X_test, y_test) = data.train, data.test
    else:
        seeds["split"] = seed_of("mddf", dataset, repeat, "split")
        n_test = int(profile.get("test_rows", dataset))
        X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=n_test, random_state=seeds["split"])
    labels = np.unique(data.y)
    codes: tuple[Any, Any] = (np.searchsorted(labels, y), np.searchsorted(labels, y_test))
    rows = int(profile.get("train_rows", dataset))
    if 0 < rows < len(X):
        seeds["rows"] = seed_of("mddf", dataset, repeat, "rows")
        kept = np.arange(len(X))
        kept, _ = train_test_split(kept, train_size=rows, stratify=codes[0], random_state=seeds["rows"])
        X, codes = X.iloc[kept], (codes[0][kept], codes[1])
    return Parts(X.reset_index(drop=True), codes[0], X_test.reset_index(drop=True), codes[1], seeds)


def scanned(parts: Parts, profile: Profile, dataset: str, n_jobs: int) -> Parts:
    """The parts as forests see them: images by gcForest's scanner, where the reading says so."""
    if profile.readings.scanner == "none" or dataset not in IMAGES:
        return parts
    shape, windows = IMAGES[dataset]
    most = profile.get("scanner_windows", dataset)
    scanner = MultiGrainedScanner(
        shape=shape,
        windows=windows,
        stride=2,
        n_estimators=profile.get("scanner_trees", dataset),
        max_windows=len(parts.X) * math.prod(shape) if most == "all" else most,
        random_state=parts.seeds["model"],
        n_jobs=n_jobs,
    )
    X = pd.DataFrame(scanner.fit_transform(parts.X, parts.y).astype(np.float32))
    return replace(parts, X=X, X_test=pd.DataFrame(scanner.transform(parts.X_test).astype(np.float32)))


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


def max_layers(profile: Profile, dataset: str, key: str = "max_layers") -> int:
    """The largest number of layers, as the profile or the reading says."""
    layers = profile.readings.layers
    return int(profile.get(key, dataset) if layers == "capped" else layers)


def common_parameters(profile: Profile, dataset: str, seed: int, n_jobs: int) -> dict[str, Any]:
    """What all margin forests of the paper share."""
    return {
        "forests": list(profile.get("forests", dataset)),
        "cv": profile.get("folds", dataset),
        "max_layers": max_layers(profile, dataset),
        "study": {
            "reweighting": "literal",
            "step": profile.readings.step,
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
    if profile.readings.procedure == "program":
        forest = ProgramForest(profile.get("tuning_trees", dataset), rates[0], seed, n_jobs)
        a = growth_rate(forest, rates, category_numbers(X), y)
        return Tuned(THETA, MU, a, len(rates), time.process_time() - started)
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
    if profile.readings.random_tree_depth == "unlimited":
        parameters["depth_schedule"] = [
            UNLIMITED if kind == "completely_random" else tuned.a for kind in parameters["forests"]
        ]
    if profile.readings.class_vectors == "in fold":  # not while tuning: it would compare training accuracies
        parameters["study"]["cross_fit"] = "in_fold"
    changes = {**VARIANTS, **OPTIONS}[method]
    study = {**parameters["study"], **changes.get("study", {})}
    parameters.update({**changes, "study": study})
    return MarginDeepForestClassifier(profile.get("trees", dataset), **parameters)


def shipped_forest(profile: Profile, dataset: str, seed: int, n_jobs: int) -> MarginDeepForestClassifier:
    """What a user gets without asking for anything, but for the profile's limits on trees and layers."""
    return MarginDeepForestClassifier(
        profile.get("default_trees", dataset),
        max_layers=max_layers(profile, dataset),
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
        max_layers=max_layers(profile, dataset, "gcforest_max_layers"),
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


@dataclass(frozen=True)
class Fitted:
    """A baseline's predictions on the test part, and what it was."""

    predictions: Codes
    metrics: dict[str, Any]
    chosen: dict[str, Any]


def as_numbers(X: Any, X_test: Any) -> tuple[Numbers, Numbers]:
    """Both parts as numbers, with means and categories of the training part."""
    schema = TableSchema.learn(X)
    encoder = DesignEncoder().fit(schema.read(X))
    train, test = (encoder.transform(schema.read(part)).astype(np.float32) for part in (X, X_test))
    return train, test


def random_forest(X: Numbers, y: Codes, X_test: Numbers, trees: int, seed: int, n_jobs: int) -> Fitted:
    model = RandomForestClassifier(trees, random_state=seed, n_jobs=n_jobs).fit(X, y)
    return Fitted(model.predict(X_test), {"trees": trees}, {"trees": trees})


def xgboost(X: Numbers, y: Codes, X_test: Numbers, rounds: int, seed: int, n_jobs: int) -> Fitted:
    """`rounds` boosting rounds: one tree per class and round where there are more than two classes."""
    try:
        from xgboost import XGBClassifier
    except ImportError as error:
        raise PaperError(
            "the baseline XGBoost needs the package xgboost: pip install 'surewood[peers]'."
        ) from error
    model = XGBClassifier(n_estimators=rounds, random_state=seed, n_jobs=n_jobs).fit(X, y)
    n_classes = int(y.max()) + 1
    trees = rounds * (n_classes if n_classes > 2 else 1)
    return Fitted(model.predict(X_test), {"trees": trees}, {"rounds": rounds})


def perceptron(
    X: Numbers,
    y: Codes,
    X_test: Numbers,
    architectures: Sequence[Sequence[int]],
    epochs: int,
    seed: int,
    optimizer: str = "Adam",
) -> Fitted:
    """The architecture with the best accuracy on a fifth of the training part, retrained on all of it."""
    stratify = y if np.bincount(y).min() >= 2 else None
    X_fit, X_val, y_fit, y_val = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=stratify)
    make = _perceptron if optimizer == "Adam" else AdadeltaPerceptron
    scores = [float(np.mean(make(a, epochs, seed).fit(X_fit, y_fit).predict(X_val) == y_val))
              for a in architectures]  # fmt: skip
    best = list(architectures[int(np.argmax(scores))])
    model = make(best, epochs, seed).fit(X, y)
    chosen = {"architecture": "-".join(map(str, best)), "epochs": int(model.n_iter_)}
    return Fitted(model.predict(X_test), {"validation_accuracy": 100.0 * max(scores)}, chosen)


class _Perceptron(MLPClassifier):  # type: ignore[misc]
    """Ends at its number of epochs without a warning: that number is a size of the profile."""

    def fit(self, X: Any, y: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return super().fit(X, y)


def _perceptron(architecture: Sequence[int], epochs: int, seed: int) -> _Perceptron:
    # ReLU, cross-entropy and Adam are scikit-learn's defaults; the paper's Adadelta is not to be had there.
    return _Perceptron(tuple(architecture), max_iter=epochs, random_state=seed)


class AdadeltaPerceptron:
    """ReLU layers and cross-entropy with the paper's optimizer (ρ = 0.95, ε = 1e-6, rate 1).

    Batches of 200 rows, uniform weights as Glorot and Bengio draw them, and the end of scikit-learn's
    networks: ten epochs without a gain of 1e-4. Classes are codes 0, 1, ...
    """

    BATCH, RHO, EPSILON, PATIENCE, LEAST_GAIN = 200, 0.95, 1e-6, 10, 1e-4

    def __init__(self, architecture: Sequence[int], epochs: int, seed: int) -> None:
        self.architecture, self.epochs, self.seed = tuple(architecture), epochs, seed

    def fit(self, X: Numbers, y: Codes) -> AdadeltaPerceptron:
        """Train; `n_iter_` is the number of epochs."""
        rng = np.random.default_rng(self.seed)
        sizes = [X.shape[1], *self.architecture, int(y.max()) + 1]
        self.weights = []
        for above, below in pairwise(sizes):
            limit = np.sqrt(6.0 / (above + below))
            weight = rng.uniform(-limit, limit, (above + 1, below)).astype(np.float32)
            self.weights.append(weight * (np.arange(above + 1)[:, None] < above))  # the last row: intercepts
        squares = [(np.zeros_like(weight), np.zeros_like(weight)) for weight in self.weights]
        best, waited = np.inf, 0
        for epoch in range(1, self.epochs + 1):
            self.n_iter_, loss = epoch, 0.0
            order = rng.permutation(len(X))
            for start in range(0, len(X), self.BATCH):
                rows = order[start : start + self.BATCH]
                batch_loss, gradients = self.gradients(X[rows], y[rows])
                loss += batch_loss * len(rows) / len(X)
                for weight, gradient, (grown, moved) in zip(self.weights, gradients, squares):
                    grown += (1.0 - self.RHO) * (gradient**2 - grown)
                    step = np.sqrt((moved + self.EPSILON) / (grown + self.EPSILON)) * gradient
                    moved += (1.0 - self.RHO) * (step**2 - moved)
                    weight -= step
            waited = 0 if loss < best - self.LEAST_GAIN else waited + 1
            best = min(best, loss)
            if waited >= self.PATIENCE:
                break
        return self

    def _forward(self, X: Numbers) -> list[Numbers]:
        """Inputs of every layer with a column of ones, and the logits."""
        layers = [X]
        for k, weight in enumerate(self.weights):
            layers[-1] = np.column_stack([layers[-1], np.ones(len(X), dtype=np.float32)])
            values = layers[-1] @ weight
            layers.append(np.maximum(values, 0.0) if k + 1 < len(self.weights) else values)
        return layers

    def gradients(self, X: Numbers, y: Codes) -> tuple[float, list[Numbers]]:
        """Mean cross-entropy and its derivatives by every weight."""
        *layers, logits = self._forward(X)
        scores = np.exp(logits - logits.max(axis=1, keepdims=True))
        scores /= scores.sum(axis=1, keepdims=True)
        at = (np.arange(len(y)), y)
        loss = float(-np.log(np.maximum(scores[at], 1e-30)).mean())
        scores[at] -= 1.0
        error = scores / len(y)
        gradients: list[Numbers] = []
        for layer, weight in zip(reversed(layers), reversed(self.weights)):
            gradients.insert(0, layer.T @ error)
            error = (error @ weight[:-1].T) * (layer[:, :-1] > 0)
        return loss, gradients

    def predict(self, X: Numbers) -> Codes:
        """Codes of the largest logits."""
        return np.asarray(self._forward(X)[-1].argmax(axis=1), dtype=np.int64)
