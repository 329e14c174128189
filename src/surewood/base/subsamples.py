"""Bags of forests whose votes are guaranteed on all rows, without a holdout ([D-43], theory.md §11.9).

A preparation part, drawn blindly, is in the bag of every tree: what is learned before the trees (bins,
scaling, settings) is learned on it alone. The other rows are drawn without replacement, tree by tree. What is
drawn are the rows as they were given: a row of weight 2 is two of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats, Mask
from surewood.bounds.evidence import VoteEvidence
from surewood.tables import TrainingTable

LEAST_ROWS = 100  # of a certifiable forest
_PART, _LEAST_PART, _MOST_PART = 0.1, 50, 2000  # preparation part: fraction of the rows, and its limits
_DRAWN = 0.5  # fraction of the other rows in a bag by default
TANDEM_WORK = 2e9  # trees^2 x rows up to which pairs of trees are counted


@dataclass(frozen=True)
class Subsamples:
    """Which rows prepare, and which rows each tree sees; drawn without a look at the rows.

    Examples
    --------
    >>> drawn = Subsamples.draw(np.arange(200), 200, None, seed=0)
    >>> int(drawn.prepares.sum()), int(drawn.in_bag(0).sum()), bool(drawn.in_bag(0)[drawn.prepares].all())
    (50, 125, True)
    """

    #: Row of the merged table of each given row.
    units: NDArray[np.int64]
    #: Rows of the merged table.
    n_rows: int
    #: The preparation part of the units.
    prepares: Mask
    #: Other units in the bag of a tree.
    n_drawn: int
    seed: int

    @classmethod
    def draw(
        cls, units: NDArray[np.int64], n_rows: int, fraction: float | int | None, seed: int
    ) -> Subsamples:
        """Draw the preparation part; `fraction` is the part (or number) of the other rows in a bag."""
        n = len(units)
        size = min(max(round(_PART * n), _LEAST_PART), _MOST_PART)
        prepares = np.zeros(n, dtype=bool)
        prepares[np.random.default_rng([seed, 0]).permutation(n)[:size]] = True
        others = n - size
        wanted = _DRAWN if fraction is None else fraction
        n_drawn = round(wanted * others) if isinstance(wanted, float) else wanted
        return cls(units, n_rows, prepares, int(min(max(n_drawn, 1), others - 1)), seed)

    def in_bag(self, tree: int) -> Mask:
        """Which units a tree sees."""
        others = np.flatnonzero(~self.prepares)
        chosen = np.random.default_rng([self.seed, 1, tree]).permutation(len(others))[: self.n_drawn]
        mask = self.prepares.copy()
        mask[others[chosen]] = True
        return mask

    def counts(self, mask: Mask) -> Floats:
        """How often each row of the merged table is among some units."""
        return np.bincount(self.units[mask], minlength=self.n_rows).astype(np.float64)


def draw_subsamples(inputs: TrainingTable, fraction: float | int | None, seed: int) -> Subsamples:
    """The preparation part and the bags of a fit; weights other than counts are taken as one row each.

    `fraction` is the part (or number) of the other rows in a bag, by default half of them.
    """
    if inputs.groups is not None:
        raise ValueError(
            "certifiable=True guarantees votes on independent rows: it cannot be used with groups."
        )
    n_rows = inputs.table.n_rows
    counts = np.ones(n_rows) if inputs.weight is None or inputs.weighted else inputs.weight
    units = np.repeat(np.arange(n_rows), np.rint(counts).astype(np.int64))
    if len(units) < LEAST_ROWS:
        raise ValueError(f"certifiable=True needs at least {LEAST_ROWS} rows, got {len(units)}.")
    return Subsamples.draw(units, n_rows, fraction, seed)


def vote_evidence(
    labels: NDArray[np.integer], inputs: TrainingTable, drawn: Subsamples, has_categories: bool
) -> tuple[VoteEvidence, Floats]:
    """Out-of-bag statistics of the trees, and the votes of those that did not see a row (NaN: all did).

    `labels` has the class that each tree gives to each row of the merged table, shape (n_rows, n_trees).
    """
    n_trees = labels.shape[1]
    outside = np.stack([~drawn.in_bag(tree) for tree in range(n_trees)])
    votes = np.zeros((inputs.table.n_rows, inputs.n_classes))
    for tree, mask in enumerate(outside):
        unseen = drawn.counts(~mask) == 0  # no copy of the row in the bag
        votes[np.flatnonzero(unseen), labels[unseen, tree]] += 1.0
    with np.errstate(invalid="ignore"):
        votes /= votes.sum(axis=1, keepdims=True)
    y = inputs.y[drawn.units]
    judged = ~np.isnan(votes[:, 0])
    wrong = votes[judged].argmax(axis=1) != inputs.y[judged]
    evidence = VoteEvidence.from_predictions(
        labels[drawn.units].T,
        ~outside,
        y,
        tandem=float(n_trees) ** 2 * len(y) <= TANDEM_WORK,
        hard_vote=True,
        independent_subsamples=True,
        in_bag_only=not has_categories,
        unweighted=not inputs.weighted,
        n_samples=len(y),
        vote_error=float(wrong.mean()) if wrong.size else None,
        majority_error=1.0 - float(np.bincount(y).max()) / len(y),
        learned_representation="categories" if has_categories else "",
    )
    return evidence, votes
