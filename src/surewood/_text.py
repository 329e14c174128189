"""Text from strangers, as a terminal, a page or a card may show it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

#: Control characters, those that change the direction of text, break lines or are not seen (tags among them),
#: and halves of characters, which no file can hold; a line break stays one.
CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)


def escaped(text: str) -> str:
    """The text with visible control characters, as Python writes them: a backslash and a number.

    Examples
    --------
    >>> escaped(f"red {chr(27)}[31m") == "red " + chr(92) + "x1b[31m"
    True
    """
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def has_half_characters(text: str) -> bool:
    """Whether a text holds lone surrogates, which no file can hold.

    Examples
    --------
    >>> has_half_characters("größe"), has_half_characters("x" + chr(0xD800))
    (False, True)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def json_text(value: Any, **options: Any) -> str:
    """A value as JSON that a terminal or a file may show: control characters as numbers, others as they are.

    Examples
    --------
    >>> json_text({"größe": chr(0x202E)}) == '{"größe": "' + chr(92) + 'u202e"}'
    True
    """
    text = json.dumps(value, ensure_ascii=False, **options)
    return CONTROL.sub(lambda found: json.dumps(found[0])[1:-1], text)


def first_line(error: BaseException) -> str:
    """The first line of an error's message, short enough for a sentence.

    Examples
    --------
    >>> first_line(ValueError("no table" + chr(10) + "at all")), first_line(KeyError())
    ('no table', 'KeyError')
    """
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def listed(names: Sequence[Any], most: int = 5) -> str:
    """The first of some names, quoted; dots for the others.

    Examples
    --------
    >>> listed(["a", "b"]), listed(["a", "b", "c"], 2)
    ("'a', 'b'", "'a', 'b', ...")
    """
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")


def memory_text(n_bytes: float | None) -> str:
    """Bytes.

    Examples
    --------
    >>> memory_text(512), memory_text(3.2e6), memory_text(3.234e8)
    ('512 B', '3.2 MB', '323 MB')
    """
    if n_bytes is None:
        return "–"
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.{1 if n_bytes < 100 * size else 0}f} {unit}"
    return f"{n_bytes:.0f} B"
