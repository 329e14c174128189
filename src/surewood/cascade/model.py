"""A trained cascade: machines, thresholds, and the way of a point through them (theory.md (3.7)).

`Cascade.evaluate` sends rows down the chain; `build_cascade` trains the chain that a list of choices
describes. A point stays at node k when its distance exceeds the threshold, otherwise it goes on; whoever
reaches the last node stays there, so every point has exactly one leaf.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.cascade.prefix_tree import Path, Rows
from surewood.cascade.questions import cut, points_to_continue
from surewood.cascade.svm_trainer import SvmTrainer, distance_of
from surewood.svm import Predictor


@dataclass
class CascadeNode:
    """One machine of the chain, and the training points that stay with it.

    Attributes
    ----------
    degree : int
        Of the kernel; for ``rbf`` the width.
    fraction : float or None
        Share of the node's points that was to go on; None at the last node.
    threshold : float
        Points at this distance or nearer go on; negative infinity at the last node.
    n_support : int
        Support vectors: kernel values a point costs here.
    plus, minus : float
        Right and wrong training weight of the leaf.
    predictor : Predictor or None
        None where the node is the constant `constant`.
    n_iter : int
        Iterations of the solver.
    """

    choice: int
    degree: int
    fraction: float | None
    threshold: float
    n_support: int
    plus: float
    minus: float
    predictor: Predictor | None
    constant: int = 0
    n_iter: int = 0


class Evaluation(NamedTuple):
    """Rows after the cascade: score (a decision value, or one a class), leaf, kernel values computed."""

    scores: Floats
    leaf: NDArray[np.int64]
    work: NDArray[np.int64]


@dataclass
class Cascade:
    """A chain of nodes over `n_classes` classes; with two, scores are decision values of the second class."""

    nodes: list[CascadeNode]
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
    def degrees(self) -> NDArray[np.int64]:
        return np.array([node.degree for node in self.nodes], dtype=np.int64)

    def evaluate(
        self, design: Floats, *, scale: float = 1.0, n_leaves: int | None = None, n_jobs: int | None = None
    ) -> Evaluation:
        """Send rows down the chain, thresholds multiplied by `scale` (0: all stay at the first node).

        With `n_leaves` the chain ends after so many nodes.
        """
        nodes = self.nodes[:n_leaves]
        n = len(design)
        scores = np.zeros(n if self.n_classes == 2 else (n, self.n_classes))
        leaf, work = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        here = np.arange(n)
        for k, node in enumerate(nodes):
            if not len(here):
                break
            own = node_scores(node, design if len(here) == n else design[here], self.n_classes, n_jobs)
            scores[here], leaf[here] = own, k
            work[here] += node.n_support
            if k + 1 < len(nodes):
                limit = scale * node.threshold if scale > 0 else -math.inf
                here = here[distance_of(own) <= limit]
        return Evaluation(scores, leaf, work)


def node_scores(node: CascadeNode, design: Floats, n_classes: int, n_jobs: int | None = None) -> Floats:
    """Decision values of a two-class node, or class scores of a node with more."""
    if node.predictor is None:
        if n_classes == 2:
            return np.full(len(design), 2.0 * node.constant - 1.0)
        scores = np.full((len(design), n_classes), -1.0)
        scores[:, node.constant] = 1.0
        return scores
    return SvmTrainer.scores_of(node.predictor, design, n_classes, n_jobs)


def build_cascade(trainer: SvmTrainer, path: Path, fractions: Sequence[Fraction]) -> Cascade:
    """Train the chain of a path on the trainer's sample; it ends early where no question can be asked."""
    nodes: list[CascadeNode] = []
    rows: Rows = np.arange(len(trainer.weight), dtype=np.int32)
    for k, choice in enumerate(path.choices):
        share = fractions[path.fractions[k]] if k + 1 < len(path.choices) else None
        node, rows_on = _build_node(trainer, rows, choice, share)
        nodes.append(node)
        if rows_on is None:
            break
        rows = rows_on
    return Cascade(nodes, trainer.n_classes)


def _build_node(
    trainer: SvmTrainer, rows: Rows, choice: int, share: Fraction | None
) -> tuple[CascadeNode, Rows | None]:
    weight, degree = trainer.weight[rows], trainer.kernels.degrees[choice]
    if trainer.is_constant(rows):
        code = int(trainer.codes[rows[0]])
        return CascadeNode(choice, degree, None, -math.inf, 0, float(weight.sum()), 0.0, None, code), None
    machines = trainer.machines([rows], [choice])
    outcome = trainer.outcome(machines, 0, rows)
    predictor = machines.predictor([0])
    stays, rows_on, threshold = np.ones(len(rows), dtype=bool), None, -math.inf
    if share is not None:
        order = np.argsort(outcome.distance, kind="stable")
        running = np.cumsum(weight[order])
        on = cut(outcome.distance[order], running, points_to_continue(share, running[-1]))
        if 0 < on.count < len(rows):
            rows_on, threshold = np.sort(rows[order[: on.count]]), on.threshold
            stays[order[: on.count]] = False
    plus = float(weight[stays & outcome.correct].sum())
    minus = float(weight[stays & ~outcome.correct].sum())
    fraction = None if rows_on is None else float(share)
    node = CascadeNode(
        choice, degree, fraction, threshold, len(predictor.support_rows), plus, minus, predictor,
        n_iter=int(machines.iterations.sum()),
    )  # fmt: skip
    return node, rows_on
