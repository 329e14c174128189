"""Texts that mean "no value", and when they do.

Some codes mean nothing else (``#N/A``, ``null``); some are words that a category may really have (``none``,
``unknown``), and count as missing only among numbers and dates, where they cannot be anything else.
"""

from __future__ import annotations

from collections.abc import Collection

#: Missing in every column. Compared in lower case, without white space around.
ALWAYS = frozenset(
    [
        "?",
        "??",
        "-",
        "--",
        "---",
        ".",
        "..",
        "*",
        "**",
        "_",
        "–",
        "—",
        "na",
        "n/a",
        "n.a.",
        "n.a",
        "nan",
        "-nan",
        "<na>",
        "<null>",
        "null",
        "nil",
        "(null)",
        "[null]",
        "nat",
        "#n/a",
        "#na",
        "#null!",
        "#div/0!",
        "#value!",
        "#ref!",
        "#name?",
        "#num!",
        "1.#ind",
        "1.#qnan",
        "\\n",  # what MySQL writes, \\N
    ]
) | {"", "#n/a n/a"}
#: Missing only where the rest of the column is numbers, dates or durations.
AMONG_NUMBERS = (
    ALWAYS
    | frozenset(
        [
            "none",
            "unknown",
            "missing",
            "undefined",
            "unspecified",
            "tbd",
            "tba",
            "x",
            "xx",
            "k.a.",
            "nd",
            "n.d.",
            "empty",
            "blank",
            "inf",
            "-inf",
            "infinity",
            "error",
            "err",
            "refused",
            "withheld",
            "nr",
        ]
    )
    | {"not available", "not applicable", "not known", "k. a.", "keine angabe"}
)


def is_missing_code(text: str, codes: Collection[str], extra: Collection[str] = ()) -> bool:
    """Whether a text is one of `codes`, or one of the texts that the user named.

    Examples
    --------
    >>> [is_missing_code(" N/A ", ALWAYS), is_missing_code("none", ALWAYS)]
    [True, False]
    >>> is_missing_code("none", AMONG_NUMBERS)
    True
    >>> is_missing_code("999", ALWAYS, extra=["999"])
    True
    """
    stripped = text.strip()
    return stripped in extra or stripped.casefold() in codes
