"""Votes of trees on training rows that they did not see, and what certificates may read from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.bounds import VoteEvidence
from surewood.composite.data import TrainingData
from surewood.composite.growing import Grove
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.trees import ROWS_PER_BLOCK, CompositeTrees
from surewood.parallel.progress import stage
from surewood.tables import alongside
from surewood.trees import BinnedMatrix, Grown, out_of_bag

_TANDEM_WORK = 2e9  # trees^2 x rows up to which pairs of trees are counted


def outside_bags(grove: Grove, rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of `rows` each tree did not see, shape (rows, trees)."""
    outside = np.ones((len(rows), len(grove.bags)), dtype=bool)
    for tree, bag in enumerate(grove.bags):
        outside[np.searchsorted(rows, bag), tree] = False
    return outside


def plain_out_of_bag(grown: Grown, data: TrainingData, rows: NDArray[Any], options: SolverOptions) -> Floats:
    """Mean class vectors of the plain trees that did not see a row; NaN where all did."""
    with stage(options.verbose, "out-of-bag votes of plain trees", len(grown.bag.rows)) as advance:
        sums, votes = out_of_bag(grown.forest, grown.bag, data.matrix, options.n_jobs, advance=advance)
    mean = np.full((len(rows), data.n_classes), np.nan)
    place = np.searchsorted(rows, grown.bag.rows)
    seen = votes > 0
    mean[place[seen]] = sums[seen] / votes[seen, None]
    return mean


def labels_by_blocks(
    trees: CompositeTrees,
    data: TrainingData,
    options: SolverOptions,
    rows: NDArray[Any] | None = None,
    mask: NDArray[np.bool_] | None = None,
) -> NDArray[np.int32]:
    """Class that every tree gives to training rows (all by default), in blocks of rows.

    `mask` has a row for each of them: which trees vote.
    """
    rows = np.arange(data.n_rows) if rows is None else rows
    matrix = data.matrix
    labels = alongside(matrix.blocks[0], (len(rows), trees.n_trees), np.int32)
    with stage(options.verbose, "out-of-bag votes" if mask is not None else "votes", len(rows)) as advance:
        for begin in range(0, len(rows), ROWS_PER_BLOCK):
            part = slice(begin, min(begin + ROWS_PER_BLOCK, len(rows)))
            labels[part] = trees.labels(
                rows_of(matrix, rows[part]),
                np.ascontiguousarray(data.gram.X[rows[part]]),
                options.n_jobs,
                None if mask is None else mask[part],
                data.gram.stored(rows[part]),
            )
            advance(part.stop - begin)
    return labels


def scores_by_blocks(
    trees: CompositeTrees, data: TrainingData, options: SolverOptions, rows: NDArray[Any], leaf_scores: str
) -> Floats:
    """Mean scores of all composite trees on training rows, whether the trees saw them or not."""
    scores = np.empty((len(rows), data.n_classes))
    for begin in range(0, len(rows), ROWS_PER_BLOCK):
        some = rows[begin : begin + ROWS_PER_BLOCK]
        design = np.ascontiguousarray(data.gram.X[some])
        scores[begin : begin + len(some)] = trees.composite_scores(
            rows_of(data.matrix, some), design, leaf_scores, options.n_jobs
        )
    return scores


def rows_of(matrix: BinnedMatrix, rows: NDArray[Any]) -> BinnedMatrix:
    """Some rows of a binned table."""
    codes = tuple(np.take(block, rows, axis=1) for block in matrix.blocks)
    return BinnedMatrix(codes, matrix.mapper, matrix.has_missing)


def vote_evidence(
    data: TrainingData,
    labels: NDArray[Any],
    outside: NDArray[np.bool_],
    *,
    hard_vote: bool,
    n_settings: int,
) -> VoteEvidence | None:
    """Out-of-bag statistics of the trees (theory.md §6.3); None where a tree saw every row.

    Bins, scaling and tuned values were learned from all rows, which breaks condition (ii): `in_bag_only` is
    False, and a certificate names the condition instead of giving a guarantee.
    """
    if (outside.sum(axis=0) < 1).any():
        return None
    tandem = float(labels.shape[1]) ** 2 * len(labels) <= _TANDEM_WORK
    if tandem:
        shared = outside.astype(np.float32)
        tandem = bool((shared.T @ shared).min() >= 1)
    return VoteEvidence.from_predictions(
        labels.T,
        ~outside.T,
        data.y,
        tandem=tandem,
        hard_vote=hard_vote,
        independent_subsamples=True,
        in_bag_only=False,
        unweighted=data.weight is None,  # equal rows are counted once here
        n_models=n_settings,
    )
