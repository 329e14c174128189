"""Baselines of the mdDF paper (theory.md §4.8): random forest, XGBoost, and multi-layer perceptrons.

They are scikit-learn's and XGBoost's own, with default parameters but for the sizes. All see the same
numbers: standardised, categories one-hot, missing values imputed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from surewood.experiments.errors import ExperimentError
from surewood.tables import DesignEncoder, TableSchema

Codes = NDArray[np.int64]
Numbers = NDArray[np.float32]


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
        raise ExperimentError(
            "the baseline XGBoost needs the package xgboost: pip install 'surewood[peers]'."
        ) from error
    model = XGBClassifier(n_estimators=rounds, random_state=seed, n_jobs=n_jobs).fit(X, y)
    n_classes = int(y.max()) + 1
    trees = rounds * (n_classes if n_classes > 2 else 1)
    return Fitted(model.predict(X_test), {"trees": trees}, {"rounds": rounds})


def perceptron(
    X: Numbers, y: Codes, X_test: Numbers, architectures: Sequence[Sequence[int]], epochs: int, seed: int
) -> Fitted:
    """The architecture with the best accuracy on a fifth of the training part, retrained on all of it."""
    stratify = y if np.bincount(y).min() >= 2 else None
    X_fit, X_val, y_fit, y_val = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=stratify)
    scores = [_perceptron(a, epochs, seed).fit(X_fit, y_fit).score(X_val, y_val) for a in architectures]
    best = list(architectures[int(np.argmax(scores))])
    model = _perceptron(best, epochs, seed).fit(X, y)
    chosen = {"architecture": "-".join(map(str, best)), "epochs": int(model.n_iter_)}
    return Fitted(model.predict(X_test), {"validation_accuracy": 100.0 * max(scores)}, chosen)


class _Perceptron(MLPClassifier):  # type: ignore[misc]
    """Ends at its number of epochs without a warning: that number is a size of the profile."""

    def fit(self, X: Any, y: Any) -> Any:
        import warnings

        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return super().fit(X, y)


def _perceptron(architecture: Sequence[int], epochs: int, seed: int) -> _Perceptron:
    # ReLU, cross-entropy and Adam are scikit-learn's defaults; the paper's Adadelta is not to be had there.
    return _Perceptron(tuple(architecture), max_iter=epochs, random_state=seed)
