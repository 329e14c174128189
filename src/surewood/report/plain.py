"""Values as JSON knows them: numbers, text, lists, dictionaries; what is not finite becomes None."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from surewood.estimators.describing import short
from surewood.tables import plain

__all__ = ["cut_names", "middle", "plain", "plain_dict", "short"]


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


def cut_names(names: Sequence[Any], limit: int) -> list[str]:
    """Names of at most `limit` characters that can still be told apart, where that is possible.

    Examples
    --------
    >>> cut_names(["measurement 1 of the long series", "measurement 2 of the long series"], 16)
    ['…1 of th… series', '…2 of th… series']
    """
    texts = [" ".join(str(name).split()) for name in names]
    shared = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*texts)))
    for start in (0, shared):
        cut = [middle(f"…{text[start:]}" if start else text, limit) for text in texts]
        if len(set(cut)) == len(set(texts)):
            return cut
    return [middle(text, 2 * limit) for text in texts]
