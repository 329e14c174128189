"""How an SVM came to its predictions: pairwise decisions, votes and the nearest support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.polysvc.model import SvmModel
from surewood.svm.class_scores import class_votes
from surewood.svm.nearest import nearest_support
from surewood.tables import Table, by_label, plain


def explain_rows(
    model: SvmModel,
    table: Table,
    classes: NDArray[Any],
    degree: int | None,
    n_jobs: int | None,
) -> list[dict[str, Any]]:
    """One dictionary per row, the prediction by votes included: there may be no probabilities."""
    design = model.design(table)
    known = model.predictor.classes
    decisions = model.predictor.decisions(design, n_jobs=n_jobs)
    votes = np.zeros((len(design), model.n_classes), dtype=np.int64)
    votes[:, known] = class_votes(decisions, len(known))
    winners = model.winners(design, n_jobs)
    probabilities = None if model.calibration is None else model.probabilities(design, n_jobs)
    labels = [plain(label) for label in classes]
    pairs = [(labels[known[a]], labels[known[b]]) for a, b in zip(*np.triu_indices(len(known), 1))]
    return [
        {
            "kind": "svm",
            "prediction": labels[winners[row]],
            "probabilities": None if probabilities is None else by_label(labels, probabilities[row]),
            "degree": degree,
            "votes": by_label(labels, votes[row]),
            "pairs": [
                {"first": first, "second": second, "decision": plain(value)}
                for (first, second), value in zip(pairs, decisions[row])
            ],
            "support": nearest_support(model.predictor, design[row], labels, model.support_origin),
        }
        for row in range(len(design))
    ]
