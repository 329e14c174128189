"""A plan carried out: all parts fitted, joined, and judged on the rows outside the bags or outside the
folds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.bounds import VoteEvidence
from surewood.composite.data import TrainingData
from surewood.composite.fitting import Setting, fit_trees, mean_sample_size
from surewood.composite.machines import SolverOptions
from surewood.composite.model import ROWS_A_BLOCK, CompositeModel, LeafTrust, blend, join_models, vote_shares
from surewood.composite.portfolio import out_of_bag_shares, outside_bags, plain_params
from surewood.composite.rules import Plan
from surewood.composite.tuning import folds_of
from surewood.parallel.progress import stage
from surewood.tables import alongside
from surewood.trees import BinnedMatrix, grow_forest

CALIBRATION_FOLDS = 3
CALIBRATION_TREES = 30
_ROWS_AND_TREES = 2e7  # rows x trees whose leaves are held at once: some 20 bytes each
_TANDEM_WORK = 2e9  # members^2 x rows up to which pairs of members are counted


@dataclass(frozen=True)
class Ensemble:
    """A fitted plan.

    `held_out` are vote shares of rows by trees that did not see them (NaN where there were none), or None.
    """

    model: CompositeModel
    settings: tuple[Setting, ...]  # one a part
    part_of_tree: NDArray[np.int64]
    importances: Floats
    held_out: Floats | None
    held_out_kind: str | None
    votes: VoteEvidence | None


def fit_plan(
    data: TrainingData, plan: Plan, seed: int, options: SolverOptions, leaf_scores: str = "one_hot"
) -> Ensemble:
    """Fit every part of a plan; the trees of all parts are numbered through."""
    models: list[CompositeModel] = []
    counts: list[int] = []
    gains: list[Floats] = []
    sizes = [n for _, n in plan.parts]
    outside = _room_for_outside(data, plan)
    for setting, first, count, base in _steps(data, plan, seed):
        model, grove = fit_trees(data, setting, count, seed, options, first_tree=first, base=base)
        models.append(model)
        counts.append(count)
        gains.append(grove.grown.importances)
        if outside is not None:
            outside[:, first : first + count] = outside_bags(grove, np.arange(data.n_rows))
    model = join_models(models)
    importances = np.average(gains, axis=0, weights=counts)
    held_out = votes = None
    if outside is not None:
        labels = labels_by_blocks(model, data, options, mask=outside)
        votes = vote_evidence(data, labels, outside, leaf_scores == "one_hot" and plan.plain_share == 0.0)
        model = _with_trust(data, model, labels, leaf_scores, options)
        held_out = vote_shares(labels, data.n_classes)
        if leaf_scores != "one_hot":
            held_out = model.shares(data.matrix, data.gram.X, leaf_scores, options.n_jobs, outside)
    elif leaf_scores == "calibrated":  # no row outside any bag: the training labels have to do
        labels = labels_by_blocks(model, data, options)
        model = _with_trust(data, model, labels, leaf_scores, options)
    if plan.n_plain:
        params = plain_params(plan.parts[0][0].max_features)
        grown = grow_forest(
            data.matrix, data.y, data.n_classes, params, n_trees=plan.n_plain, seed=seed + 1,
            weight=data.weight, n_jobs=options.n_jobs, verbose=options.verbose,
        )  # fmt: skip
        model = replace(model, plain=grown.forest, plain_share=plan.plain_share)
        importances = (1 - plan.plain_share) * importances + plan.plain_share * grown.importances
        if held_out is not None:
            rows = np.arange(data.n_rows)
            plain = out_of_bag_shares(grown, data, rows, options)
            held_out = blend(held_out, plain, plan.plain_share)
    return Ensemble(
        model,
        tuple(s for s, _ in plan.parts),
        np.repeat(np.arange(len(sizes)), sizes),
        importances,
        held_out,
        None if held_out is None else "out-of-bag",
        votes,
    )


def _steps(data: TrainingData, plan: Plan, seed: int) -> Iterator[tuple[Setting, int, int, float | None]]:
    """(setting, first tree, number of trees, base of C) of the trees to fit together.

    All trees of a part, or as many as keep the leaves' row numbers within bounds; the model is the same.
    """
    step = max(1, int(_ROWS_AND_TREES // data.n_rows))
    first = 0
    for setting, n_trees in plan.parts:
        base = None if n_trees <= step else mean_sample_size(data, setting, n_trees, seed, first)
        for start in range(0, n_trees, step):
            yield setting, first + start, min(step, n_trees - start), base
        first += n_trees


def _room_for_outside(data: TrainingData, plan: Plan) -> NDArray[np.bool_] | None:
    """Room for which rows each tree did not see; None where every tree sees every row."""
    if all(setting.sampling == "all" for setting, _ in plan.parts):
        return None
    return alongside(data.matrix.blocks[0], (data.n_rows, sum(n for _, n in plan.parts)), np.bool_)


def labels_by_blocks(
    model: CompositeModel,
    data: TrainingData,
    options: SolverOptions,
    rows: NDArray[Any] | None = None,
    mask: NDArray[np.bool_] | None = None,
) -> NDArray[np.int32]:
    """Class that every tree gives to training rows (all by default), in blocks of rows.

    `mask` has a row for each of them: which trees to ask.
    """
    rows = np.arange(data.n_rows) if rows is None else rows
    matrix = data.matrix
    labels = alongside(matrix.blocks[0], (len(rows), model.n_trees), np.int32)
    with stage(options.verbose, "out-of-bag votes" if mask is not None else "votes", len(rows)) as advance:
        for begin in range(0, len(rows), ROWS_A_BLOCK):
            part = slice(begin, min(begin + ROWS_A_BLOCK, len(rows)))
            codes = tuple(np.take(block, rows[part], axis=1) for block in matrix.blocks)
            labels[part] = model.labels(
                BinnedMatrix(codes, matrix.mapper, matrix.has_missing),
                np.ascontiguousarray(data.gram.X[rows[part]]),
                options.n_jobs,
                None if mask is None else mask[part],
            )
            advance(part.stop - begin)
    return labels


def _with_trust(
    data: TrainingData, model: CompositeModel, labels: NDArray[Any], leaf_scores: str, options: SolverOptions
) -> CompositeModel:
    if leaf_scores != "calibrated":
        return model
    leaf = model.leaf_index(data.matrix, options.n_jobs)
    trust = LeafTrust.measure(leaf, labels, data.y, data.weight, len(model.facts), data.n_classes)
    return replace(model, leaf_trust=trust)


def vote_evidence(
    data: TrainingData, labels: NDArray[Any], outside: NDArray[np.bool_], hard_vote: bool
) -> VoteEvidence | None:
    """Out-of-bag statistics of the trees (theory.md §6.3).

    Bins, scaling and tuned values were learned from all rows, which breaks condition (ii): `in_bag_only` is
    False, and `certify` will say so instead of promising.
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
    )


