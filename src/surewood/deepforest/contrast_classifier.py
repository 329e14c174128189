"""A softmax regression on folded contrasts of rows: in a forest's place where a table is wide.

Forests cut one column at a time; a contrast sees all of them at once (:mod:`.contrast_units`). The softmax is
fitted by accelerated steps of one fixed curvature, that of least squares: a softmax is nowhere more curved
than half of it (Böhning 1992), so one Cholesky factor serves the start, least squares itself, and all steps.
Few steps are made and the start is near: stopping early is part of the regularisation.

Rows pass in blocks and their units are computed anew each time, so memory holds the inner products of the
units and never the units of all rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import ssyrk
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from surewood._arrays import Floats, Singles
from surewood.deepforest.contrast_units import ContrastUnits
from surewood.estimators.declaring import parameters

_FIT_ROWS = 512  # rows of a block: large for the inner products of a fit,
_PREDICT_ROWS = 64  # small for the prediction of a single row
_ROWS_PER_UNIT = 4  # training rows for each unit
_START = 4.0  # least squares predicts -1 or 1; as log-odds these are larger
_SHRINK = 0.1  # ridge of the softmax, as a part of that of the curvature


@parameters()
class _ContrastClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Softmax regression on folded contrasts.

    A member of a block, not an estimator of its own: tables are read and checked before it sees them.

    Parameters
    ----------
    n_units : int, default=6000
        Largest number of units; at most one for every four training rows.
    n_kept : int, default=500
        Training rows that contrasts connect.
    ridge : float, default=1e-4
        Ridge of the curvature, relative to the mean square of a unit.
    n_steps : int, default=10
        Steps from least squares towards the softmax.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : ndarray
    units_ : ContrastUnits
    coef_ : ndarray of float32, shape (n_units, n_classes)
    intercept_ : ndarray of float32, shape (n_classes,)
    """

    n_units: int = field(default=6000, kw_only=False)
    n_kept: int = 500
    ridge: float = 1e-4
    n_steps: int = 10
    random_state: Any = None

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, stop: NDArray[np.uint8] | None = None
    ) -> _ContrastClassifier:
        """Draw units from the rows and fit the softmax; rows have at least two classes.

        `stop`, an array of one number, ends the fit soon after another thread has made that number 1.
        """
        X = np.asarray(X, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        rng = check_random_state(self.random_state)
        self.units_ = ContrastUnits.draw(X, self.units_for(len(X)), self.n_kept, rng)
        projections = np.empty((len(X), len(self.units_.rows)), np.float32)
        for rows in _blocks(len(X), _FIT_ROWS):
            projections[rows] = self.units_.projections(X[rows])
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        softmax = _Softmax(self.units_, projections, codes, weight / weight.mean(), self.ridge, stop)
        for _ in range(self.n_steps):
            softmax.step()
        self.coef_, self.intercept_ = softmax.result()
        return self

    def units_for(self, n_rows: int) -> int:
        """The number of units for this many training rows."""
        return int(max(1, min(self.n_units, n_rows // _ROWS_PER_UNIT)))

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities; those of a row do not depend on the rows beside it."""
        X = np.asarray(X, dtype=np.float64)
        out = np.empty((len(X), len(self.classes_)))
        # Products of one shape add up in one order, wherever a row stands: short blocks are filled up.
        block = np.zeros((_PREDICT_ROWS, X.shape[1]))
        for rows in _blocks(len(X), _PREDICT_ROWS):
            block[: rows.stop - rows.start] = X[rows]
            scores = self.units_.values(self.units_.projections(block)) @ self.coef_ + self.intercept_
            out[rows] = _softmax(scores.astype(np.float64))[: rows.stop - rows.start]
        return out

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class _Softmax:
    """The regression while it is fitted: units are centred in the formulas, never in memory."""

    def __init__(
        self,
        units: ContrastUnits,
        projections: Singles,
        codes: NDArray[Any],
        weight: Floats,
        ridge: float,
        stop: NDArray[np.uint8] | None,
    ) -> None:
        self.units, self.projections, self.stop = units, projections, stop
        self.weight = weight.astype(np.float32)[:, None]
        self.total = float(weight.sum())
        self.targets = np.zeros((len(codes), int(codes.max()) + 1), np.float32)
        self.targets[np.arange(len(codes)), codes] = 1.0
        frequencies = np.bincount(codes, weights=weight) / self.total
        moments = self._moments(frequencies.astype(np.float32), ridge)
        self.coef = 2.0 * _START * cho_solve(self.factor, moments, check_finite=False)
        self.offset = _START * (2.0 * frequencies - 1.0)  # score of a row whose units are all at their mean
        self.ahead = self.coef, self.offset
        self.momentum = 1.0

    def _blocks(self) -> Iterator[tuple[slice, Singles]]:
        for rows in _blocks(len(self.projections), _FIT_ROWS):
            if self.stop is not None and self.stop[0]:
                raise InterruptedError("the fit was stopped.")
            yield rows, self.units.values(self.projections[rows])

    def _moments(self, frequencies: Singles, ridge: float) -> Singles:
        """Factor the inner products of the centred units; return those with the centred targets."""
        n_units = self.units.n_units
        sums = np.zeros(n_units)
        inner = np.zeros((n_units, n_units), np.float32, order="F")
        moments = np.zeros((n_units, len(frequencies)), np.float32)
        for rows, values in self._blocks():
            weight = self.weight[rows]
            sums += (weight.T @ values)[0]
            moments += values.T @ (weight * (self.targets[rows] - frequencies))
            values *= np.sqrt(weight)
            inner = ssyrk(1.0, values.T, beta=1.0, c=inner, lower=1, overwrite_c=1)
        self.mean = (sums / self.total).astype(np.float32)
        inner = ssyrk(-self.total, self.mean[:, None], beta=1.0, c=inner, lower=1, overwrite_c=1)
        self.ridge = ridge * float(np.trace(inner, dtype=np.float64)) / n_units or 1.0
        self._factor(inner)
        return moments

    def _factor(self, inner: Singles) -> None:
        """Cholesky in place; where units are nearly dependent, single precision needs a larger ridge."""
        _mirror(inner, inner.T)  # the factor is written below the diagonal, the copy above it stays
        diagonal = np.diag(inner).copy()
        while True:
            np.einsum("ii->i", inner)[:] = diagonal + np.float32(self.ridge)
            try:
                self.factor = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)
                return
            except LinAlgError:
                self.ridge *= 10.0
                _mirror(inner.T, inner)

    def step(self) -> None:
        """One accelerated step (Nesterov) of the fixed curvature."""
        coef, offset = self.ahead
        slope, lift = self._gradient(coef, offset)
        slope -= self.ridge * _SHRINK * coef
        new_coef = coef + cho_solve(self.factor, slope, check_finite=False)
        new_offset = offset + lift / self.total
        momentum = (1.0 + math.sqrt(1.0 + 4.0 * self.momentum**2)) / 2.0
        beyond = (self.momentum - 1.0) / momentum
        self.ahead = (
            new_coef + beyond * (new_coef - self.coef),
            new_offset + beyond * (new_offset - self.offset),
        )
        self.coef, self.offset, self.momentum = new_coef, new_offset, momentum

    def _gradient(self, coef: Singles, offset: Floats) -> tuple[Singles, Floats]:
        """Twice the gradient of the log likelihood, to go with twice the bound of its curvature."""
        intercept = (offset - self.mean @ coef).astype(np.float32)
        slope, lift = np.zeros_like(coef), np.zeros(coef.shape[1])
        for rows, values in self._blocks():
            misses = (self.targets[rows] - _softmax(values @ coef + intercept)) * (2.0 * self.weight[rows])
            slope += values.T @ misses
            lift += misses.sum(axis=0, dtype=np.float64)
        return slope - np.outer(self.mean, lift.astype(np.float32)), lift

    def result(self) -> tuple[Singles, Singles]:
        """Coefficients and intercept of the units themselves."""
        return self.coef, (self.offset - self.mean @ self.coef).astype(np.float32)


def _mirror(lower: Singles, upper: Singles) -> None:
    """Copy what stands below the diagonal of a square to below that of another."""
    for j in range(len(lower)):
        upper[j + 1 :, j] = lower[j + 1 :, j]


def _softmax(scores: NDArray[Any]) -> NDArray[Any]:
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


def _blocks(n_rows: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))
