"""What a fitted composite forest can say about itself: ledger, criterion, evidence, explanation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.bounds import (
    EstimateEvidence,
    Evidence,
    ForestEvidence,
    LeafLedger,
    TreeEvidence,
    composite_ledger,
    path_in_words,
)
from surewood.composite.fitting import Setting
from surewood.composite.leaves import MAX_DEPTH
from surewood.composite.model import CompositeModel
from surewood.tables import TableSchema
from surewood.trees import BinMapper, Question


def tree_ledger(
    model: CompositeModel,
    tree: int,
    setting: Setting,
    n_features: int,
    n_questions: int,
    paths: list[str] | None = None,
) -> LeafLedger:
    """Ledger of one tree: one row a leaf, in the order of the path codes."""
    at = np.flatnonzero(model.facts.tree == tree)
    facts = model.facts
    return composite_ledger(
        facts.correct[at],
        facts.total[at] - facts.correct[at],
        facts.depth[at],
        facts.degree[at],
        n_features=n_features,
        n_classes=max(model.n_classes, 2),
        max_features=setting.max_features,
        n_question_features=n_questions,
        gamma_scale=setting.gamma_scale,
        paths=paths,
    )


def ledger_frame(ledgers: Iterator[tuple[int, LeafLedger]], model: CompositeModel) -> pd.DataFrame:
    """All trees, one below the other, with the number of the tree and the box C of each leaf."""
    frames = []
    for tree, ledger in ledgers:
        frame = ledger.to_frame().reset_index()
        at = np.flatnonzero(model.facts.tree == tree)
        frame.insert(0, "tree", tree)
        frame["C"] = model.facts.C[at]
        frame["converged"] = model.facts.converged[at]
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def criterion_values(ledger: LeafLedger) -> tuple[float, float]:
    """Selection score (2.9) of a tree, and the share of its leaves whose complexity was felt (§2.9)."""
    total = float(ledger.points.sum())
    score = (float(ledger.errors.sum()) + float((ledger.term * total).sum())) / total
    return score, ledger.active_share


def question_words(question: Question, name: str, schema: TableSchema) -> tuple[str, str, object]:
    """A step on a path as (name, relation, value)."""
    if question.categories is None:
        return name, "<=" if question.went_left else ">", float(question.threshold)
    values = schema.categories[question.feature] or []
    named = tuple(str(values[c]) if c < len(values) else f"other ({c})" for c in question.categories)
    return name, "in" if question.went_left else "not in", named


def leaf_paths(model: CompositeModel, tree: int, mapper: BinMapper) -> list[list[Question]]:
    """Questions from the root to each leaf of a tree."""
    leaves = np.flatnonzero(model.facts.tree == tree)
    nodes = model.facts.node[leaves] - model.forest.node_start[tree]
    return model.forest.paths(tree, nodes.tolist(), mapper)


def path_words(
    model: CompositeModel, tree: int, mapper: BinMapper, names: Any, schema: TableSchema
) -> list[str]:
    """The path to each leaf of a tree as a sentence."""
    return [
        path_in_words([question_words(q, names[q.feature], schema) for q in questions])
        for questions in leaf_paths(model, tree, mapper)
    ]


def question_growth(mapper: BinMapper, has_missing: NDArray[Any], m: int) -> float | None:
    """Log-growth of one question where it is more than a threshold: category sets, a side for the missing."""
    if not mapper.is_category.any() and not has_missing.any():
        return None
    logs = []
    for j in range(mapper.n_columns):
        if mapper.is_category[j]:
            bins = int(mapper.offset[j + 1] - mapper.offset[j]) + 1  # the missing ones are one more
            logs.append(min(bins, m) * np.log(2.0))
        else:
            logs.append(np.log(2.0 * m) + (np.log(2.0) if has_missing[j] else 0.0))
    return float(np.logaddexp.reduce(logs))


def tree_evidence(
    model: CompositeModel,
    tree: int,
    setting: Setting,
    *,
    n_features: int,
    n_questions: int,
    n_degrees: int,
    growth: float | None,
    one_hot: bool,
    unweighted: bool,
    affine: bool,
) -> TreeEvidence:
    """Counts of one tree for the papers' bound (2.6)."""
    at = np.flatnonzero(model.facts.tree == tree)
    facts = model.facts
    return TreeEvidence(
        correct=np.rint(facts.correct[at]).astype(np.int64),
        errors=np.rint(facts.total[at] - facts.correct[at]).astype(np.int64),
        depth=facts.depth[at],
        degree=facts.degree[at],
        n_classes=max(model.n_classes, 2),
        n_features=n_features,
        n_question_features=n_questions,
        max_features=setting.max_features,
        n_degrees=n_degrees,
        max_depth=setting.max_depth if setting.max_size is None else MAX_DEPTH,
        gamma_scale=setting.gamma_scale,
        question_growth=growth,
        one_hot=one_hot,
        whole_sample=setting.sampling == "all",
        unweighted=unweighted,
        affine_features=affine,
    )


def forest_evidence(trees: list[TreeEvidence], hard_vote: bool) -> Evidence:
    """One tree speaks for itself, several for their vote."""
    if len(trees) == 1:
        return trees[0]
    return ForestEvidence(trees=tuple(trees), hard_vote=hard_vote)


def held_out_evidence(error: float, n: int, kind: str, used_for_selection: bool) -> EstimateEvidence:
    """The error on rows that the voting trees did not see."""
    return EstimateEvidence(name=f"{kind} error", value=error, n=n, used_for_selection=used_for_selection)
