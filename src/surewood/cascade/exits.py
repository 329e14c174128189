"""Where rows leave a cascade, with what accuracy, and at what cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from surewood._arrays import Codes, Floats
from surewood.cascade.model import CascadeModel
from surewood.cascade.trainer import predicted_of

SCALES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, np.inf)  # of the thresholds, for the curve of accuracy


def cascade_names(model: CascadeModel, labels: Sequence[Any]) -> list[Any]:
    """The class that each cascade sets against the rest, or "all"."""
    return ["all"] if len(model.cascades) == 1 else list(labels)


def exit_table(
    model: CascadeModel, names: Sequence[Any], design: Floats, codes: Codes | None, n_jobs: int | None
) -> pd.DataFrame:
    """One row per leaf of each cascade."""
    table = []
    for t, (cascade, part) in enumerate(zip(model.cascades, model.evaluate(design, n_jobs=n_jobs))):
        is_correct = None
        if codes is not None:
            alone = len(model.cascades) == 1
            target = codes if alone else (codes == t).astype(np.int32)
            is_correct = predicted_of(part.scores) == target
        work = np.cumsum([node.n_support for node in cascade.nodes])
        for k, node in enumerate(cascade.nodes):
            here = part.leaf == k
            row = {
                "cascade": names[t],
                "leaf": k,
                "degree": node.degree,
                "points": int(here.sum()),
                "fraction": float(here.mean()),
                "kernel_values": int(work[k]),
            }
            if is_correct is not None:
                row["accuracy"] = float(is_correct[here].mean()) if here.any() else float("nan")
            table.append(row)
    return pd.DataFrame(table)


def latency_curve(
    model: CascadeModel, design: Floats, codes: Codes, scales: Sequence[float], n_jobs: int | None
) -> pd.DataFrame:
    """Accuracy against the mean work per row, for thresholds multiplied by each scale."""
    curve = []
    for scale in scales:
        if not scale >= 0:
            raise ValueError(f"scales must be numbers of at least 0, got {scale!r}.")
        parts = model.evaluate(design, scale=float(scale), n_jobs=n_jobs)
        predicted = model.scores(parts).argmax(axis=1)
        curve.append(
            {
                "scale": float(scale),
                "kernel_values": float(sum(part.work.mean() for part in parts)),
                "accuracy": float((predicted == codes).mean()),
                "left_at_first": float(np.mean([(part.leaf == 0).mean() for part in parts])),
            }
        )
    return pd.DataFrame(curve)


def true_class_margins(scores: Floats, codes: Codes) -> Floats:
    """Score of the true class minus the best other one."""
    rows = np.arange(len(scores))
    own = scores[rows, codes]
    others = scores.copy()
    others[rows, codes] = -np.inf
    return np.asarray(own - others.max(axis=1))
