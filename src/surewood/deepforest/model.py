"""The frozen fitted model of each cascade: its layers, probabilities, evidence, key figures and explanations.

:class:`MarginLayers` is the weighted sum of its layers' class vectors, and each layer reads the sum before it
(theory.md (4.1), [D-29]). Of :class:`CascadeLayers` each reads the class vectors of the layer before, and the
last one predicts (theory.md §5); with screening, points that a layer is sure of stop there, in prediction as
in training. Importances are traced through the layers: that of class vectors is passed on to what they were
made from.

Nothing here depends on the current parameters of an estimator: what a fit compared and kept is recorded.

**Evidence** for a certificate are estimates and heuristics, never a guarantee. Held-out scores took part in
choosing the layer, so their error is a biased ESTIMATE; the margin ratio (4.6) and the stated theorem (4.7)
are HEURISTIC ([D-32]). PAC-Bayesian bounds for votes do not apply: inputs of later layers contain predictions
of models trained on the other points (theory.md §6.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Codes, Floats, Ints, check_number
from surewood.base import describing
from surewood.base.base import normalized
from surewood.base.calibration import ScoreCalibrator
from surewood.base.describing import Facts
from surewood.bounds import log_forest_count, log_mixture_count, margin_theorem
from surewood.bounds import margins as class_margins
from surewood.bounds.evidence import EstimateEvidence, Evidence, HeuristicEvidence
from surewood.deepforest.blocks import Block, SpillFolder
from surewood.deepforest.data import InputReader, LayerInput, widen
from surewood.deepforest.forests import Schedule
from surewood.deepforest.margins import add_layer, add_weight
from surewood.deepforest.stopping import LayerRecord
from surewood.tables import Table, TableSchema, by_label, column_names, plain
from surewood.trees.binning import BinMapper
from surewood.trees.flat_tree import FlatForest
from surewood.trees.tracing import trace

_LARGEST_STEP = 1e9

#: Rows that reach a layer, their input and class vectors (n_members, rows, n_classes), and the scores of all
#: rows after it.
WalkedLayer: TypeAlias = tuple[Ints, LayerInput, Floats, Floats]


@dataclass(frozen=True)
class MarginLayer:
    """One layer."""

    block: Block
    #: Bins of the scores that the layer reads; None for the first layer and for layers that see only the
    #: table.
    vector_bins: BinMapper | None
    #: α, or β in simplex mode.
    step: float
    #: Impurity importances of the layer's inputs.
    importances: Floats

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        check_number("step", self.step, 0.0, _LARGEST_STEP)


@dataclass(frozen=True)
class MarginLayers:
    """All kept layers; `mode` and `layer_inputs` as in the plan."""

    layers: Sequence[MarginLayer]
    mode: str
    layer_inputs: str

    def alphas(self) -> tuple[float, ...]:
        """Weight of each layer in the final score."""
        alphas: tuple[float, ...] = ()
        for layer in self.layers:
            alphas = add_weight(alphas, layer.step, self.mode)
        return alphas

    def weights(self) -> list[float]:
        """The same, summing to 1."""
        alphas = self.alphas()
        return [alpha / sum(alphas) for alpha in alphas]

    def walk(self, base: LayerInput, n_jobs: int | None = 1) -> Iterator[WalkedLayer]:
        """Layer by layer; scores are scaled so that rows sum to 1."""
        rows = np.arange(base.matrix.n_rows)
        scores: Floats | None = None
        alphas: tuple[float, ...] = ()
        for layer in self.layers:
            inputs = base
            if scores is not None and layer.vector_bins is not None:
                inputs = widen(base, scores, layer.vector_bins, self.layer_inputs)
            vectors = layer.block.vectors(inputs, n_jobs)
            mean = vectors.mean(axis=0)
            scores = layer.step * mean if scores is None else add_layer(scores, mean, layer.step, self.mode)
            alphas = add_weight(alphas, layer.step, self.mode)
            yield rows, inputs, vectors, scores / (1.0 if self.mode == "simplex" else sum(alphas))

    def importances(self) -> Floats:
        """Importances of the table's columns, summing to 1 if any is positive."""
        traced: list[Floats] = []
        alphas: tuple[float, ...] = ()
        for layer in self.layers:
            earlier = _mixed(traced, alphas) if traced else None
            traced.append(trace_layer(layer.importances, earlier, self.layer_inputs != "scores"))
            alphas = add_weight(alphas, layer.step, self.mode)
        return _mixed(traced, alphas)


