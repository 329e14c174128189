"""Text from tables and model files as a terminal may show it.

Names, labels and values can hold anything. A control character would move the cursor, change colors or rename
the window of the terminal, so it is shown as Python writes it (a backslash and its number); a very long word
is cut. Rich leaves some control characters out without a trace when it makes a text, so the escaping comes
first: commands use the :class:`Text` and the :class:`SafeConsole` of this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import rich.text
from rich.console import Console
from rich.segment import Segment

from surewood._text import CONTROL, escaped

_LONG_WORD = re.compile(r"\S{121,}")
_KEPT = 50  # characters of a long word, at either end


def shown(text: str) -> str:
    """The text with visible control characters and shortened words.

    Examples
    --------
    >>> len(shown("column " + 5000 * "x"))
    108
    """
    return _LONG_WORD.sub(lambda found: f"{found[0][:_KEPT]}…{found[0][-_KEPT:]}", escaped(text))


class Text(rich.text.Text):
    """A text of Rich with visible control characters.

    Examples
    --------
    >>> Text(f"bell {chr(7)}").plain == "bell " + chr(92) + "x07"
    True
    """

    def __init__(self, text: str = "", *args: Any, **options: Any) -> None:
        super().__init__(escaped(text), *args, **options)


class SafeConsole(Console):
    """A console that writes no control character of the text that it is given."""

    def render_str(self, text: str, **options: Any) -> rich.text.Text:
        """A string as a text of Rich."""
        return super().render_str(escaped(text), **options)

    def render(self, *args: Any, **options: Any) -> Iterable[Segment]:
        """Segments of something to print."""
        for segment in super().render(*args, **options):
            if segment.control or not CONTROL.search(segment.text):
                yield segment
            else:
                yield Segment(escaped(segment.text), segment.style)
