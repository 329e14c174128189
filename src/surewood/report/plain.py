"""Values as JSON knows them: numbers, text, lists, dictionaries; what is not finite becomes None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surewood.estimators.describing import short
from surewood.tables import plain

__all__ = ["plain", "plain_dict", "short"]


def plain_dict(value: Mapping[Any, Any]) -> dict[str, Any]:
    """A JSON-able copy of a dictionary."""
    return {str(key): plain(item) for key, item in value.items()}
