"""Values as JSON knows them: numbers, text, lists, dictionaries; what is not finite becomes None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surewood.estimators.describing import short
from surewood.tables import plain

__all__ = ["middle", "plain", "plain_dict", "short"]


def plain_dict(value: Mapping[Any, Any]) -> dict[str, Any]:
    """A JSON-able copy of a dictionary."""
    return {str(key): plain(item) for key, item in value.items()}


def middle(value: Any, limit: int = 40) -> str:
    """Text of at most `limit` characters on one line; of a longer one the middle is left out.

    Examples
    --------
    >>> middle("average_of_the_last_quarter_2023", 20)
    'average_of…rter_2023'
    """
    text = " ".join(str(value).split())
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"
