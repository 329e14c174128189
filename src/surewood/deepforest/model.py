"""The frozen fitted model of each cascade: probabilities, evidence, key figures and explanations.

Nothing here depends on the current parameters of an estimator: what a fit compared and kept is recorded.

**Evidence** for a certificate are estimates and heuristics, never a guarantee. Held-out scores took part in
choosing the layer, so their error is a biased ESTIMATE; the margin ratio (4.6) and the stated theorem (4.7)
are HEURISTIC ([D-32]). PAC-Bayesian bounds for votes do not apply: inputs of later layers contain predictions
of models trained on the other points (theory.md §6.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Codes, Floats
from surewood.base import describing
from surewood.base.base import normalised
from surewood.base.calibration import ScoreCalibrator
from surewood.base.describing import Facts
from surewood.bounds import log_forest_count, log_mixture_count, margin_theorem
from surewood.bounds import margins as class_margins
from surewood.bounds.evidence import EstimateEvidence, Evidence, HeuristicEvidence
from surewood.deepforest.blocks import Block, SpillFolder
from surewood.deepforest.data import InputReader, LayerInput
from surewood.deepforest.forests import Schedule
from surewood.deepforest.layers import CascadeLayer, CascadeLayers, MarginLayer, MarginLayers
from surewood.deepforest.stopping import LayerRecord
from surewood.tables import Table, TableSchema, by_label, column_names, plain
from surewood.trees.flat_tree import FlatForest
from surewood.trees.tracing import trace

_ROWS_AT_ONCE = 2**16  # rows predicted together: class vectors of all forests stay small
_UNLIMITED = 64  # a depth beyond which the number of training points is the limit


@dataclass(frozen=True, kw_only=True)
class DeepForestModel:
    """What the models of both algorithms share."""

    #: The kept layers.
    layers: MarginLayers | CascadeLayers
    #: From a table to the input of the first layer.
    reader: InputReader
    calibrator: ScoreCalibrator | None
    #: What the training table looked like.
    schema: TableSchema
    #: Labels of the class codes.
    classes: NDArray[Any]
    #: All layers that were grown, kept or not.
    records: tuple[LayerRecord, ...]
    #: Kind and number of trees of each forest of a layer.
    forests: tuple[tuple[str, int], ...]
    #: Uncalibrated scores of the training rows from models that did not see them, at the kept layer and in
    #: the user's order; NaN for rows of weight 0. Shape (n_rows, n_classes).
    held_out: Floats | None
    #: Class codes of these rows.
    labels: Codes | None
    #: Held-out scores after each layer, where they were to be kept.
    staged_held_out: tuple[Floats, ...]
    #: First layers, settings and layers that were compared by held-out scores ([D-37]).
    n_compared: int
    #: Why growing ended: "no gain", "perfect", "max_layers" or "time_limit".
    stop_reason: str
    #: Owner of the files that trees may be mapped from; a pickle has the trees themselves.
    spill: SpillFolder | None = None
    #: False where the records' accuracies are those of models that trained on the points ([D-26]).
    is_held_out: bool = True

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "spill": None}

    @property
    def n_layers(self) -> int:
        """Layers that predict."""
        return len(self.layers.layers)

    def calibrated(self, scores: Floats) -> Floats:
        """Probabilities of scores."""
        return np.asarray(scores if self.calibrator is None else self.calibrator.transform(scores))

    def probabilities(self, rows: Table, n_jobs: int | None) -> Floats:
        """Class probabilities of a table in memory."""
        inputs = self.reader.read(rows)
        batches = []
        for start in range(0, rows.n_rows, _ROWS_AT_ONCE):
            batch = inputs.take(np.arange(start, min(start + _ROWS_AT_ONCE, rows.n_rows)))
            *_, (_, _, _, scores) = self.layers.walk(batch, n_jobs)
            batches.append(self.calibrated(scores))
        return batches[0] if len(batches) == 1 else np.concatenate(batches)

    def staged_scores(self, rows: Table, n_jobs: int | None) -> Iterator[Floats]:
        """Uncalibrated scores after 1, 2, ... layers."""
        for _, _, _, scores in self.layers.walk(self.reader.read(rows), n_jobs):
            yield scores

    @property
    def importances(self) -> Floats:
        """Importances of the table's columns, summing to 1 if any tree has a split."""
        return normalised(self.layers.importances())

    def evidence(self) -> Iterator[Evidence]:
        """Held-out error and margin ratio of the kept layers; nothing where they are of training points."""
        if not self.is_held_out:
            return
        last, n = self.records[self.n_layers - 1], int(self.records[0].n_points)
        yield EstimateEvidence(
            name="held-out error", value=1.0 - last.accuracy, n=n, used_for_selection=self.n_compared > 1
        )
        yield HeuristicEvidence(name="margin ratio (4.6)", value=last.margin_ratio, n=n)

    def facts(self) -> list[Facts]:
        """Key figures of pages and notebooks."""
        kept, last = self.records[: self.n_layers], self.records[self.n_layers - 1]
        return [
            describing.figure(f"layers kept of {len(self.records)} grown", self.n_layers),
            describing.figure("trees", sum(record.n_trees for record in kept)),
            *(
                [describing.figure("cross-validated accuracy", last.accuracy, "percent", "ESTIMATE")]
                if self.is_held_out
                else []
            ),
            describing.figure("margin ratio", last.margin_ratio, "number", "HEURISTIC"),
        ]

    def explain(self, rows: Table, n_jobs: int | None) -> list[Facts]:
        """Votes, margin and layers of every row: class vectors, margins and splits, layer by layer."""
        base, classes = self.reader.read(rows), self.classes
        names = column_names(self.schema, rows.n_columns)
        explained: list[list[Facts]] = [[] for _ in range(rows.n_rows)]
        final = np.zeros((rows.n_rows, len(classes)))
        layers: Sequence[MarginLayer | CascadeLayer] = self.layers.layers
        walk = zip(layers, self.layers.weights(), self.layers.walk(base, n_jobs))
        for number, (layer, weight, (reached, inputs, vectors, scores)) in enumerate(walk, start=1):
            final = scores
            if not len(reached):
                break
            sees_table = number == 1 or self.layers.layer_inputs != "scores"
            splits = _split_counts(layer.block, inputs, names if sees_table else [])
            for k, row in enumerate(reached):
                entry = {
                    "layer": number,
                    "weight": plain(weight),
                    "vector": by_label(classes, vectors[:, k].mean(axis=0)),
                    "scores": by_label(classes, scores[row]),
                    "margin": _margin(scores[row]),
                    "forests": [
                        {"kind": kind, "vector": by_label(classes, v), "vote": plain(classes[v.argmax()])}
                        for (kind, _), v in zip(self.forests, vectors[:, k])
                    ],
                    "features": splits[k],
                }
                if isinstance(layer, CascadeLayer):
                    entry["gate"] = plain(layer.gate)
                explained[row].append(entry)
        return [
            {"votes": by_label(classes, scores), "margin": _margin(scores), "layers": explained[row]}
            for row, scores in enumerate(final)
        ]