@dataclass(frozen=True)
class CascadeLayer:
    """One layer."""

    block: Block
    #: Bins of the class vectors that the layer reads; None for the first layer.
    vector_bins: BinMapper | None
    #: Confidence from which points stop at this layer; infinite without screening.
    gate: float
    #: Impurity importances of the layer's inputs.
    importances: Floats


@dataclass(frozen=True)
class CascadeLayers:
    """All kept layers; the mean vector of the last one is the prediction of points that reach it."""

    layers: Sequence[CascadeLayer]
    layer_inputs: ClassVar[str] = "both"

    def weights(self) -> list[float]:
        """Each layer replaces the scores of the one before."""
        return [1.0] * len(self.layers)

    def walk(self, base: LayerInput, n_jobs: int | None = 1) -> Iterator[WalkedLayer]:
        """Layer by layer, each with the rows that no layer before was sure of."""
        n_rows = base.matrix.n_rows
        out = np.zeros((n_rows, self.layers[0].block.n_classes))
        active, inputs, gate = np.arange(n_rows), base, math.inf
        vectors = np.zeros((0, 0, 0))
        for layer in self.layers:
            if not math.isinf(gate):
                stays = out[active].max(axis=1) < gate
                active, vectors = active[stays], vectors[:, stays]
            if len(active):
                if layer.vector_bins is not None:
                    inputs = widen(base.take(active), side_by_side(vectors), layer.vector_bins, "both")
                vectors = layer.block.vectors(inputs, n_jobs)
                out[active] = vectors.mean(axis=0)
            yield active, inputs, vectors, out.copy()
            gate = layer.gate

    def importances(self) -> Floats:
        """Importances of the table's columns."""
        traced = self.layers[0].importances
        for layer in self.layers[1:]:
            traced = trace_layer(layer.importances, traced)
        return traced


def side_by_side(vectors: Floats) -> Floats:
    """(n_members, n_rows, n_classes) as (n_rows, n_members · n_classes)."""
    return np.concatenate(list(vectors), axis=1)


def trace_layer(importances: Floats, earlier: Floats | None, sees_table: bool = True) -> Floats:
    """Importances of the table's columns for one layer.

    Parameters
    ----------
    importances : ndarray of float64
        Of the layer's inputs: the table's columns (if it saw them), then class-vector columns.
    earlier : ndarray of float64, shape (n_features,), or None
        Traced importances, summing to 1, of what the class-vector columns are; None for the first layer.
    sees_table : bool
        Whether a later layer saw the table's columns at all.

    Examples
    --------
    >>> trace_layer(np.array([0.2, 0.0, 0.8]), np.array([0.5, 0.5])).round(2).tolist()
    [0.6, 0.4]
    """
    if earlier is None:
        return importances
    direct = importances[: len(earlier)] if sees_table else np.zeros(len(earlier))
    return np.asarray(direct + (importances.sum() - direct.sum()) * earlier)


def _mixed(traced: Sequence[Floats], alphas: Sequence[float]) -> Floats:
    """Importances of a weighted sum of layers, summing to 1 if any is positive."""
    total = np.sum([alpha * layer for alpha, layer in zip(alphas, traced)], axis=0)
    mass = total.sum()
    return np.asarray(total / mass if mass > 0 else total)


# --- the model -------------------------------------------------------------------------------------------


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
    #: Held-out scores as rows to come would have them: where a content occurs more than once, of models that
    #: saw its other copies. None once the fit is done.
    population: Floats | None = None
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
        return normalized(self.layers.importances())

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
