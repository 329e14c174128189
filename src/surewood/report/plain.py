"""Values as JSON knows them: numbers, text, lists, dictionaries; what is not finite becomes None."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from surewood.estimators.describing import short

__all__ = ["plain", "plain_dict", "short"]


def plain(value: Any) -> Any:
    """A JSON-able copy.

    Examples
    --------
    >>> plain({"a": np.float64("nan"), 3: np.arange(2), "t": (True, None)})
    {'a': None, '3': [0, 1], 't': [True, None]}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return str(value)


def plain_dict(value: Mapping[Any, Any]) -> dict[str, Any]:
    """A JSON-able copy of a dictionary."""
    return {str(key): plain(item) for key, item in value.items()}