def with_out_of_fold(
    data: TrainingData, ensemble: Ensemble, plan: Plan, seed: int, options: SolverOptions
) -> Ensemble:
    """The same ensemble with vote shares of every row by small forests grown without its fold."""
    fold = folds_of(data.n_rows, CALIBRATION_FOLDS, seed)
    total = sum(n for _, n in plan.parts)
    shares = np.full((data.n_rows, data.n_classes), np.nan)
    with stage(options.verbose, "forests without a fold", CALIBRATION_FOLDS) as advance:
        for k in range(CALIBRATION_FOLDS):
            rows, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            if len(held) == 0 or len(np.unique(data.y[rows])) < 2:
                continue
            parts = []
            for setting, n_trees in plan.parts:
                count = max(1, round(n_trees / total * min(total, CALIBRATION_TREES)))
                inner = replace(setting, sampling="all", n_draws=None)
                parts.append(fit_trees(data, inner, count, seed, options, rows)[0])
            labels = labels_by_blocks(join_models(parts), data, options, held)
            shares[held] = vote_shares(labels, data.n_classes)
            if plan.n_plain:
                params = plain_params(plan.parts[0][0].max_features)
                plain = grow_forest(
                    data.matrix, data.y, data.n_classes, params, n_trees=100, seed=seed + 1,
                    weight=data.weight, rows=rows, n_jobs=options.n_jobs, verbose=options.verbose,
                )  # fmt: skip
                everywhere = plain.forest.predict_proba(data.matrix, options.n_jobs)
                shares[held] = blend(shares[held], everywhere[held], plan.plain_share)
            advance(1)
    return replace(ensemble, held_out=shares, held_out_kind="out-of-fold")
