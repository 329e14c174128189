"""How large a search is reasonable for a sample: an SVM's cost grows with the square of its rows."""

from __future__ import annotations

from typing import Any

MAX_TRAINING_ROWS = 4000
MANY_CLASSES = 5  # above it one cascade for all classes instead of one per class
_SEARCH_WORK = 2000 * 600**2  # SVMs of a search times the square of the rows


def settings_for(n_rows: int, n_classes: int) -> dict[str, Any]:
    """Parameters for a sample of this size: fewer SVMs per search the more rows there are.

    Examples
    --------
    >>> settings_for(1200, 2)
    {'study': {'max_svms': 500}}
    """
    native = n_classes > MANY_CLASSES
    n_svms = _SEARCH_WORK / n_rows**2 / (1 if native else max(n_classes - 1, 1))
    settings: dict[str, Any] = {"study": {"max_svms": int(min(max(n_svms, 30), 2000))}}
    return {**settings, "multiclass": "native"} if native else settings
