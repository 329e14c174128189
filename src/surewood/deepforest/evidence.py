"""What a fitted cascade can add to a certificate: estimates and heuristics, never a guarantee.

Held-out scores took part in choosing the layer, so their error is a biased ESTIMATE; the margin ratio (4.6)
and the stated theorem (4.7) are HEURISTIC ([D-32]). PAC-Bayesian bounds for votes do not apply: inputs of
later layers contain predictions of models trained on the other points (theory.md §6.3). Everything is read
from what the fit recorded ([D-37]).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from surewood.bounds import (
    EstimateEvidence,
    HeuristicEvidence,
    log_forest_count,
    log_mixture_count,
    margin_theorem,
)
from surewood.bounds import margins as class_margins
from surewood.deepforest.model import DeepForestModel, MarginForestModel

_UNLIMITED = 64  # a depth beyond which the number of training points is the limit


def held_out_evidence(model: DeepForestModel) -> Iterator[EstimateEvidence | HeuristicEvidence]:
    """Held-out error and margin ratio of the kept layers."""
    last, n = model.records[model.n_layers - 1], int(model.records[0].n_points)
    yield EstimateEvidence(
        name="held-out error",
        value=1.0 - last.accuracy,
        n=n,
        used_for_selection=model.comparisons.used_held_out_scores,
    )
    yield HeuristicEvidence(name="margin ratio (4.6)", value=last.margin_ratio, n=n)


def theorem_evidence(model: MarginForestModel, n_features: int) -> Iterator[HeuristicEvidence]:
    """The value of (4.7) on held-out margins; practically always 1."""
    scores = model.held_out.scores
    n_classes = scores.shape[1]
    if n_classes < 2:
        return
    known = ~np.isnan(scores).any(axis=1)
    held_out_margins = class_margins(scores[known], model.held_out.labels[known])
    counts = []
    for record in model.records[: model.n_layers]:
        depth = _UNLIMITED if record.max_depth is None else record.max_depth
        n_inputs = n_features + (n_classes if record.layer > 1 else 0)
        counts.append(log_forest_count(max(record.n_trees, 1), depth, n_inputs, int(known.sum()), n_classes))
    log_count = log_mixture_count(model.alphas / model.alphas.sum(), counts)
    value = margin_theorem(np.clip(held_out_margins, -1.0, 1.0), log_count).value
    yield HeuristicEvidence(name="stated margin theorem (4.7)", value=value, n=int(known.sum()))
