"""The fitted forest: trees, bins and what the out-of-bag rows told; its explanations and key figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.base import describing
from surewood.base.calibration import ScoreCalibrator
from surewood.base.describing import Facts, ReportRows, step
from surewood.base.wording import CLASSES_SHOWN, features_used, path_text, plural
from surewood.bounds.evidence import EstimateEvidence, Evidence, VoteEvidence
from surewood.tables import ColumnReader, Table, TableSchema, by_label, plain
from surewood.trees.binning import BinMapper, BinnedMatrix
from surewood.trees.flat_tree import FlatForest
from surewood.trees.tracing import trace
from surewood.trees.tree_shapley import shapley_values

DESCRIPTION = "Many decision trees, grown on random subsets of the rows and columns, that vote."


@dataclass(frozen=True)
class ForestModel:
    """A fitted forest."""

    trees: FlatForest
    #: The bins of the columns.
    mapper: BinMapper
    #: Labels by class code, and the columns of the training table.
    classes: NDArray[Any]
    schema: TableSchema
    #: What the bags and the trees were drawn with; a warm start goes on with it.
    seed: int
    #: Mean over the trees of the decreases of impurity. Shape (n_features,).
    importances: Floats
    calibrator: ScoreCalibrator | None
    #: Mean votes of the trees that did not see a row (once stored: of the user's table); NaN for rows that
    #: every tree saw. Shape (n_rows, n_classes).
    held_out: Floats | None
    #: Weighted (ESTIMATE); NaN without such votes.
    held_out_accuracy: float
    #: Out-of-bag statistics of a certifiable forest ([D-43]).
    votes: VoteEvidence | None = None

    @property
    def has_categories(self) -> bool:
        """Whether a column is split by sets of categories."""
        return bool(self.mapper.is_category.any())

    def binned(self, table: Table, n_jobs: int | None = 1) -> BinnedMatrix:
        """A table in the bins of the training table."""
        return BinnedMatrix.of(self.mapper.codes(table, n_jobs), self.mapper)

    def probabilities(self, rows: Table, n_jobs: int | None) -> Floats:
        """Class probabilities of every row."""
        if self.has_categories:
            return self.calibrated(self.trees.predict_proba(self.binned(rows, n_jobs), n_jobs))
        return self.raw_probabilities(rows.matrix(), n_jobs)

    def raw_probabilities(self, X: Floats, n_jobs: int | None) -> Floats:
        """The same for a matrix of numbers, which the engine reads as it is."""
        return self.calibrated(self.trees.predict_proba_raw(X, self.mapper, n_jobs))

    def calibrated(self, votes: Floats) -> Floats:
        """Probabilities from votes; the votes themselves without calibration."""
        return votes if self.calibrator is None else self.calibrator.transform(votes)

    def shapley_values(
        self, rows: Table, background: Table, groups: Sequence[Sequence[int]], n_jobs: int | None
    ) -> Floats | None:
        """Exact contributions by group of columns; None where votes are calibrated."""
        if self.calibrator is not None:
            return None
        matrix, others = self.binned(rows, n_jobs), self.binned(background, n_jobs)
        return shapley_values(self.trees, matrix, others, groups, n_jobs)

    def leaves(self, table: Table, n_jobs: int | None) -> NDArray[np.uint32]:
        """Node, within its tree, in which each row ends."""
        return self.trees.apply(self.binned(table), n_jobs=n_jobs)

    def paths(self, leaves: NDArray[np.int64]) -> sp.csr_matrix:
        """Indicator of the nodes that rows pass on the way to their leaves, shape (n_rows, n_nodes)."""
        start = self.trees.node_start
        rows, columns = [], []
        for tree in range(self.trees.n_trees):
            parent = self.trees.table(tree)["parent"]
            at, row = leaves[:, tree], np.arange(len(leaves))
            while len(at):
                rows.append(row)
                columns.append(at + start[tree])
                at = parent[at]
                row, at = row[at >= 0], at[at >= 0]
        row, column = np.concatenate(rows), np.concatenate(columns)
        values = np.ones(len(row), dtype=np.int64)
        return sp.csr_matrix((values, (row, column)), shape=(len(leaves), int(start[-1])))

    def evidence(self) -> Iterator[Evidence]:
        """The votes of a certifiable forest, and the out-of-bag error where it was computed (ESTIMATE).

        Bins of other forests are learned from all rows and their leaves vote with class frequencies, so the
        conditions of the PAC-Bayes bounds (theory.md §6.3) do not hold and no guarantee is offered.
        """
        if self.votes is not None:
            yield self.votes
        if self.held_out is not None and np.isfinite(self.held_out_accuracy):
            yield EstimateEvidence(
                name="out-of-bag error",
                value=1.0 - self.held_out_accuracy,
                n=int((~np.isnan(self.held_out[:, 0])).sum()),
                used_for_selection=False,
            )

    def explain(self, rows: Table, n_jobs: int | None) -> list[dict[str, Any]]:
        """By row: ``features`` (splits met on each, most first) and ``trees`` (path, leaf and vote)."""
        traces = trace(self.trees, self.binned(rows, n_jobs), self.mapper)
        reader = ColumnReader(rows, self.schema)

        def explain_tree(row: int, tree: int) -> dict[str, Any]:
            leaf = int(traces.leaf[row, tree] - self.trees.node_start[tree])
            votes = self.trees.class_vector(tree, leaf)
            return {
                "tree": tree,
                "leaf": leaf,
                "path": traces.path(row, tree, reader),
                "votes": by_label(self.classes, votes),
                "vote": plain(self.classes[votes.argmax()]),
            }

        return [
            {
                "features": traces.splits(row, reader),
                "trees": [explain_tree(row, tree) for tree in range(self.trees.n_trees)],
            }
            for row in range(rows.n_rows)
        ]


def report_facts(model: Any, rows: ReportRows | None = None) -> Facts:
    """Title and size of a fitted forest."""
    figures = [
        describing.figure("trees", int(model.forest_.n_trees)),
        describing.figure("nodes", int(model.forest_.node_start[-1])),
    ]
    return describing.report_facts(describing.title_of(type(model)), DESCRIPTION, figures)


def explanation_steps(model: Any, explained: Mapping[str, Any]) -> list[Facts]:
    """Votes of the trees, the features of their splits, and the path of one tree that agrees."""
    trees = explained["trees"]
    votes = Counter(tree["vote"] for tree in trees).most_common()[:CLASSES_SHOWN]
    steps = [step("Votes", [f"{n} of {plural(len(trees), 'tree')} vote for {label}" for label, n in votes])]
    steps += features_used(explained["features"])
    for tree in trees:
        if tree["vote"] == explained["prediction"]:
            steps.append(step(f"Tree {tree['tree'] + 1} votes for {tree['vote']}", [path_text(tree["path"])]))
            break
    return steps
