"""Text from strangers, as a terminal, a page or a card may show it."""

from __future__ import annotations

import re

#: Control characters, and those that change the direction of text or break lines; a line break stays one.
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def escaped(text: str) -> str:
    """The text with visible control characters, as Python writes them: a backslash and a number.

    Examples
    --------
    >>> escaped(f"red {chr(27)}[31m") == "red " + chr(92) + "x1b[31m"
    True
    """
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
