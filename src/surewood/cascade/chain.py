"""The chain: classifiers, thresholds, and the way of a point through them (theory.md (3.7), §3.6, [D-23]).

`Path` names a cascade by its choices. `predicted_of` reads scores; `divide` finds the
fraction of points nearest to a decision boundary, which goes on to the next node. `CascadeNode` and
`Cascade` are the trained SVMs: a point stays at a node when its distance exceeds the threshold, otherwise it
goes on; whatever reaches the last node stays there, so every point has exactly one leaf.

Near-ties [D-41]: a decision value computed in training and the same value computed in prediction differ by
rounding, about 1e-13 of the largest value. Points whose distances differ by less than `NEAR_TIE` of the
largest distance therefore stay together, and a threshold always lies in a gap wider than that: a training
point takes the same way in prediction as in training. `near_tie` gives the width, `settled` treats decision
values that are this close to zero (or class scores this close to the best one) as exact ties.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Codes, Counts, Floats, Mask, check_number
from surewood.families import distance_of
from surewood.svm.one_vs_one import Predictor, class_scores

NEAR_TIE = 1e-9  # relative

Rows = NDArray[np.int32]


class Path(NamedTuple):
    """A cascade by its choices: one SVM per node, one fraction per split."""

    choices: tuple[int, ...]
    fractions: tuple[int, ...]

    @property
    def n_leaves(self) -> int:
        return len(self.choices)


# --- scores ------------------------------------------------------------------------------------------------


def predicted_of(scores: Floats) -> Codes:
    """Class codes: the second class where the decision value is positive, or the first best score."""
    winners = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
    return winners.astype(np.int32)


def svm_scores(predictor: Predictor, design: Floats, n_classes: int, n_jobs: int | None = None) -> Floats:
    """Decision values of a two-class SVM (positive: the second class), or one score per class."""
    decisions = predictor.decisions(design, n_jobs=n_jobs)
    if n_classes == 2:
        return np.asarray(-decisions[:, 0])
    return class_scores(decisions, predictor.classes, n_classes)


def class_columns(scores: Sequence[Floats], n_classes: int) -> Floats:
    """One score per class, from the scores of each cascade: two classes share a decision value."""
    if n_classes == 1:
        return np.zeros((len(scores[0]), 1))
    if len(scores) > 1:
        return np.column_stack(scores)
    if scores[0].ndim == 2:
        return scores[0]
    return np.column_stack([-0.5 * scores[0], 0.5 * scores[0]])


def near_tie(values: Floats) -> float:
    """Differences up to this are ties among `values` [D-41]: 1e-9 of the largest finite magnitude."""
    finite = np.abs(values[np.isfinite(values)])
    return NEAR_TIE * float(finite.max(initial=0.0))


def settled(scores: Floats, width: float) -> Floats:
    """Scores without near-ties: a decision value within `width` of 0 is 0; a class score within `width` of
    the row's best one is the best one.

    Examples
    --------
    >>> settled(np.array([1e-15, 2.0]), 1e-9).tolist()
    [0.0, 2.0]
    >>> settled(np.array([[0.5, 0.5 + 1e-15, 0.1]]), 1e-9).argmax(axis=1)
    array([0])
    """
    if width <= 0.0:
        return scores
    if scores.ndim == 1:
        return np.where(np.abs(scores) <= width, 0.0, scores)
    best = scores.max(axis=1, keepdims=True)
    return np.where(scores >= best - width, best, scores)


# --- the points that go on ---------------------------------------------------------------------------------


def as_fractions(values: Iterable[float]) -> tuple[Fraction, ...]:
    """Numbers as they are written in decimals, ascending and without repeats.

    Examples
    --------
    >>> as_fractions([0.3, 0.1])
    (Fraction(1, 10), Fraction(3, 10))
    """
    exact = {value if isinstance(value, Fraction) else Fraction(repr(float(value))) for value in values}
    return tuple(sorted(exact))


def points_to_continue(fraction: Fraction, total: float) -> float:
    """The weight that is to go on: rounded half up for whole totals, the exact fraction otherwise.

    Examples
    --------
    >>> points_to_continue(Fraction(3, 10), 5), points_to_continue(Fraction(1, 10), 4)
    (2, 0)
    """
    if float(total).is_integer():
        return (2 * fraction.numerator * int(total) + fraction.denominator) // (2 * fraction.denominator)
    return float(fraction) * total


def counts_to_continue(distance: Floats, running_weight: Floats, wanted: Floats) -> Counts:
    """How many points go on for each wanted weight, ties included.

    Parameters
    ----------
    distance : ndarray
        Ascending distances of a node's points.
    running_weight : ndarray
        Cumulative weight in this order.
    wanted : ndarray
        See :func:`points_to_continue`; nothing goes on where it is 0.
    """
    # Sums of fractional weights carry rounding; half a billionth of the total cannot hide a whole point.
    slack = 1e-9 * running_weight[-1]
    last = np.minimum(running_weight.searchsorted(wanted - slack), len(distance) - 1)
    with np.errstate(invalid="ignore"):  # equal infinities are a tie
        is_gap = np.diff(distance) > near_tie(distance)
    group_end = np.append(np.flatnonzero(is_gap) + 1, len(distance))
    count = group_end[group_end.searchsorted(last + 1)]
    return np.where(wanted > 0, count, 0)


def divide(distance: Floats, weight: Floats, fraction: Fraction) -> tuple[Mask, float] | None:
    """The points that go on, ties included, and the distance up to which a point does.

    The threshold is the midpoint to the next larger distance. None where all points would go on, or none.

    Examples
    --------
    >>> divide(np.array([1.0, 2.0, 0.5, 1.0]), np.ones(4), Fraction(1, 2))
    (array([ True, False,  True,  True]), 1.5)
    """
    order = np.argsort(distance, kind="stable")
    ascending, running = distance[order], np.cumsum(weight[order])
    wanted = np.array([points_to_continue(fraction, running[-1])])
    count = int(counts_to_continue(ascending, running, wanted)[0])
    if not 0 < count < len(order):
        return None
    goes_on = np.zeros(len(order), dtype=bool)
    goes_on[order[:count]] = True
    low, high = float(ascending[count - 1]), float(ascending[count])
    return goes_on, low + (max(1.0, abs(low)) if math.isinf(high) else (high - low) / 2.0)


# --- the trained chain -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CascadeNode:
    """One SVM of the chain, and the training points that stay with it."""

    #: Position of the degree on the list of degrees.
    choice: int
    #: Of the kernel; for ``rbf`` the width.
    degree: int
    #: Fraction of the node's points that was to go on; None at the last node.
    fraction: float | None
    #: Points at this distance or nearer go on; negative infinity at the last node.
    threshold: float
    #: Support vectors: kernel evaluations per point at this node.
    n_support: int
    #: Training weight that the leaf classifies correctly and wrongly.
    plus: float
    minus: float
    #: None where the node is a constant with the scores `constant` (a decision value, or one score per
    #: class).
    predictor: Predictor | None
    constant: float | tuple[float, ...] = 0.0
    #: Iterations of the solver.
    n_iter: int = 0
    #: Decision values this close to 0 are ties [D-41].
    tie_width: float = 0.0

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        check_number("n_support", self.n_support, 0, 2**31 - 1, whole=True)

    def scores(self, design: Floats, n_classes: int, n_jobs: int | None = None) -> Floats:
        """Decision values with two classes, otherwise class scores."""
        if self.predictor is not None:
            return settled(svm_scores(self.predictor, design, n_classes, n_jobs), self.tie_width)
        constant = np.asarray(self.constant, dtype=np.float64)
        return np.broadcast_to(constant, (len(design), *constant.shape)).copy()


class Evaluation(NamedTuple):
    """Rows after the cascade: score (a decision value, or one per class), leaf, kernel evaluations."""

    scores: Floats
    leaf: Counts
    work: Counts


def joined(evaluations: Sequence[Evaluation], n_classes: int) -> tuple[Floats, Counts, Floats]:
    """Rows after all cascades: scores (one column per class), leaf and distance (one column per cascade)."""
    return (
        class_columns([evaluation.scores for evaluation in evaluations], n_classes),
        np.column_stack([evaluation.leaf for evaluation in evaluations]),
        np.column_stack([distance_of(evaluation.scores) for evaluation in evaluations]),
    )


@dataclass(frozen=True)
class Cascade:
    """A chain of nodes over `n_classes` classes; with two, scores are decision values of the second class."""

    nodes: tuple[CascadeNode, ...]
    n_classes: int

    @property
    def n_leaves(self) -> int:
        return len(self.nodes)

    @property
    def plus(self) -> Floats:
        return np.array([node.plus for node in self.nodes])

    @property
    def minus(self) -> Floats:
        return np.array([node.minus for node in self.nodes])

    @property
    def degrees(self) -> Counts:
        return np.array([node.degree for node in self.nodes], dtype=np.int64)

    @property
    def n_iter(self) -> int:
        """Iterations of the solver for all SVMs together, at least 1."""
        return max(1, sum(node.n_iter for node in self.nodes))

    def evaluate(
        self, design: Floats, *, scale: float = 1.0, n_leaves: int | None = None, n_jobs: int | None = None
    ) -> Evaluation:
        """Send rows down the chain, thresholds multiplied by `scale` (0: all stay at the first node).

        With `n_leaves` the chain ends after this many nodes.
        """
        nodes = self.nodes[:n_leaves]
        n = len(design)
        scores = np.zeros(n if self.n_classes == 2 else (n, self.n_classes))
        leaf, work = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        here = np.arange(n)
        for k, node in enumerate(nodes):
            if not len(here):
                break
            node_scores = node.scores(design if len(here) == n else design[here], self.n_classes, n_jobs)
            scores[here], leaf[here] = node_scores, k
            work[here] += node.n_support
            if k + 1 < len(nodes):
                limit = scale * node.threshold if scale > 0 else -math.inf
                here = here[distance_of(node_scores) <= limit]
        return Evaluation(scores, leaf, work)

    def paths_in_words(self) -> list[str]:
        """The conditions that lead to each leaf."""
        words: list[str] = []
        passed: list[str] = []
        for k, node in enumerate(self.nodes, start=1):
            if node.fraction is None:
                words.append(" and ".join(passed) if passed else "all points")
            else:
                words.append(" and ".join([*passed, f"|f{k}| > {node.threshold:.4g}"]))
                passed.append(f"|f{k}| <= {node.threshold:.4g}")
        return words