@dataclass(frozen=True, kw_only=True)
class MarginForestModel(DeepForestModel):
    """A fitted margin forest."""

    layers: MarginLayers
    #: Growth rate of the depth, one per forest.
    schedule: Schedule

    @property
    def alphas(self) -> Floats:
        """Weight of each kept layer in the final score."""
        return np.array(self.layers.alphas())

    def evidence(self) -> Iterator[Evidence]:
        """With the value of the stated theorem (4.7) on held-out margins; practically always 1."""
        yield from super().evidence()
        if self.held_out is None or self.labels is None or self.held_out.shape[1] < 2:
            return
        n_classes, n_features = self.held_out.shape[1], self.reader.mapper.n_columns
        rows = ~np.isnan(self.held_out).any(axis=1)
        n = int(rows.sum())
        margins = class_margins(self.held_out[rows], self.labels[rows])
        counts = []
        for record in self.records[: self.n_layers]:
            depth = _UNLIMITED if record.max_depth is None else record.max_depth
            n_inputs = n_features + (n_classes if record.layer > 1 else 0)
            counts.append(log_forest_count(max(record.n_trees, 1), depth, n_inputs, n, n_classes))
        log_count = log_mixture_count(self.alphas / self.alphas.sum(), counts)
        value = margin_theorem(np.clip(margins, -1.0, 1.0), log_count).value
        yield HeuristicEvidence(name="stated margin theorem (4.7)", value=value, n=n)


@dataclass(frozen=True, kw_only=True)
class CascadeForestModel(DeepForestModel):
    """A fitted cascade forest."""

    layers: CascadeLayers

    @property
    def gates(self) -> Floats:
        """Confidence from which points stop at each kept layer."""
        return np.array([layer.gate for layer in self.layers.layers])


def _margin(scores: Floats) -> float:
    """Distance between the two largest scores; 1 with a single class."""
    if len(scores) < 2:
        return 1.0
    second, best = np.partition(scores, -2)[-2:]
    return float(best - second)


def _split_counts(block: Block, inputs: LayerInput, names: list[str]) -> list[list[Facts]]:
    """For each row the features that the layer's trees split on along its paths, most often first.

    `names` are the table's columns, if the layer sees them; splits on class vectors of earlier layers are
    counted together as "earlier layers".
    """
    matrix = inputs.matrix
    n_labels = len(names) + 1
    counts = np.zeros((matrix.n_rows, n_labels), dtype=np.int64)
    for model in block.models:
        if not isinstance(model, FlatForest):
            continue
        traces = trace(model, matrix, matrix.mapper)
        row = np.repeat(np.arange(matrix.n_rows * model.n_trees) // model.n_trees, np.diff(traces.start))
        feature = np.minimum(model.features_of(traces.node), len(names))
        counts += np.bincount(row * n_labels + feature, minlength=counts.size).reshape(counts.shape)
    labels = [*names, "earlier layers"]
    return [
        [{"feature": labels[j], "splits": int(n[j])} for j in np.argsort(-n, kind="stable") if n[j]]
        for n in counts
    ]
