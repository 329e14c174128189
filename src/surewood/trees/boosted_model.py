"""The fitted boosted trees: a forest whose leaves hold values, one per output, that are added up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood import _core
from surewood._arrays import ArrayTable, Floats, check_arrays
from surewood.base import describing
from surewood.base.calibration import ScoreCalibrator
from surewood.base.describing import Facts, ReportRows, step
from surewood.base.wording import features_used, path_text
from surewood.bounds.evidence import EstimateEvidence, Evidence
from surewood.parallel import over_rows
from surewood.tables import ColumnReader, Table, TableSchema, by_label, plain
from surewood.trees.binning import BinMapper, BinnedMatrix
from surewood.trees.flat_tree import FlatForest, check_bins
from surewood.trees.tracing import trace

_ARRAYS: ArrayTable = {
    (np.float32, 2): ("values",),
    (np.int64, 1): ("n_rounds",),
    (np.float64, 1): ("baseline", "importances"),
}
_ROWS_A_TASK = 8192
_SECONDS_A_TREE = 2e-9  # of a row and output, roughly
_SHOWN_TREES = 5  # of an explained row


def output_count(n_classes: int) -> int:
    """Scores of a row: one per class; one, the log-odds of the second class, for two; none for one."""
    return {1: 0, 2: 1}.get(n_classes, n_classes)


@dataclass(frozen=True)
class BoostedModel:
    """Fitted boosted trees: the mean of a few models, each trained without a part of the rows."""

    #: Of all models; leaves hold no classes.
    trees: FlatForest
    #: What a leaf adds to each score, divided by the number of models, shape (n_nodes, n_outputs).
    values: NDArray[np.float32]
    baseline: Floats
    mapper: BinMapper
    #: Labels by class code, and the columns of the training table.
    classes: NDArray[Any]
    schema: TableSchema
    #: Gain of the splits on each column.
    importances: Floats
    #: Of each model.
    n_rounds: NDArray[np.int64]
    calibrator: ScoreCalibrator | None
    #: Probabilities of the rows of the merged training table by the model that did not see them, before
    #: calibration; NaN for rows that no model left out. None once the fit is done.
    held_out: Floats | None
    #: ESTIMATE; NaN without held-out rows.
    held_out_error: float
    n_held_out: int

    def __post_init__(self) -> None:
        """Refuse parts that do not belong together: a file may hold anything."""
        check_arrays(self, _ARRAYS)
        n_outputs = output_count(self.trees.n_classes)
        if self.values.shape != (len(self.trees.nodes), n_outputs) or not np.isfinite(self.values).all():
            raise ValueError("values must be finite, one per node and output.")
        if self.trees.word_bits:
            raise ValueError("boosted trees must have whole nodes.")
        if len(self.baseline) != n_outputs or not np.isfinite(self.baseline).all():
            raise ValueError("baseline must be finite, one per output.")
        if len(self.importances) != self.trees.n_features or not np.isfinite(self.importances).all():
            raise ValueError("importances must be finite, one per column.")
        if self.importances.min(initial=0) < 0:
            raise ValueError("importances must not be negative.")
        if self.n_rounds.min(initial=0) < 0 or self.n_rounds.sum() != self.trees.n_trees:
            raise ValueError("numbers of rounds must not be negative and sum to the number of trees.")
        check_bins(self.trees, self.mapper)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.trees.n_classes

    def binned(self, table: Table, n_jobs: int | None = 1) -> BinnedMatrix:
        """A table in the bins of the training table."""
        return BinnedMatrix.of(self.mapper.codes(table, n_jobs), self.mapper)

    def scores(self, matrix: BinnedMatrix, n_jobs: int | None) -> Floats:
        """Sum of the trees' values, shape (n_rows, n_outputs)."""
        out = np.zeros((matrix.n_rows, len(self.baseline)))
        if len(self.baseline) == 0:
            return out
        blocks = list(matrix.blocks)
        over_rows(
            _add_scores,
            (self.trees, self.values),
            lambda begin, end: (blocks, begin, end),
            [out],
            send=lambda begin, end: ([block[:, begin:end] for block in blocks], 0, end - begin),
            n_rows=matrix.n_rows,
            rows_a_task=_ROWS_A_TASK,
            n_jobs=n_jobs,
            seconds_a_row=_SECONDS_A_TREE * self.values.shape[1] * self.trees.n_trees,
            shared=(self.values, *self.trees.arrays),
        )
        out += self.baseline
        return out

    def probabilities(self, rows: Table, n_jobs: int | None) -> Floats:
        """Class probabilities of every row."""
        raw = softmax(self.scores(self.binned(rows, n_jobs), n_jobs))
        return raw if self.calibrator is None else self.calibrator.transform(raw)

    def evidence(self) -> Iterator[Evidence]:
        """The held-out error (ESTIMATE); rounds, shape and calibration were chosen on these rows."""
        if self.n_held_out:
            yield EstimateEvidence(
                name="held-out error",
                value=self.held_out_error,
                n=self.n_held_out,
                used_for_selection=True,
            )

    def explain(self, rows: Table, n_jobs: int | None) -> list[dict[str, Any]]:
        """One dictionary per row: ``scores``, ``features`` (splits met on each) and ``weightiest`` trees."""
        matrix = self.binned(rows, n_jobs)
        traces, reader = trace(self.trees, matrix, self.mapper), ColumnReader(rows, self.schema)
        scores = self.scores(matrix, n_jobs)
        values = self.values[self.trees.node_start[:-1] + self.trees.apply(matrix).astype(np.int64)]
        labels = [plain(label) for label in self.classes]
        labels = labels if len(labels) > 2 else labels[1:]

        def tree_facts(row: int, tree: int) -> dict[str, Any]:
            output = int(np.abs(values[row, tree]).argmax())
            return {
                "tree": tree,
                "for": labels[output],
                "value": float(values[row, tree, output]),
                "path": traces.path(row, tree, reader),
            }

        largest = np.abs(values).max(axis=2, initial=0.0)
        return [
            {
                "scores": by_label(np.array(labels, dtype=object), scores[row]),
                "features": traces.splits(row, reader),
                "weightiest": [
                    tree_facts(row, int(tree))
                    for tree in np.argsort(-largest[row], kind="stable")[:_SHOWN_TREES]
                ],
            }
            for row in range(rows.n_rows)
        ]


