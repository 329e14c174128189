"""A fitted composite forest: one frozen object that holds all that a fitted estimator reads.

Predictions, ledgers, explanations and certificates are functions of this object and of a table; nothing here
looks at the parameters of an estimator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from surewood._arrays import Floats, Ints
from surewood.bounds import EstimateEvidence, Evidence, LeafLedger, VoteEvidence
from surewood.composite.data import Reader, TrainingData
from surewood.composite.evidence import SampleFacts, forest_evidence, tree_evidence
from surewood.composite.leaves import Topology
from surewood.composite.ledgers import criterion_of, ledger_frame, path_words, tree_ledger
from surewood.composite.plan import Searched
from surewood.composite.setting import Setting
from surewood.composite.tree_nodes import tree_nodes
from surewood.composite.trees import ROWS_PER_BLOCK, CompositeTrees
from surewood.estimators.calibration import ScoreCalibrator
from surewood.estimators.importances import normalised
from surewood.tables import Table, TableSchema, column_names
from surewood.trees import FlatForest


@dataclass(frozen=True)
class HeldOutError:
    """ESTIMATE: error on rows that the voting trees did not see; NaN, on no row, where there were none."""

    kind: str
    error: float
    n_rows: int

    @classmethod
    def of(cls, votes: Floats | None, kind: str, data: TrainingData) -> HeldOutError:
        """The weighted error of held-out votes, rows without a vote left out."""
        known = np.zeros(data.n_rows, dtype=bool) if votes is None else ~np.isnan(votes).any(axis=1)
        if votes is None or not known.any():
            return cls(kind, np.nan, 0)
        wrong = votes[known].argmax(axis=1) != data.y[known]
        weight = None if data.weight is None else data.weight[known]
        return cls(kind, float(np.average(wrong, weights=weight)), int(known.sum()))


@dataclass(frozen=True)
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
    held_out: HeldOutError
    #: Out-of-bag statistics of the trees.
    votes: VoteEvidence | None
    #: What the fit chose from.
    searched: Searched
    sample: SampleFacts
    #: Training row of each support row.
    support_origin: Ints | None
    #: What a time limit left out.
    notes: tuple[str, ...] = ()

    # --- structure -----------------------------------------------------------------------------------------

    @property
    def n_trees(self) -> int:
        """Composite trees."""
        return self.trees.n_trees

    @property
    def plain(self) -> FlatForest | None:
        """The plain trees, None where there are none."""
        return self.trees.plain

    @property
    def plain_weight(self) -> float:
        """Weight of the plain trees in the vote."""
        return self.trees.plain_weight

    @property
    def n_iter(self) -> int:
        """Most iterations of an SVM, summed over its pairs of classes; at least 1."""
        return max(1, int(self.trees.leaves.iterations.max(initial=0)))

    @property
    def feature_importances(self) -> Floats:
        """Impurity importances, summing to 1; all 0 where no tree splits."""
        return normalised(self.importances)

    @property
    def degrees_histogram(self) -> dict[int, int]:
        """Number of leaves of each degree, over all composite trees."""
        degrees, counts = np.unique(self.trees.leaves.degree, return_counts=True)
        return {int(d): int(n) for d, n in zip(degrees, counts)}

    # --- predictions ---------------------------------------------------------------------------------------

    def mean_scores(self, table: Table, n_jobs: int | None) -> Floats:
        """Mean score of the trees, in blocks of rows so that memory does not grow with the table."""
        out = np.empty((table.n_rows, len(self.classes)))
        for begin in range(0, table.n_rows, ROWS_PER_BLOCK):
            end = min(begin + ROWS_PER_BLOCK, table.n_rows)
            part = table if end - begin == table.n_rows else table.take(np.arange(begin, end))
            matrix, design = self.reader.matrix(part), self.reader.design(part)
            out[begin:end] = self.trees.mean_scores(matrix, design, self.leaf_scores, n_jobs)
        return out

    def probabilities(self, table: Table, n_jobs: int | None) -> Floats:
        """Class probabilities of a table in memory."""
        return self.calibrated(self.mean_scores(table, n_jobs))

    def calibrated(self, scores: Floats) -> Floats:
        """Probabilities from mean scores."""
        return scores if self.calibrator is None else self.calibrator.transform(scores)

    def tree_labels(self, table: Table, n_jobs: int | None) -> NDArray[np.int32]:
        """Class code that each composite tree gives to each row."""
        return self.trees.labels(self.reader.matrix(table), self.reader.design(table), n_jobs)

    def leaf_numbers(self, table: Table, n_jobs: int | None) -> Ints:
        """Number of each row's leaf within its tree, shape (n_rows, n_trees)."""
        leaf = self.trees.leaf_index(self.reader.matrix(table), n_jobs)
        return leaf.astype(np.int64) - self.first_leaf

    @property
    def first_leaf(self) -> Ints:
        """Entry of each tree's first leaf in the table of leaves."""
        return np.searchsorted(self.trees.leaves.tree, np.arange(self.n_trees)).astype(np.int64)

    def decision_path(self, table: Table, n_jobs: int | None) -> tuple[sp.csr_matrix, Ints]:
        """Nodes that each row passes, and where each tree's columns begin."""
        leaf = self.trees.leaf_index(self.reader.matrix(table), n_jobs)
        parent = Topology.of(self.trees.forest).parent
        at = self.trees.leaves.node[leaf]
        row = np.broadcast_to(np.arange(len(at))[:, None], at.shape).ravel()
        at = at.ravel()
        rows, columns = [], []
        while len(at):
            rows.append(row)
            columns.append(at)
            at = parent[at]
            row, at = row[at >= 0], at[at >= 0]
        row, column = np.concatenate(rows), np.concatenate(columns)
        start = self.trees.forest.node_start
        ones = np.ones(len(row), dtype=np.int64)
        return sp.csr_matrix((ones, (row, column)), shape=(leaf.shape[0], int(start[-1]))), start.copy()

    # --- ledgers -------------------------------------------------------------------------------------------

    @property
    def column_names(self) -> list[str]:
        """Names of the training columns; x0, x1, ... where the table had none."""
        return column_names(self.schema, self.sample.n_splitting)

    def setting_of(self, tree: int) -> Setting:
        """The setting of a composite tree."""
        return self.settings[int(self.part_of_tree[tree])]

    def tree_ledger(self, tree: int, with_paths: bool = True) -> LeafLedger:
        """Ledger of one tree."""
        paths = None
        if with_paths:
            paths = path_words(self.trees, tree, self.reader.mapper, self.column_names, self.schema)
        return tree_ledger(self.trees, tree, self.setting_of(tree), self.sample, paths)

    def ledger(self, tree: int | None = None) -> pd.DataFrame:
        """One row per leaf, of one tree or of all."""
        numbers = range(self.n_trees) if tree is None else [self.checked_tree(tree)]
        return ledger_frame(((t, self.tree_ledger(t)) for t in numbers), self.trees)

    def nodes(self, tree: int) -> pd.DataFrame:
        """One row per node of a tree, parents first."""
        ledger = self.tree_ledger(self.checked_tree(tree), with_paths=False)
        return tree_nodes(self.trees, tree, ledger, self.reader.mapper, self.column_names, self.schema)

    def checked_tree(self, tree: int) -> int:
        """The number of a tree, refused where there is none."""
        if tree >= self.n_trees:
            raise ValueError(f"tree must be below {self.n_trees}, got {tree}.")
        return tree

    @property
    def criterion(self) -> Floats:
        """CRITERION (2.9) of each composite tree with its gamma_scale: a selection score, not a bound."""
        return np.array([criterion_of(self.tree_ledger(t, with_paths=False)) for t in range(self.n_trees)])

    @property
    def active_leaves(self) -> float:
        """Fraction of leaves with an active complexity penalty: the smaller side of the minimum (§2.9)."""
        active = [self.tree_ledger(t, with_paths=False).active for t in range(self.n_trees)]
        return float(np.concatenate(active).mean())

    # --- evidence ------------------------------------------------------------------------------------------

    def evidence(self) -> Iterator[Evidence]:
        """What a certificate may use, from what the fit recorded ([D-37])."""
        one_hot = self.leaf_scores == "one_hot"
        if all(s.sampling == "all" for s in self.settings) and self.plain_weight == 0.0:
            trees = [
                tree_evidence(self.trees, t, self.setting_of(t), self.sample, self.searched, one_hot=one_hot)
                for t in range(self.n_trees)
            ]
            yield forest_evidence(trees, one_hot)
        if self.votes is not None:
            yield self.votes
        if self.held_out.n_rows:
            yield EstimateEvidence(
                name=f"{self.held_out.kind} error",
                value=self.held_out.error,
                n=self.held_out.n_rows,
                used_for_selection=self.searched.n_settings > 1,
            )
