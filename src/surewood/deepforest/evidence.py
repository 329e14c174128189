"""What a fitted cascade may say about itself in a certificate: estimates and heuristics, never a guarantee.

Held-out scores took part in choosing the layer, so their error is a biased ESTIMATE; the margin ratio (4.6)
and the stated theorem (4.7) are HEURISTIC ([D-32]). PAC-Bayesian bounds for votes do not apply: inputs of
later layers contain predictions of models trained on the other points (theory.md §6.3).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from surewood.bounds import (
    EstimateEvidence,
    HeuristicEvidence,
    log_forest_count,
    log_mixture_count,
    margin_theorem,
)
from surewood.bounds import (
    margins as class_margins,
)

_UNLIMITED = 64  # a depth beyond which the number of training points is the limit


def held_out_evidence(model: Any) -> Iterator[EstimateEvidence | HeuristicEvidence]:
    """Held-out error and margin ratio of the kept layers."""
    record = model.layers_[model.n_layers_ - 1]
    n = int(record.n_points) if model.n_layers_ == 1 else int(model.layers_[0].n_points)
    selected = len(model.layers_) > 1 and model.validation_fraction is None
    yield EstimateEvidence(
        name="held-out error", value=1.0 - record.accuracy, n=n, used_for_selection=selected
    )
    yield HeuristicEvidence(name="margin ratio (4.6)", value=record.margin_ratio, n=n)


def theorem_evidence(model: Any) -> Iterator[HeuristicEvidence]:
    """The value of (4.7) on held-out margins; practically always 1."""
    scores = model.held_out_scores_
    known = ~np.isnan(scores).any(axis=1)
    if scores.shape[1] < 2:
        return
    predicted_margins = class_margins(scores[known], model.held_out_labels_[known])
    counts = []
    for record in model.layers_[: model.n_layers_]:
        depth = _UNLIMITED if record.max_depth is None else record.max_depth
        n_inputs = model.n_features_in_ + (len(model.classes_) if record.layer > 1 else 0)
        counts.append(
            log_forest_count(max(record.n_trees, 1), depth, n_inputs, int(known.sum()), scores.shape[1])
        )
    log_count = log_mixture_count(model.alphas_ / model.alphas_.sum(), counts)
    value = margin_theorem(np.clip(predicted_margins, -1.0, 1.0), log_count).value
    yield HeuristicEvidence(name="stated margin theorem (4.7)", value=value, n=int(known.sum()))
