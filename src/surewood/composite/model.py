"""A fitted composite forest: one frozen object that holds all that a fitted estimator reads.

Predictions, ledgers, explanations and evidence for certificates are functions of this object and of a table;
nothing here looks at the parameters of an estimator. What pages show of it is in
:mod:`~surewood.composite.report_facts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from surewood._arrays import Codes, Floats, Ints
from surewood.base.base import normalized
from surewood.base.calibration import ScoreCalibrator
from surewood.bounds import LeafLedger, composite_ledger
from surewood.bounds.evidence import EstimateEvidence, Evidence, ForestEvidence, TreeEvidence, VoteEvidence
from surewood.bounds.ledger import path_in_words
from surewood.composite.data import Reader
from surewood.composite.growing import Setting, Topology
from surewood.composite.plan import Searched
from surewood.composite.trees import ROWS_PER_BLOCK, CompositeTrees
from surewood.svm.one_vs_one import Predictor, nearest_support
from surewood.tables import ColumnReader, Table, TableSchema, by_label, column_names, plain
from surewood.trees.binning import BinMapper
from surewood.trees.flat_tree import Split
from surewood.trees.tracing import trace


@dataclass(frozen=True, kw_only=True)
class CompositeModel:
    """A fitted composite tree or forest."""

    #: Splits, leaves and SVMs as plain arrays; plain trees and their weight in the vote.
    trees: CompositeTrees
    #: Reads tables as the training table was read.
    reader: Reader
    classes: NDArray[np.generic]
    schema: TableSchema
    #: What the parts of the forest were grown with.
    settings: tuple[Setting, ...]
    #: Which of them each composite tree has.
    part_of_tree: Ints
    #: What a leaf contributes to the vote.
    leaf_scores: str
    #: Impurity importances of the splits, not normalized.
    importances: Floats
    calibrator: ScoreCalibrator | None
    #: Votes of training rows by trees that did not see them, NaN where all did, shape (n_rows, n_classes). An
    #: estimator hands them on when it is fitted and does not keep them.
    held_out: Floats | None = None
    #: Their error (ESTIMATE).
    estimate: EstimateEvidence | None
    #: Out-of-bag statistics of the trees.
    votes: VoteEvidence | None
    #: What the fit chose from.
    searched: Searched
    #: Log-growth of one split where it is more than a threshold.
    split_growth: float | None
    #: Whether no sample weights or class weights were given.
    unweighted: bool
    #: Training row of each support row.
    support_origin: Ints | None
    #: What a time limit left out.
    notes: tuple[str, ...] = ()
    #: Families that leaves chose from, by their numbers from 1 on; empty for SVMs.
    family_names: tuple[str, ...] = ()

    # --- structure -----------------------------------------------------------------------------------------

    @property
    def n_trees(self) -> int:
        """Composite trees."""
        return self.trees.n_trees

    @property
    def held_out_error(self) -> float:
        """ESTIMATE: error of held-out votes; NaN where there were none."""
        return np.nan if self.estimate is None else self.estimate.value

    @property
    def n_iter(self) -> int:
        """Most iterations of an SVM, summed over its pairs of classes; at least 1."""
        return max(1, int(self.trees.leaves.iterations.max(initial=0)))

    @property
    def feature_importances(self) -> Floats:
        """Impurity importances, summing to 1; all 0 where no tree splits."""
        return normalized(self.importances)

    @property
    def degrees_histogram(self) -> dict[int, int]:
        """Number of leaves of each degree, over all composite trees."""
        degrees, counts = np.unique(self.trees.leaves.degree, return_counts=True)
        return {int(d): int(n) for d, n in zip(degrees, counts)}

    @property
    def first_leaf(self) -> Ints:
        """Entry of each tree's first leaf in the table of leaves."""
        return np.searchsorted(self.trees.leaves.tree, np.arange(self.n_trees)).astype(np.int64)

    def kind_of(self, degree: int) -> str:
        """What a leaf with this entry of `degree` holds, in short."""
        if not self.family_names:
            return f"degree {degree}"
        return ("one class", *self.family_names)[degree]

    def setting_of(self, tree: int) -> Setting:
        """The setting of a composite tree."""
        return self.settings[int(self.part_of_tree[tree])]

    # --- predictions ---------------------------------------------------------------------------------------

    def probabilities(self, rows: Table, n_jobs: int | None) -> Floats:
        """Class probabilities: the trees' mean score, calibrated where there is a calibration."""
        scores = np.empty((rows.n_rows, len(self.classes)))
        for begin in range(0, rows.n_rows, ROWS_PER_BLOCK):  # so that memory does not grow with the table
            end = min(begin + ROWS_PER_BLOCK, rows.n_rows)
            block = rows if end - begin == rows.n_rows else rows.take(np.arange(begin, end))
            matrix, design = self.reader.matrix(block), self.reader.design(block)
            scores[begin:end] = self.trees.mean_scores(matrix, design, self.leaf_scores, n_jobs)
        return scores if self.calibrator is None else self.calibrator.transform(scores)

    def tree_labels(self, rows: Table, n_jobs: int | None) -> NDArray[np.int32]:
        """Class code that each composite tree gives to each row."""
        return self.trees.labels(self.reader.matrix(rows), self.reader.design(rows), n_jobs)

    def leaf_numbers(self, rows: Table, n_jobs: int | None) -> Ints:
        """Number of each row's leaf within its tree, shape (n_rows, n_trees)."""
        leaf = self.trees.leaf_index(self.reader.matrix(rows), n_jobs)
        return leaf.astype(np.int64) - self.first_leaf

    def decision_path(self, rows: Table, n_jobs: int | None) -> tuple[sp.csr_matrix, Ints]:
        """Nodes that each row passes, and where each tree's columns begin."""
        leaf = self.trees.leaf_index(self.reader.matrix(rows), n_jobs)
        parent = Topology.of(self.trees.forest).parent
        at = self.trees.leaves.node[leaf]
        row = np.broadcast_to(np.arange(len(at))[:, None], at.shape).ravel()
        at = at.ravel()
        passed_by, passed = [], []
        while len(at):
            passed_by.append(row)
            passed.append(at)
            at = parent[at]
            row, at = row[at >= 0], at[at >= 0]
        row, column = np.concatenate(passed_by), np.concatenate(passed)
        start = self.trees.forest.node_start
        ones = np.ones(len(row), dtype=np.int64)
        return sp.csr_matrix((ones, (row, column)), shape=(leaf.shape[0], int(start[-1]))), start.copy()

    def explain(self, rows: Table, n_jobs: int | None) -> list[dict[str, Any]]:
        """One dictionary per row: votes, splits by column, trees, nearest support vectors."""
        trees, leaves = self.trees, self.trees.leaves
        matrix, design = self.reader.matrix(rows), self.reader.design(rows)
        is_leaf = np.zeros(len(trees.forest.nodes), dtype=bool)
        is_leaf[leaves.node] = True
        traces = trace(trees.forest, matrix, self.reader.mapper, is_leaf)
        leaf, labels = trees.leaf_index(matrix, n_jobs), trees.labels(matrix, design, n_jobs)
        votes = trees.mean_scores(matrix, design, self.leaf_scores, n_jobs)
        plain_votes = None if trees.plain is None else trees.plain.predict_proba(matrix, n_jobs)
        columns, first_leaf = ColumnReader(rows, self.schema), self.first_leaf
        explanations = []
        for row in range(rows.n_rows):
            explanation: dict[str, Any] = {
                "votes": by_label(self.classes, votes[row]),
                "features": traces.splits(row, columns),
                "trees": [
                    {
                        "tree": tree,
                        "leaf": int(entry - first_leaf[tree]),
                        "path": traces.path(row, tree, columns),
                        "degree": int(leaves.degree[entry]),
                        "points": float(leaves.total[entry]),
                        "correct": float(leaves.correct[entry]),
                        "vote": plain(self.classes[labels[row, tree]]),
                    }
                    for tree, entry in enumerate(leaf[row])
                ],
                "support": [],
            }
            if self.family_names:
                for described in explanation["trees"]:
                    described["family"] = self.kind_of(described["degree"])
            if isinstance(trees.predictor, Predictor):
                explanation["support"] = nearest_support(
                    trees.predictor, design[row], self.classes, self.support_origin
                )
            if trees.plain is not None and plain_votes is not None:
                explanation["plain_trees"] = {
                    "trees": trees.plain.n_trees,
                    "weight": float(trees.plain_weight),
                    "votes": by_label(self.classes, plain_votes[row]),
                }
            explanations.append(explanation)
        return explanations

    # --- ledgers -------------------------------------------------------------------------------------------

    def tree_ledger(self, tree: int, with_paths: bool = True) -> LeafLedger:
        """Ledger of one tree, leaves in the order of their path codes."""
        leaves, setting = self.trees.leaves, self.setting_of(tree)
        at = leaves.of_tree(tree)
        paths, names = None, self._column_names
        if with_paths:
            paths = [
                path_in_words([self._in_words(split, names) for split in splits])
                for splits in self.leaf_paths(tree)
            ]
        return composite_ledger(
            leaves.correct[at],
            leaves.total[at] - leaves.correct[at],
            leaves.depth[at],
            leaves.degree[at],
            n_features=self.reader.n_features,
            n_classes=max(self.trees.n_classes, 2),
            max_features=setting.max_features,
            n_split_features=self.reader.mapper.n_columns,
            gamma_scale=setting.gamma_scale,
            paths=paths,
            family_complexity=setting.family_complexity,
            homogeneous=self.reader.kernel != "poly",
        )

    def ledger(self, tree: int | None = None) -> pd.DataFrame:
        """One row per leaf, of one tree or of all, with the C of each leaf."""
        frames = []
        for number in range(self.n_trees) if tree is None else [self._checked_tree(tree)]:
            frame = self.tree_ledger(number).to_frame().reset_index()
            at = self.trees.leaves.of_tree(number)
            frame.insert(0, "tree", number)
            frame["C"] = self.trees.leaves.C[at]
            frame["converged"] = self.trees.leaves.converged[at]
            if self.family_names:
                frame = frame.drop(columns=["vc_dimension", "log_growth", "C"])
                frame["family"] = [self.kind_of(degree) for degree in frame["degree"]]
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def nodes(self, tree: int) -> pd.DataFrame:
        """One row per node of a tree, parents before children, left before right."""
        ledger = self.tree_ledger(self._checked_tree(tree), with_paths=False)
        names = self._column_names
        words = {1: path_in_words([])}  # of the last split above each node; nodes by their path codes
        leaf_of: dict[int, int] = {}
        below: dict[int, list[int]] = {1: []}
        for k, (leaf, splits) in enumerate(zip(self.trees.leaves.of_tree(tree), self.leaf_paths(tree))):
            code = int(self.trees.leaves.code[leaf])
            leaf_of[code] = k
            for step in range(len(splits) + 1):
                below.setdefault(code >> step, []).append(k)
            for step, split in enumerate(splits, start=1):  # a path code has one bit per split
                words[code >> (len(splits) - step)] = path_in_words([self._in_words(split, names)])
        codes = sorted(words, key=lambda code: (code.bit_length(), code))
        place = {code: i for i, code in enumerate(codes)}
        number = [leaf_of.get(code, -1) for code in codes]
        side = np.where(ledger.active, "complexity", "sample")
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
                "side": [str(side[k]) if k >= 0 else "" for k in number],
            }
        )

    @property
    def criterion(self) -> Floats:
        """CRITERION (2.9) of each composite tree with its gamma_scale: a selection score, not a bound."""
        scores = []
        for tree in range(self.n_trees):
            ledger = self.tree_ledger(tree, with_paths=False)
            total = float(ledger.points.sum())
            scores.append((float(ledger.errors.sum()) + float((ledger.term * total).sum())) / total)
        return np.array(scores)

    @property
    def active_leaves(self) -> float:
        """Fraction of leaves with an active complexity penalty: the smaller side of the minimum (§2.9)."""
        active = [self.tree_ledger(t, with_paths=False).active for t in range(self.n_trees)]
        return float(np.concatenate(active).mean())

    def leaf_paths(self, tree: int) -> list[list[Split]]:
        """Splits from the root to each leaf of a tree."""
        nodes = self.trees.leaves.node[self.trees.leaves.of_tree(tree)] - self.trees.forest.node_start[tree]
        return self.trees.forest.paths(tree, nodes.tolist(), self.reader.mapper)

    def _in_words(self, split: Split, names: list[str]) -> tuple[str, str, object]:
        """A step on a path as (name, relation, value)."""
        name = names[split.feature]
        if split.categories is None:
            return name, "<=" if split.went_left else ">", float(split.threshold)
        values = self.schema.categories[split.feature] or []
        named = tuple(str(values[c]) if c < len(values) else f"other ({c})" for c in split.categories)
        return name, "in" if split.went_left else "not in", named

    @property
    def _column_names(self) -> list[str]:
        return column_names(self.schema, self.reader.mapper.n_columns)

    def _checked_tree(self, tree: int) -> int:
        if tree >= self.n_trees:
            raise ValueError(f"tree must be below {self.n_trees}, got {tree}.")
        return tree

    # --- what certificates read ----------------------------------------------------------------------------

    def evidence(self) -> Iterator[Evidence]:
        """What a certificate may use, from what the fit recorded ([D-37])."""
        hard_vote = self.leaf_scores == "one_hot"
        whole_sample = all(s.sampling == "all" for s in self.settings)
        if whole_sample and self.trees.plain_weight == 0.0 and not self.family_names:
            trees = tuple(self._tree_evidence(tree) for tree in range(self.n_trees))
            if len(trees) == 1:
                yield trees[0]
            else:
                learned = trees[0].learned_representation
                yield ForestEvidence(trees=trees, hard_vote=hard_vote, learned_representation=learned)
        if self.votes is not None:
            yield self.votes
        if self.estimate is not None:
            yield self.estimate

    def _tree_evidence(self, tree: int) -> TreeEvidence:
        """Counts of one tree for the paper's bound (2.6)."""
        leaves, setting = self.trees.leaves, self.setting_of(tree)
        at = leaves.of_tree(tree)
        learned = self.reader.encoder.learned_
        return TreeEvidence(
            correct=np.rint(leaves.correct[at]).astype(np.int64),
            errors=np.rint(leaves.total[at] - leaves.correct[at]).astype(np.int64),
            depth=leaves.depth[at],
            degree=leaves.degree[at],
            n_classes=max(self.trees.n_classes, 2),
            n_features=self.reader.n_features,
            n_split_features=self.reader.mapper.n_columns,
            split_growth=self.split_growth,
            max_features=setting.max_features,
            n_degrees=self.searched.n_degrees,
            max_depth=self.searched.max_depth,
            gamma_scale=setting.gamma_scale,
            one_hot=self.leaf_scores == "one_hot",
            whole_sample=setting.sampling == "all",
            unweighted=self.unweighted,
            affine_features=not learned,
            homogeneous=self.reader.kernel != "poly",
            learned_representation=learned,
        )


def held_out_estimate(
    votes: Floats | None, y: Codes, weight: Floats | None, kind: str, searched: Searched
) -> EstimateEvidence | None:
    """The weighted error of held-out votes, rows without a vote left out; None without any."""
    if votes is None:
        return None
    judged = ~np.isnan(votes).any(axis=1)
    if not judged.any():
        return None
    wrong = votes[judged].argmax(axis=1) != y[judged]
    error = float(np.average(wrong, weights=None if weight is None else weight[judged]))
    return EstimateEvidence(
        name=f"{kind} error",
        value=error,
        n=int(judged.sum()),
        used_for_selection=searched.n_settings > 1,
    )


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
