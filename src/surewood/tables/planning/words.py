"""Words for true and false, and texts that mean "no value".

Some codes mean nothing else (``#N/A``, ``null``); some are words that a category may really have (``none``,
``unknown``), and count as missing only among numbers and dates, where they cannot be anything else. Codes
that other readers drop on their own (``None`` and ``NA`` in pandas) are missing everywhere, so that a table
gives the same values whoever read it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

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


_MARKS = "? ?? - -- --- . .. ... * ** _ – —"
_ERRORS = "#n/a #na #null! #div/0! #value! #ref! #name? #num! 1.#ind -1.#ind 1.#qnan -1.#qnan"
_WORDS = "na n/a n.a. n.a nan -nan <na> <null> null nil (null) [null] nat \\n"  # the last: as MySQL writes it
_WORDS_AMONG_NUMBERS = (
    "none unknown missing undefined unspecified tbd tba k.a. nd n.d. empty blank inf -inf infinity "
    "error err refused withheld nr unk"
)
_NINES = frozenset(float("9" * digits) for digits in range(2, 10))
_PUNCTUATION = frozenset(_MARKS.split())
_EXACT = frozenset(["None"])  # pandas reads it as missing, and only in this case
#: Missing in every column. Compared in lower case, without white space around.
ALWAYS = _PUNCTUATION | frozenset(_WORDS.split()) | frozenset(_ERRORS.split()) | {"", "#n/a n/a"}
#: Missing only where the rest of the column is numbers, dates or durations.
AMONG_NUMBERS = (
    ALWAYS
    | frozenset(_WORDS_AMONG_NUMBERS.split())
    | {f".{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"}  # as Stata writes kinds of missing
    | {"not available", "not applicable", "not known", "no data", "no value", "k. a.", "keine angabe"}
)


def are_missing_codes(
    texts: Sequence[str], codes: Collection[str], extra: Collection[str] = ()
) -> NDArray[np.bool_]:
    """Whether each text is one of `codes`, or one of those that the user named.

    Examples
    --------
    >>> are_missing_codes([" N/A ", "none", "None", "12"], ALWAYS, extra=["12"]).tolist()
    [True, False, True, True]
    """
    stripped = list(map(str.strip, texts))

    def among(known: Collection[str], words: list[str]) -> NDArray[np.bool_]:
        wanted = frozenset(known)
        if wanted.isdisjoint(words):
            return np.zeros(len(words), dtype=bool)
        return np.fromiter(map(wanted.__contains__, words), bool, len(words))

    found = among(codes, list(map(str.casefold, stripped)))
    return found | among([*extra, *(_EXACT if codes else ())], stripped)


def find_number_code(values: NDArray[np.float64]) -> float | None:
    """A number of nines, such as -999, that seems to mean "no value"; None where there is none.

    It occurs at least twice, and is further from all other numbers than these are from one another.

    Examples
    --------
    >>> find_number_code(np.array([3.0, -999.0, 5.0, -999.0, 4.0, np.nan]))
    -999.0
    >>> find_number_code(np.array([990.0, 999.0, 995.0, 999.0])) is None
    True
    """
    known, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    if len(known) < 3:
        return None
    for code, count, nearest, rest in (
        (known[0], counts[0], known[1], known[-1] - known[1]),
        (known[-1], counts[-1], known[-2], known[-2] - known[0]),
    ):
        if abs(code) in _NINES and count > 1 and abs(code - nearest) > rest:
            return float(code)
    return None


def codes_among_words(texts: Iterable[str]) -> Collection[str]:
    """Codes that mean missing among these words: not ``-`` and the like where all values are such marks.

    Examples
    --------
    >>> "-" in codes_among_words(["A", "B", "-"]), "-" in codes_among_words(["+", "-"])
    (True, False)
    """
    all_texts = list(texts)
    missing = are_missing_codes(all_texts, ALWAYS)
    others = [text.strip() for text, is_code in zip(all_texts, missing) if not is_code]
    if others and not any(character.isalnum() for text in others for character in text):
        return ALWAYS - _PUNCTUATION
    return ALWAYS
