"""What a certificate may read of a composite forest: counts that fit recorded (theory.md §2, §6, [D-37])."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.bounds import Evidence, ForestEvidence, TreeEvidence
from surewood.composite.plan import Searched
from surewood.composite.setting import Setting
from surewood.composite.trees import CompositeTrees
from surewood.trees import BinMapper


@dataclass(frozen=True)
class SampleFacts:
    """What the bounds need to know of the sample."""

    #: Features that SVMs see; features offered to splits.
    n_features: int
    n_splitting: int
    #: Log-growth of one split where it is more than a threshold.
    split_growth: float | None
    #: Whether no sample weights or class weights were given.
    unweighted: bool
    #: Whether the SVMs' features are an affine image of features fixed in advance.
    affine_features: bool
    #: What makes them none, in words ([D-39]).
    learned: str = ""

    def stated(self) -> dict[str, Any]:
        """These facts by the names of their fields in `TreeEvidence`."""
        names = {"n_splitting": "n_split_features", "learned": "learned_representation"}
        return {names.get(one.name, one.name): getattr(self, one.name) for one in fields(self)}


def table_split_growth(mapper: BinMapper, has_missing: NDArray[Any], m: int) -> float | None:
    """Log-growth of one split where it is more than a threshold: category sets, a side for missing values.

    None where every split is a threshold on a column without missing values.
    """
    if not mapper.is_category.any() and not has_missing.any():
        return None
    logs = []
    for j in range(mapper.n_columns):
        if mapper.is_category[j]:
            bins = int(mapper.offset[j + 1] - mapper.offset[j]) + 1  # missing values are one more
            logs.append(min(bins, m) * np.log(2.0))
        else:
            logs.append(np.log(2.0 * m) + (np.log(2.0) if has_missing[j] else 0.0))
    return float(np.logaddexp.reduce(logs))


def tree_evidence(
    trees: CompositeTrees,
    tree: int,
    setting: Setting,
    sample: SampleFacts,
    searched: Searched,
    *,
    one_hot: bool,
) -> TreeEvidence:
    """Counts of one tree for the paper's bound (2.6)."""
    leaves = trees.leaves
    at = leaves.of_tree(tree)
    return TreeEvidence(
        correct=np.rint(leaves.correct[at]).astype(np.int64),
        errors=np.rint(leaves.total[at] - leaves.correct[at]).astype(np.int64),
        depth=leaves.depth[at],
        degree=leaves.degree[at],
        n_classes=max(trees.n_classes, 2),
        max_features=setting.max_features,
        n_degrees=searched.n_degrees,
        max_depth=searched.max_depth,
        gamma_scale=setting.gamma_scale,
        one_hot=one_hot,
        whole_sample=setting.sampling == "all",
        **sample.stated(),
    )


def forest_evidence(trees: list[TreeEvidence], hard_vote: bool) -> Evidence:
    """The evidence of one tree itself, or of the vote of several."""
    if len(trees) == 1:
        return trees[0]
    learned = trees[0].learned_representation
    return ForestEvidence(trees=tuple(trees), hard_vote=hard_vote, learned_representation=learned)
