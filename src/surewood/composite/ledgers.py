"""Ledgers of composite trees: one row per leaf, its path in words, and the criterion of the whole tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from surewood.bounds import LeafLedger, composite_ledger, path_in_words
from surewood.composite.evidence import SampleFacts
from surewood.composite.setting import Setting
from surewood.composite.trees import CompositeTrees
from surewood.tables import TableSchema
from surewood.trees import BinMapper, Split


def tree_ledger(
    trees: CompositeTrees, tree: int, setting: Setting, sample: SampleFacts, paths: list[str] | None = None
) -> LeafLedger:
    """Ledger of one tree, leaves in the order of their path codes."""
    leaves = trees.leaves
    at = leaves.of_tree(tree)
    return composite_ledger(
        leaves.correct[at],
        leaves.total[at] - leaves.correct[at],
        leaves.depth[at],
        leaves.degree[at],
        n_features=sample.n_features,
        n_classes=max(trees.n_classes, 2),
        max_features=setting.max_features,
        n_split_features=sample.n_splitting,
        gamma_scale=setting.gamma_scale,
        paths=paths,
    )


def ledger_frame(ledgers: Iterable[tuple[int, LeafLedger]], trees: CompositeTrees) -> pd.DataFrame:
    """Some trees, one below the other, with the number of the tree and the C of each leaf."""
    frames = []
    for tree, ledger in ledgers:
        frame = ledger.to_frame().reset_index()
        at = trees.leaves.of_tree(tree)
        frame.insert(0, "tree", tree)
        frame["C"] = trees.leaves.C[at]
        frame["converged"] = trees.leaves.converged[at]
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def criterion_of(ledger: LeafLedger) -> float:
    """Selection score (2.9) of a tree."""
    total = float(ledger.points.sum())
    return (float(ledger.errors.sum()) + float((ledger.term * total).sum())) / total


def split_words(split: Split, name: str, schema: TableSchema) -> tuple[str, str, object]:
    """A step on a path as (name, relation, value)."""
    if split.categories is None:
        return name, "<=" if split.went_left else ">", float(split.threshold)
    values = schema.categories[split.feature] or []
    named = tuple(str(values[c]) if c < len(values) else f"other ({c})" for c in split.categories)
    return name, "in" if split.went_left else "not in", named


def leaf_paths(trees: CompositeTrees, tree: int, mapper: BinMapper) -> list[list[Split]]:
    """Splits from the root to each leaf of a tree."""
    nodes = trees.leaves.node[trees.leaves.of_tree(tree)] - trees.forest.node_start[tree]
    return trees.forest.paths(tree, nodes.tolist(), mapper)


def path_words(
    trees: CompositeTrees, tree: int, mapper: BinMapper, names: Sequence[str], schema: TableSchema
) -> list[str]:
    """The path to each leaf of a tree in words."""
    return [
        path_in_words([split_words(split, names[split.feature], schema) for split in splits])
        for splits in leaf_paths(trees, tree, mapper)
    ]
