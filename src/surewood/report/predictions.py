"""The rows a page judges a model on, predicted once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surewood.certify.deciding import DecidingClassifier
from surewood.estimators.describing import take_rows
from surewood.report.model_step import last_step

__all__ = ["Predictions", "Rows"]


class Predictions:
    """Labels as text, predictions and probabilities of the rows that are judged.

    Attributes
    ----------
    codes, guesses : ndarray of int64
        Positions of the true and of the predicted classes; -1: a class not seen in training, or no decision.
    decided : ndarray of bool
        Where the model decides; a model with a rule of its own may abstain.
    """

    def __init__(self, model: Any, X: Any, y: Any, proba: NDArray[np.float64] | None = None) -> None:
        self.X = X
        self.classes = np.asarray(getattr(model, "classes_", np.unique(np.asarray(y))))
        self.y = np.asarray(y).ravel()
        if proba is None and callable(getattr(model, "predict_proba", None)):
            proba = np.asarray(model.predict_proba(X), dtype=np.float64)
            self.predicted = self._decisions(model, X, proba)
        elif proba is None:
            self.predicted = np.asarray(model.predict(X)).ravel()
        else:
            self.predicted = self._decisions(model, None, proba)
        self.proba = proba
        place = {label: i for i, label in enumerate(self.classes.tolist())}
        self.codes = np.array([place.get(label, -1) for label in self.y.tolist()], dtype=np.int64)
        self.guesses = np.array([place.get(label, -1) for label in self.predicted.tolist()], dtype=np.int64)

    def _decisions(self, model: Any, X: Any, proba: NDArray[np.float64]) -> NDArray[Any]:
        rule = last_step(model, with_rule=True)
        if isinstance(rule, DecidingClassifier):
            return np.asarray(rule.decide(proba))
        if X is not None and not type(rule).__module__.startswith("surewood"):
            # another library's classifier may decide otherwise than by its probabilities
            return np.asarray(model.predict(X)).ravel()
        return np.asarray(self.classes[proba.argmax(axis=1)])

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Where the model decides."""
        return np.asarray(self.guesses >= 0)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Where it decides for the true class."""
        return np.equal(self.codes, self.guesses) & self.decided

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    def known(self) -> Rows:
        """The rows whose label the model was trained on."""
        at = np.flatnonzero(self.codes >= 0)
        if len(at) == self.n_rows:
            return Rows(self.X, self.y, self.codes)
        return Rows(take_rows(self.X, at), self.y[at], self.codes[at])


class Rows(NamedTuple):
    """Table, labels and class codes."""

    X: Any
    y: NDArray[Any]
    codes: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)
