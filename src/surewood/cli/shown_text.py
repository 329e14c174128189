"""Text from tables and model files as a terminal may show it.

Names, labels and values can hold anything. A control character would move the cursor, change colors or rename
the window of the terminal, so it is shown as Python writes it (a backslash and its number); a very long word
is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

#: Control characters, and those that change the direction of text or break lines; a line break stays one.
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_LONG_WORD = re.compile(r"\S{121,}")
_KEPT = 50  # characters of a long word, at either end


def escaped(text: str) -> str:
    """The text with visible control characters.

    Examples
    --------
    >>> escaped(f"red {chr(27)}[31m") == "red " + chr(92) + "x1b[31m"
    True
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def shown(text: str) -> str:
    """The text with visible control characters and shortened words.

    Examples
    --------
    >>> len(shown("column " + 5000 * "x"))
    108
    """
    return _LONG_WORD.sub(lambda found: f"{found[0][:_KEPT]}…{found[0][-_KEPT:]}", escaped(text))


class SafeConsole(Console):
    """A console that writes no control character of the text that it is given."""

    def render(self, *args: Any, **options: Any) -> Iterable[Segment]:
        """Segments of something to print."""
        for segment in super().render(*args, **options):
            if segment.control or not _CONTROL.search(segment.text):
                yield segment
            else:
                yield Segment(escaped(segment.text), segment.style)
