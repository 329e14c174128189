"""Text from strangers, as a terminal, a page or a card may show it."""

from __future__ import annotations

import json
import re
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
