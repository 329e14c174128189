"""Plan and sample to a fitted cascade of any families."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from surewood._arrays import AnyArray
from surewood.cascade.cost import generic_memory
from surewood.cascade.families import Families, Family, Member
from surewood.cascade.generic_model import (
    GenericCascade,
    GenericEvaluation,
    GenericModel,
    complexity_factor,
)
from surewood.cascade.generic_search import GenericResult, GenericSearch, GenericTree, SplitRule
from surewood.cascade.leaf_calibration import LeafCalibrator
from surewood.cascade.penalty import Folds
from surewood.cascade.sample import Sample
from surewood.cascade.splits import Fractions
from surewood.estimators.cost import refuse_beyond


@dataclass(frozen=True)
class GenericPlan:
    """Everything a fit needs to know besides the sample; see `DeepCascadeClassifier`."""

    leaves: Families
    splits: Families
    max_leaves: int
    fractions: Fractions
    gamma_scale: float
    calibration: str | None
    calibration_folds: Folds
    max_memory: int | None


def train_generic(plan: GenericPlan, sample: Sample) -> GenericModel:
    """Find and fit the best cascade."""
    if plan.max_memory is not None:
        needed = sum(generic_memory((*plan.leaves, *plan.splits), sample).values())
        refuse_beyond(plan.max_memory, needed, "use fewer rows")
    found = _search(plan, sample)
    leaves = tuple(plan.leaves[f] for f in found.path.leaves)
    splits = tuple(plan.splits[f] for f in found.path.splits)
    fraction = plan.fractions[found.path.fraction] if splits else None
    cascade = build_generic(sample, leaves, splits, fraction, np.arange(len(sample.codes)))
    held_out = _out_of_fold(plan, sample, leaves, splits, fraction)
    calibrator = None
    if plan.calibration is not None:
        calibrator = LeafCalibrator(plan.calibration)
        calibrator.fit(held_out.scores, sample.codes, sample.weight, held_out.leaf)
    wrong = held_out.scores.argmax(axis=1) != sample.codes
    return GenericModel(
        cascade=cascade,
        search=found,
        leaf_families=leaves,
        split_families=splits,
        gamma_scale=plan.gamma_scale,
        held_out_error=float(sample.weight @ wrong / sample.total),
        n_rows=len(sample.codes),
        n_classes=sample.n_classes,
        encoder=sample.encoder,
        calibrator=calibrator,
    )


def _search(plan: GenericPlan, sample: Sample) -> GenericResult:
    design, c = sample.design, sample.n_classes
    tree = GenericTree(design, sample.codes, sample.weight, c, plan.leaves, plan.splits)
    search = GenericSearch(
        tree,
        plan.fractions,
        plan.max_leaves if plan.splits else 1,
        complexity_factor(c) * plan.gamma_scale * sample.total,
        np.array([family.rademacher(design, c) for family in plan.leaves]),
        np.array([family.split_rademacher(design, c) for family in plan.splits]),
    )
    return search.run()


def _out_of_fold(
    plan: GenericPlan,
    sample: Sample,
    leaves: Sequence[Family],
    splits: Sequence[Family],
    fraction: Fraction | None,
) -> GenericEvaluation:
    n = len(sample.codes)
    scores, leaf = np.zeros((n, sample.n_classes)), np.zeros(n, dtype=np.int64)
    for train, held_out in plan.calibration_folds:
        cascade = build_generic(sample, leaves, splits, fraction, train)
        scores[held_out], leaf[held_out] = cascade.evaluate(sample.design[held_out])
    return GenericEvaluation(scores, leaf)


def build_generic(
    sample: Sample,
    leaves: Sequence[Family],
    splits: Sequence[Family],
    fraction: Fraction | None,
    part: AnyArray,
) -> GenericCascade:
    """Fit the chain of chosen families on some rows; it ends early where no split divides the points."""
    tree = GenericTree(sample.design, sample.codes, sample.weight, sample.n_classes, leaves, splits)
    rows = part.astype(np.int32)
    rules: list[SplitRule] = []
    members: list[Member] = []
    for k in range(len(splits)):
        divided = None if fraction is None else tree.divide(rows, k, fraction)
        if divided is None:
            break
        rule, stay, rows = divided
        rules.append(rule)
        members.append(tree.leaf(stay, k))
    # A chain that ends early keeps the most complex classifier it was to have, that of its last leaf.
    members.append(tree.leaf(rows, len(leaves) - 1))
    return GenericCascade(tuple(rules), tuple(members), sample.n_classes)