def _add_scores(forest: FlatForest, values: Any, blocks: list[Any], *rest: Any) -> None:
    _core.add_boosted_scores(forest.in_core, values, _core.Bins(blocks), *rest)


def softmax(scores: Floats) -> Floats:
    """Probabilities from scores: one column is the log-odds of the second of two classes, none is one class.

    Examples
    --------
    >>> softmax(np.array([[0.0], [np.log(3.0)]])).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    if scores.shape[1] < 2:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


_DESCRIPTION = (
    "Many small decision trees, each grown to correct the ones before it; their values are added up. A mean "
    "of a few such models, each trained without a part of the rows."
)


def report_facts(estimator: Any, rows: ReportRows | None = None) -> Facts:
    """Title and size of fitted boosted trees."""
    model = estimator.model_
    figures = [
        describing.figure("models", len(model.n_rounds)),
        describing.figure("trees", int(model.trees.n_trees)),
        describing.figure("error on held-out rows", model.held_out_error, "percent", "ESTIMATE"),
    ]
    return describing.report_facts(describing.title_of(type(estimator)), _DESCRIPTION, figures)


def explanation_steps(estimator: Any, explained: Mapping[str, Any]) -> list[Facts]:
    """Scores, the features of the splits, and the path in the tree with the largest value."""
    scores = [f"{label}: {value:+.2f}" for label, value in explained["scores"].items()]
    steps = [step("Scores (logarithms of odds)", scores)] if scores else []
    steps += features_used(explained["features"])
    for tree in explained["weightiest"][:1]:
        title = f"The tree with the largest value: {tree['value']:+.3f} for {tree['for']}"
        steps.append(step(title, [path_text(tree["path"])]))
    return steps
