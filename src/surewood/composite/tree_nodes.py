"""A composite tree as a table of nodes, inner ones included: what a drawing of the tree needs."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from surewood.bounds import LeafLedger, path_in_words
from surewood.composite.ledgers import leaf_paths, split_words
from surewood.composite.trees import CompositeTrees
from surewood.tables import TableSchema
from surewood.trees import BinMapper


def tree_nodes(
    trees: CompositeTrees,
    tree: int,
    ledger: LeafLedger,
    mapper: BinMapper,
    names: Sequence[str],
    schema: TableSchema,
) -> pd.DataFrame:
    """One row per node, parents before children, left before right; columns as in ``nodes`` of estimators."""
    leaves = trees.leaves.of_tree(tree)
    words, leaf_of = {1: path_in_words([])}, {}
    below: dict[int, list[int]] = {1: []}
    for k, (leaf, splits) in enumerate(zip(leaves, leaf_paths(trees, tree, mapper))):
        code = int(trees.leaves.code[leaf])
        leaf_of[code] = k
        for step in range(len(splits) + 1):
            below.setdefault(code >> step, []).append(k)
        for step, split in enumerate(splits, start=1):  # a path code has one bit per split
            above = code >> (len(splits) - step)
            words[above] = path_in_words([split_words(split, names[split.feature], schema)])
    codes = sorted(words, key=lambda code: (code.bit_length(), code))
    place = {code: i for i, code in enumerate(codes)}
    number = [leaf_of.get(code, -1) for code in codes]
    return pd.DataFrame(
        {
            "node": range(len(codes)),
            "parent": [place.get(code >> 1, -1) for code in codes],
            "depth": [code.bit_length() - 1 for code in codes],
            "condition": [words[code] for code in codes],
            "points": [float(ledger.points[below[code]].sum()) for code in codes],
            "errors": [float(ledger.errors[below[code]].sum()) for code in codes],
            "complexity_term": [float(ledger.complexity_term[below[code]].sum()) for code in codes],
            "leaf": number,
            "degree": [int(ledger.degree[k]) if k >= 0 else -1 for k in number],
            "side": [_side(ledger, k) for k in number],
        }
    )


def _side(ledger: LeafLedger, leaf: int) -> str:
    if leaf < 0:
        return ""
    return "complexity" if ledger.active[leaf] else "sample"
