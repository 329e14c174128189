"""The library's recommended classifier as one more method of every paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.mixture.estimator import SurewoodClassifier

FLAGSHIP = "SurewoodClassifier"


@dataclass(frozen=True)
class FlagshipFit:
    """Predictions of the test rows, the held-out error, and the weights of the members."""

    predictions: NDArray[Any]
    held_out_error: float
    weights: dict[str, float]


def fit_flagship(X: Any, y: Any, X_test: Any, seed: int, n_jobs: int) -> FlagshipFit:
    """Fit ``SurewoodClassifier()`` with its default parameters; it needs no validation part.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> fit_flagship(X[::2], y[::2], X[1::2], seed=0, n_jobs=1).predictions.shape
    (75,)
    """
    model = SurewoodClassifier(random_state=seed, n_jobs=n_jobs).fit(X, y)
    weights = {name: round(float(weight), 4) for name, weight in model.weights_.items()}
    return FlagshipFit(np.asarray(model.predict(X_test)), float(model.held_out_error_), weights)


def flagship_record(X: Any, y: Any, X_test: Any, y_test: Any, seed: int, n_jobs: int) -> dict[str, Any]:
    """The record of a fit, but for what the paper adds: sizes, seeds, seconds."""
    fitted = fit_flagship(X, y, X_test, seed, n_jobs)
    return {
        "method": FLAGSHIP,
        "metrics": {
            "error": float(np.mean(fitted.predictions != np.asarray(y_test))),
            "held_out_error": fitted.held_out_error,
        },
        "chosen": {"weights": fitted.weights},
    }
