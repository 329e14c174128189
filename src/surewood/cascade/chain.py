"""A trained cascade: SVMs, thresholds, and the way of a point through them (theory.md (3.7)).

`Cascade.evaluate` sends rows down the chain; `build_cascade` trains the chain that a list of choices
describes. A point stays at node k when its distance exceeds the threshold, otherwise it goes on; whatever
reaches the last node stays there, so every point has exactly one leaf.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from surewood._arrays import Counts, Floats
from surewood.cascade.old_form import constant_of_today
from surewood.cascade.prefix_tree import Path, Rows
from surewood.cascade.splits import cut, points_to_continue, settled
from surewood.cascade.trainer import SvmTrainer, distance_of, predicted_of, scores_of
from surewood.svm import Predictor


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
    #: Decision values this close to 0 are ties [D-41]; 0 in models of older files.
    tie_width: float = 0.0

    def scores(self, design: Floats, n_classes: int, n_jobs: int | None = None) -> Floats:
        """Decision values with two classes, otherwise class scores."""
        if self.predictor is not None:
            return settled(scores_of(self.predictor, design, n_classes, n_jobs), self.tie_width)
        constant = np.asarray(self.constant, dtype=np.float64)
        return np.broadcast_to(constant, (len(design), *constant.shape)).copy()


class Evaluation(NamedTuple):
    """Rows after the cascade: score (a decision value, or one per class), leaf, kernel evaluations."""

    scores: Floats
    leaf: Counts
    work: Counts


@dataclass(frozen=True)
class Cascade:
    """A chain of nodes over `n_classes` classes; with two, scores are decision values of the second class."""

    nodes: tuple[CascadeNode, ...]
    n_classes: int

    def __setstate__(self, state: dict[str, Any]) -> None:
        nodes = state["nodes"]
        if isinstance(nodes, list):  # of a model file of format 1
            n_classes = state["n_classes"]
            nodes = tuple(replace(one, constant=constant_of_today(one.constant, n_classes)) for one in nodes)
        self.__dict__.update(state, nodes=nodes)

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
            own = node.scores(design if len(here) == n else design[here], self.n_classes, n_jobs)
            scores[here], leaf[here] = own, k
            work[here] += node.n_support
            if k + 1 < len(nodes):
                limit = scale * node.threshold if scale > 0 else -math.inf
                here = here[distance_of(own) <= limit]
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


def build_cascade(trainer: SvmTrainer, path: Path, fractions: Sequence[Fraction]) -> Cascade:
    """Train the chain of a path on the trainer's sample; it ends early where no split is possible."""
    nodes: list[CascadeNode] = []
    rows: Rows = np.arange(len(trainer.weight), dtype=np.int32)
    for k, choice in enumerate(path.choices):
        fraction = fractions[path.fractions[k]] if k + 1 < len(path.choices) else None
        node, rows_on = _build_node(trainer, rows, choice, fraction)
        nodes.append(node)
        if rows_on is None:
            break
        rows = rows_on
    return Cascade(tuple(nodes), trainer.n_classes)


def _build_node(
    trainer: SvmTrainer, rows: Rows, choice: int, fraction: Fraction | None
) -> tuple[CascadeNode, Rows | None]:
    """A node trained on some rows, and the rows that go on; None where it is the last one."""
    weight = trainer.weight[rows]
    if trainer.is_constant(rows):
        return _constant_node(trainer, rows, choice), None
    solved = trainer.solve([rows], [choice])
    outcome = trainer.outcome(solved, 0, rows)
    predictor = solved.predictor([0])
    stays, rows_on, threshold = np.ones(len(rows), dtype=bool), None, -math.inf
    if fraction is not None and outcome.distance is not None:
        order = np.argsort(outcome.distance, kind="stable")
        running = np.cumsum(weight[order])
        on = cut(outcome.distance[order], running, points_to_continue(fraction, running[-1]))
        if 0 < on.n_points < len(rows):
            rows_on, threshold = np.sort(rows[order[: on.n_points]]), on.threshold
            stays[order[: on.n_points]] = False
    node = CascadeNode(
        choice=choice,
        degree=trainer.kernels.degrees[choice],
        fraction=None if rows_on is None or fraction is None else float(fraction),
        threshold=threshold,
        n_support=len(predictor.support_rows),
        plus=float(weight[stays & outcome.correct].sum()),
        minus=float(weight[stays & ~outcome.correct].sum()),
        predictor=predictor,
        n_iter=int(solved.iterations.sum()),
        tie_width=outcome.tie_width,
    )
    return node, rows_on


def _constant_node(trainer: SvmTrainer, rows: Rows, choice: int) -> CascadeNode:
    """A last node that predicts the majority class of its rows."""
    scores, weight = trainer.constant_scores(rows), trainer.weight[rows]
    is_right = trainer.codes[rows] == predicted_of(scores[None])
    return CascadeNode(
        choice=choice,
        degree=trainer.kernels.degrees[choice],
        fraction=None,
        threshold=-math.inf,
        n_support=0,
        plus=float(weight[is_right].sum()),
        minus=float(weight[~is_right].sum()),
        predictor=None,
        constant=float(scores) if scores.ndim == 0 else tuple(scores.tolist()),
    )
