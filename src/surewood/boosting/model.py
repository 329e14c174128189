"""The fitted boosted trees: a forest whose leaves hold values that are added up, class by class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import ArrayTable, Floats, check_arrays
from surewood.bounds import EstimateEvidence, Evidence
from surewood.estimators.calibration import ScoreCalibrator
from surewood.tables import Table
from surewood.trees.binning import BinMapper, BinnedMatrix
from surewood.trees.checking import check_bins
from surewood.trees.flat_tree import FlatForest

_ARRAYS: ArrayTable = {
    (np.float32, 1): ("values",),
    (np.int64, 1): ("output_start", "n_rounds"),
    (np.float64, 1): ("baseline", "importances"),
}
_MOST_VALUES = 1 << 22  # of leaves that stand in memory together


@dataclass(frozen=True)
class BoostedModel:
    """Fitted boosted trees."""

    #: Of all models, output after output; leaves hold no classes.
    trees: FlatForest
    #: What a leaf adds to the score of its tree's output, divided by the number of models; an entry per node.
    values: NDArray[np.float32]
    #: Where the trees of each output begin, and their end. Two classes have one output, the log-odds of the
    #: second; one class has none.
    output_start: NDArray[np.int64]
    baseline: Floats
    mapper: BinMapper
    #: Gain of the splits on each column.
    importances: Floats
    #: Of each model.
    n_rounds: NDArray[np.int64]
    calibrator: ScoreCalibrator | None
    #: ESTIMATE; NaN without held-out rows.
    held_out_error: float
    n_held_out: int

    def __post_init__(self) -> None:
        """Refuse parts that do not belong together: a file may hold anything."""
        check_arrays(self, _ARRAYS)
        if len(self.values) != len(self.trees.nodes) or not np.isfinite(self.values).all():
            raise ValueError("values must be finite, one per node.")
        n_outputs = {1: 0, 2: 1}.get(self.trees.n_classes, self.trees.n_classes)
        start = self.output_start
        if len(start) != n_outputs + 1 or start[0] != 0 or start[-1] != self.trees.n_trees:
            raise ValueError("output_start must go from 0 to the number of trees, one entry per output.")
        if (np.diff(start) < 0).any() or len(self.baseline) != n_outputs:
            raise ValueError("output_start must ascend, and baseline have an entry per output.")
        if not np.isfinite(self.baseline).all() or len(self.importances) != self.trees.n_features:
            raise ValueError("baseline must be finite, and importances have an entry per column.")
        if not np.isfinite(self.importances).all() or self.importances.min(initial=0) < 0:
            raise ValueError("importances must be finite and not negative.")
        if self.n_rounds.min(initial=0) < 0:
            raise ValueError("numbers of rounds must not be negative.")
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
        out = np.empty((matrix.n_rows, len(self.baseline)))
        rows = max(1, _MOST_VALUES // max(self.trees.n_trees, 1))
        for begin in range(0, matrix.n_rows, rows):
            part = matrix
            if rows < matrix.n_rows:
                blocks = tuple(np.ascontiguousarray(one[:, begin : begin + rows]) for one in matrix.blocks)
                part = BinnedMatrix(blocks, self.mapper, matrix.has_missing)
            out[begin : begin + rows] = self._scores(self.leaf_values(part, n_jobs))
        return out

    def leaf_values(self, matrix: BinnedMatrix, n_jobs: int | None) -> NDArray[np.float32]:
        """The value that each tree gives to each row, shape (n_rows, n_trees)."""
        return self.trees.look_up(matrix, self.values.view(np.int32), n_jobs).view(np.float32)

    def _scores(self, values: NDArray[np.float32]) -> Floats:
        sums = [
            values[:, begin:end].sum(axis=1, dtype=np.float64)
            for begin, end in zip(self.output_start[:-1], self.output_start[1:])
        ]
        return np.stack(sums, axis=1) + self.baseline if sums else np.empty((len(values), 0))

    def probabilities(self, table: Table, n_jobs: int | None) -> Floats:
        """Class probabilities of every row."""
        found = softmax(self.scores(self.binned(table, n_jobs), n_jobs))
        return found if self.calibrator is None else self.calibrator.transform(found)

    def evidence(self) -> Iterator[Evidence]:
        """The held-out error (ESTIMATE); rounds and calibration were chosen on these rows."""
        if self.n_held_out:
            yield EstimateEvidence(
                name="held-out error",
                value=self.held_out_error,
                n=self.n_held_out,
                used_for_selection=True,
            )


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
