"""`compare --certify`: the best two classifiers on rows that the comparison did not use (§11.7)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from surewood.certify import compare_models
from surewood.workflow.errors import WorkflowError
from surewood.workflow.labelled_table import LabelledTable


def take_holdout(table: LabelledTable, random_state: int) -> tuple[pd.DataFrame, pd.Series]:
    """Take a random fifth of the rows away from a table."""
    order = np.random.default_rng(random_state).permutation(len(table.y))
    held_out, kept = np.sort(order[: len(order) // 5]), np.sort(order[len(order) // 5 :])
    X, y = table.X.iloc[held_out].reset_index(drop=True), table.y.iloc[held_out].reset_index(drop=True)
    table.keep(kept)
    table.notes.append(f"{len(y):,} rows were held out from the comparison for the guarantee.")
    return X, y


def best_two(errors: Mapping[str, tuple[float, bool]]) -> tuple[str, str]:
    """The best of ours and the best baseline, or the best two where there is only one kind.

    Examples
    --------
    >>> best_two({"rcf": (0.10, True), "mddf": (0.09, True), "rf": (0.12, False)})
    ('mddf', 'rf')
    """
    ranked = sorted(errors, key=lambda name: errors[name][0])
    if len(ranked) < 2:
        raise WorkflowError("certify=True needs at least two classifiers.")
    ours = [name for name in ranked if errors[name][1]]
    others = [name for name in ranked if not errors[name][1]]
    return (ours[0], others[0]) if ours and others else (ranked[0], ranked[1])


def certificate_of_two(
    fitted: Mapping[str, Any], X: pd.DataFrame, y: pd.Series, X_train: pd.DataFrame
) -> dict[str, Any]:
    """Which of two fitted classifiers is guaranteed to err less often, as plain values."""
    (name, model), (other, second) = fitted.items()
    found = compare_models(model, second, X, y, names=(name, other), X_train=X_train)
    plain: dict[str, Any] = json.loads(found.to_json())
    return plain
