"""A composite tree as a table of nodes, inner ones included: what a drawing of the tree needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from surewood.bounds import LeafLedger, path_in_words
from surewood.composite.accounting import leaf_paths, question_words
from surewood.composite.model import CompositeModel
from surewood.tables import TableSchema
from surewood.trees import BinMapper


def tree_nodes(
    model: CompositeModel, tree: int, ledger: LeafLedger, mapper: BinMapper, names: Any, schema: TableSchema
) -> pd.DataFrame:
    """One row a node, parents before children, left before right; see ``Books.nodes``."""
    leaves = np.flatnonzero(model.facts.tree == tree)
    words, leaf_of = {1: path_in_words([])}, {}
    below: dict[int, list[int]] = {1: []}
    for k, (leaf, questions) in enumerate(zip(leaves, leaf_paths(model, tree, mapper))):
        code = int(model.facts.code[leaf])
        leaf_of[code] = k
        for step in range(len(questions) + 1):
            below.setdefault(code >> step, []).append(k)
        for step, question in enumerate(questions, start=1):  # a path code has one bit a question
            above = code >> (len(questions) - step)
            words[above] = path_in_words([question_words(question, names[question.feature], schema)])
    codes = sorted(words, key=lambda code: (code.bit_length(), code))
    place = {code: i for i, code in enumerate(codes)}
    leaf = [leaf_of.get(code, -1) for code in codes]
    return pd.DataFrame(
        {
            "node": range(len(codes)),
            "parent": [place.get(code >> 1, -1) for code in codes],
            "depth": [code.bit_length() - 1 for code in codes],
            "condition": [words[code] for code in codes],
            "points": [float(ledger.points[below[code]].sum()) for code in codes],
            "errors": [float(ledger.errors[below[code]].sum()) for code in codes],
            "complexity_term": [float(ledger.complexity_term[below[code]].sum()) for code in codes],
            "leaf": leaf,
            "degree": [int(ledger.degree[k]) if k >= 0 else -1 for k in leaf],
            "side": [_side(ledger, k) for k in leaf],
        }
    )


def _side(ledger: LeafLedger, leaf: int) -> str:
    if leaf < 0:
        return ""
    return "complexity" if ledger.active[leaf] else "sample"
