"""Truth values in words."""

from __future__ import annotations

from collections.abc import Iterable

_PAIRS = (
    ("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"), ("ja", "nein"), ("oui", "non"),
    ("si", "no"), ("sí", "no"), ("wahr", "falsch"), ("vrai", "faux"), ("j", "n"),
)  # fmt: skip


def find_truth_words(texts: Iterable[str]) -> dict[str, float] | None:
    """What each word means, 1 or 0, where a column has just two words of one pair; None otherwise.

    Examples
    --------
    >>> find_truth_words(["Yes", "no ", "YES"]), find_truth_words(["yes", "maybe"])
    ({'yes': 1.0, 'no': 0.0}, None)
    """
    words: set[str] = set()
    for text in texts:
        words.add(text.strip().casefold())
        if len(words) > 2:
            return None
    for true, false in _PAIRS:
        if words == {true, false}:
            return {true: 1.0, false: 0.0}
    return None
