"""Held-out scores of a fitted structure, and the probabilities that are calibrated on them.

`OutOfFold` is what calibration, estimates and the reject option are based on. `LeafCalibrator` calibrates
every leaf by itself, since scores of different SVMs differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surewood._arrays import Codes, Counts, Floats
from surewood.base.calibration import ScoreCalibrator
from surewood.parallel.progress import stage

_ENOUGH = 20  # held-out points that a leaf needs for a calibrator of its own


@dataclass(frozen=True)
class OutOfFold:
    """Scores of training rows by cascades of the fitted structure that were trained without them."""

    #: Shape (n, n_classes).
    scores: Floats
    #: Shape (n, n_cascades).
    leaf: Counts
    distance: Floats
    #: Shape (n,).
    codes: Codes
    weight: Floats

    @property
    def error(self) -> float:
        """Weighted error rate."""
        return float(self.weight @ (self.scores.argmax(axis=1) != self.codes)) / float(self.weight.sum())


class LeafCalibrator:
    """One calibrator per leaf, and one for all leaves with few held-out points.

    Parameters
    ----------
    method : str, default="auto"
        See :class:`~surewood.base.calibration.ScoreCalibrator`.

    Examples
    --------
    >>> scores = np.array([[-1.0, 1.0], [2.0, -2.0], [-1.0, 1.0]])
    >>> leaf = np.zeros(3, dtype=np.int64)
    >>> calibrator = LeafCalibrator().fit(scores, np.array([1, 0, 1]), np.ones(3), leaf)
    >>> calibrator.transform(scores, leaf).argmax(axis=1)
    array([1, 0, 1])
    """

    def __init__(self, method: str = "auto") -> None:
        self.method = method

    def fit(
        self, scores: Floats, codes: Codes, weight: Floats, leaf: Counts, verbose: int = 0
    ) -> LeafCalibrator:
        """Fit on held-out scores and the leaves they came from."""
        leaves = [k for k in np.unique(leaf) if _ENOUGH <= (leaf == k).sum() < len(leaf)]
        self.by_leaf_: dict[int, ScoreCalibrator] = {}
        with stage(verbose, "calibrating", 1 + len(leaves)) as advance:
            self.shared_ = ScoreCalibrator(self.method, kind="decisions").fit(scores, codes, weight)
            advance(1)
            for k in leaves:
                here, calibrator = leaf == k, ScoreCalibrator(self.method, kind="decisions")
                self.by_leaf_[int(k)] = calibrator.fit(scores[here], codes[here], weight[here])
                advance(1)
        return self

    def transform(self, scores: Floats, leaf: Counts) -> Floats:
        """Probabilities with the largest at the largest score."""
        proba = self.shared_.transform(scores)
        for k, calibrator in self.by_leaf_.items():
            here = leaf == k
            if here.any():
                proba[here] = calibrator.transform(scores[here])
        return proba


def calibrated_leaf(leaves: Sequence[Counts]) -> Counts:
    """The leaf that a row's probabilities depend on: with one cascade per class, none."""
    return leaves[0] if len(leaves) == 1 else np.zeros(len(leaves[0]), dtype=np.int64)
