"""Claims in the words of the command line, such as ``recall:bad`` or ``error-by:region``."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.certify import Claim, CostClassifier
from surewood.certify.claims import QUANTITIES, read_claims
from surewood.workflow.decision_rules import cost_matrix
from surewood.workflow.errors import WorkflowError
from surewood.workflow.model_folder import SavedModel

_COMMA = re.compile(r",(?=\s*(?:error|accuracy|recall:|precision:|fpr:|f1:|balanced|brier|cost))")


def split_claims(words: Sequence[str] | None) -> list[str]:
    """Claims given with commas, as several words, or both; a comma inside a label stays.

    Examples
    --------
    >>> split_claims(["error,recall:bad", "recall:a, or b"])
    ['error', 'recall:bad', 'recall:a, or b']
    """
    return [part.strip() for word in words or () for part in _COMMA.split(word) if part.strip()]


def read_claim_words(
    words: Sequence[str], cost: str | None, saved: SavedModel, frame: pd.DataFrame
) -> list[Claim]:
    """Claims about a saved model on a table.

    Parameters
    ----------
    words : list of str
    cost : str or None
        Costs of confusions, for the claim ``cost``.
    saved : SavedModel
    frame : DataFrame
        The table as it came: groups are named by its columns.
    """
    found: list[Claim] = []
    for word in split_claims(words):
        name, _, rest = word.partition(":")
        quantity = name.strip().replace("-", "_")
        if quantity not in QUANTITIES:
            known = ", ".join(QUANTITIES).replace("_", "-")
            raise WorkflowError(f"claim={word} is unknown; choose among {known}.")
        if quantity == "cost":
            found.append(Claim("cost", cost=_matrix(cost, saved)))
        elif quantity == "error_by":
            if rest not in frame.columns:
                raise WorkflowError(f"claim={word}: the table has no column {rest!r}.")
            found.append(Claim("error_by", by=frame[rest]))  # the estimator may not see the column
        else:
            try:
                found += read_claims(f"{quantity}:{rest}" if rest else quantity, saved.classes.tolist())
            except ValueError as error:
                raise WorkflowError(f"claim={word}: {error}.") from error
    return found


def _matrix(cost: str | None, saved: SavedModel) -> NDArray[np.float64]:
    if cost is not None:
        return cost_matrix(cost, saved.classes.tolist())
    if isinstance(saved.decider, CostClassifier):
        return np.asarray(saved.decider.cost, dtype=np.float64)
    raise WorkflowError("claim=cost needs cost=..., such as bad:good=5,good:bad=1.")
