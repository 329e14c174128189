"""Contrast classifiers, in a forest's place where a table is wide (docs/margin-forest.md).

Forests cut one column at a time; a *contrast*, the direction from one training row to another, sees all of
them at once. A *unit* is the square of how far a row lies along a contrast beyond a threshold, and 0 before
it. Labels are not used to draw units, nor is the order of the columns: two rows of a table show which columns
change together. :class:`ContrastUnits` are the units of a table, :class:`_ContrastClassifier` is a softmax
regression on them, and `suits_contrasts` says which tables are offered one.

The rows that contrasts connect are few (`n_kept`), so a row is projected on those once, and each of thousands
of units is a difference of two of its projections. Rows pass in blocks and their units are computed anew each
time, so memory holds the inner products of the units and never the units of all rows.

The softmax is fitted by accelerated steps of one fixed curvature, that of least squares: a softmax is nowhere
more curved than half of it (Böhning 1992), so one Cholesky factor serves the start, least squares itself, and
all steps. Few steps are made and the start is near: stopping early is part of the regularization.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import ssyrk
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from surewood._arrays import Floats, Singles, check_values
from surewood.base.parameters import parameters
from surewood.svm.gram import products
from surewood.tables import Table

_SAMPLE_ROWS = 4096  # rows that thresholds and scales are read from
_NO_SPREAD = 1e-6  # a contrast of two equal rows is no direction: its unit is 0 everywhere
_FIT_ROWS = 512  # rows of a block: large for the inner products of a fit,
_PREDICT_ROWS = 64  # small for the prediction of a single row
_ROWS_PER_UNIT = 4  # training rows for each unit
_START = 4.0  # least squares predicts -1 or 1; as log-odds these are larger
_SHRINK = 0.1  # ridge of the softmax, as a part of that of the curvature
_LEAST_COLUMNS = 100
_LEAST_ROWS, _MOST_ROWS = 1000, 200_000
_MOST_NUMBERS = 2**27  # the table as numbers: 1 GiB


@dataclass
class ContrastUnits:
    """Units of a table."""

    #: Half the smallest value and half the range in training: columns are moved to 0 ... 1. Shape
    #: (n_columns,).
    low: Floats
    width: Floats
    #: Scaled training rows. Shape (n_kept, n_columns).
    rows: Singles
    #: The ends of each contrast, rows of `rows`. Shape (n_units,).
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    #: A unit is ``max(0, slope * (p[first] - p[second]) - threshold) ** 2`` where ``p = rows @ x``. Shape
    #: (n_units,).
    slope: Singles
    threshold: Singles

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        n_kept, n_columns = self.rows.shape
        for name, kind, shape, most in (
            ("low", "f", (n_columns,), None),
            ("width", "f", (n_columns,), None),
            ("rows", "f", (n_kept, n_columns), None),
            ("first", "i", (None,), n_kept - 1),
            ("second", "i", self.first.shape, n_kept - 1),
            ("slope", "f", self.first.shape, None),
            ("threshold", "f", self.first.shape, None),
        ):
            check_values(name, getattr(self, name), kind, shape, None if most is None else 0, most)

    @classmethod
    def draw(cls, X: Floats, n_units: int, n_kept: int, rng: np.random.RandomState) -> ContrastUnits:
        """Draw units from the training rows; thresholds are quantiles between 0.1 and 0.9."""
        low = X.min(axis=0) / 2.0  # halves: the range of huge numbers is no number
        width = X.max(axis=0) / 2.0 - low
        if not np.isfinite(width).all():
            raise ValueError("contrasts need numbers that are finite and not missing.")
        width[width == 0] = 1.0
        n_kept = min(n_kept, len(X))
        rows = _scaled(X[rng.choice(len(X), n_kept, replace=False)], low, width)
        first, second = rng.randint(n_kept, size=(2, n_units)).astype(np.int32)
        unscaled = np.ones(n_units, np.float32), np.zeros(n_units, np.float32)
        units = cls(low, width, rows, first, second, *unscaled)
        sample = X[rng.choice(len(X), min(_SAMPLE_ROWS, len(X)), replace=False)]
        along = units._along(units.projections(sample))
        along.sort(axis=0)
        spread = along.std(axis=0)
        place = (rng.uniform(0.1, 0.9, n_units) * (len(sample) - 1)).astype(np.int64)
        units.slope = np.where(spread > _NO_SPREAD, 1.0 / np.maximum(spread, _NO_SPREAD), 0.0).astype(
            np.float32
        )
        units.threshold = units.slope * along[place, np.arange(n_units)]
        return units

    @property
    def n_units(self) -> int:
        return len(self.slope)

    def projections(self, X: Floats) -> Singles:
        """Inner products with the kept rows, (n_rows, n_kept): all that units read."""
        return products(_scaled(X, self.low, self.width).astype(np.float64), self.rows.astype(np.float64))

    def values(self, projections: Singles) -> Singles:
        """The units, (n_rows, n_units), a new array."""
        out = self._along(projections)
        out *= self.slope
        out -= self.threshold
        np.maximum(out, 0.0, out=out)
        return np.square(out, out=out)

    def _along(self, projections: Singles) -> Singles:
        out = np.take(projections, self.first, axis=1)
        out -= np.take(projections, self.second, axis=1)
        return out


def _scaled(X: Floats, low: Floats, width: Floats) -> Singles:
    return ((X / 2.0 - low) / width).astype(np.float32)


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
        out, coef = np.empty((len(X), len(self.classes_))), self.coef_.T.astype(np.float64, order="C")
        for rows in _blocks(len(X), _PREDICT_ROWS):
            values = self.units_.values(self.units_.projections(X[rows]))
            scores = products(values.astype(np.float64), coef) + self.intercept_
            out[rows] = _softmax(scores.astype(np.float64))
        return out

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class _Softmax:
    """The regression while it is fitted: units are centered in the formulas, never in memory."""

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
        """Factor the inner products of the centered units; return those with the centered targets."""
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


def suits_contrasts(table: Table) -> bool:
    """Whether a table is offered a contrast classifier: wide, all numbers without gaps, of moderate length.

    On narrow tables forests need no help, on small ones there are too few rows to draw contrasts from, and on
    long ones the classifier would take more memory and time than all forests together.
    """
    n_rows, n_columns = table.shape
    if table.stream is not None or n_columns < _LEAST_COLUMNS or table.is_category.any():
        return False
    if not _LEAST_ROWS <= n_rows <= _MOST_ROWS or n_rows * n_columns > _MOST_NUMBERS:
        return False
    if sp.issparse(table.array):
        return False  # most likely words: numbers would fill the memory
    return not any(np.isnan(table.column(j)).any() for j in range(n_columns))
