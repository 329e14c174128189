"""Plain text files read block by block: Arrow parses the file while another thread looks at its bytes.

Most files are plain: UTF-8, one line per row, every quote closed on its line. :func:`read_stream` reads such
a file without holding its text in memory, and gives up on any other, which
:func:`~surewood.tables.reading.delimited.read_delimited` then reads as a whole. What it returns is the same.

Arrow gets the file itself, not a Python object around it: its threads may let go of what they read after the
interpreter has begun to end, and Python objects must not be touched then (apache/arrow#34314).
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa

from surewood.tables.reading.delimited import Delimited, as_delimited, parse, scan_text, without_rules
from surewood.tables.reading.file_format import refuse_other_formats
from surewood.tables.reading.layout import HEAD, bytes_needed, find_layout, refuse_duplicates
from surewood.tables.reading.text_encoding import UTF8_MARK

_BLOCK = 1 << 20  # bytes that are read together
_CHUNK = 1 << 17  # bytes that are looked at together: they stay in the cache
_TAIL = 64  # last bytes that are kept: blank lines at the end
_ZIP = b"PK\x03\x04"


def read_stream(
    path: Path, *, separator: str | None = None, as_text: Collection[str] = ()
) -> Delimited | None:
    """Read a plain text file, with columns to leave as text; None where it has to be read as a whole.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "t.csv")
    ...     _ = path.write_bytes(b"a;b\\n1;x\\n2;y\\n")
    ...     plain = read_stream(path)
    ...     _ = path.write_bytes(b'a;b\\n1;"x\\n2"\\n')
    ...     plain.frame["b"].tolist(), read_stream(path)
    (['x', 'y'], None)
    """
    try:
        with open(path, "rb", buffering=0) as file:
            begin, head = _beginning(file)
        return _read(path, begin, head, separator, as_text) if head else None
    except OSError:
        return None


def _beginning(file: io.FileIO) -> tuple[int, bytes]:
    """Bytes of a mark at the start, and the plain bytes after it that tell the layout; empty: not plain."""
    head = file.read(HEAD)
    begin = len(UTF8_MARK) if head.startswith(UTF8_MARK) else 0
    needed = bytes_needed(head[begin:])
    if head.startswith(_ZIP) or not head[begin:].strip() or not needed:
        return 0, b""
    head = head[begin:] + file.read(max(0, begin + needed - len(head)))
    first = PlainText()
    first.look_at(head)
    is_plain = first.is_plain and not scan_text(head)[2] and without_rules(head) is head
    return begin, head if is_plain else b""


def _read(
    path: Path, begin: int, head: bytes, separator: str | None, as_text: Collection[str]
) -> Delimited | None:
    refuse_other_formats(head, str(path))
    layout = find_layout(head, separator, as_text)
    if layout.separator == " " or layout.header_lines > 1:
        return None
    refuse_duplicates(layout.names, str(path))
    start = begin + layout.start
    with ThreadPoolExecutor(1) as thread:
        looking = thread.submit(PlainText.of_file, path, start)
        try:
            source = pa.OSFile(str(path))
            source.seek(start)
            table = parse(source, layout, broken_lines=False)
        except pa.ArrowInvalid:
            return None
    has_a_line_each = looking.result().has_a_line_each(table.num_rows + 1)
    return as_delimited(table, layout, str(path), "utf-8") if has_a_line_each else None


class PlainText:
    """What is known of a text by the bytes that were looked at.

    Attributes
    ----------
    is_plain : bool
        Whether they are UTF-8 whose lines end with ``\\n`` or ``\\r\\n``.
    n_quotes : int
        Quotes in them.

    Examples
    --------
    >>> text = PlainText()
    >>> text.look_at(b'a\\n"1"\\n\\n')
    >>> text.is_plain, text.n_quotes, text.n_lines
    (True, 2, 2)
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._tail = b""
        self._n_ends = 0
        self.is_plain = True
        self.n_quotes = 0

    @classmethod
    def of_file(cls, path: Path, start: int) -> PlainText:
        """A file from one of its bytes on, as far as it is plain."""
        text = cls()
        with open(path, "rb", buffering=0) as file:
            file.seek(start)
            while text.is_plain and (block := file.read(_BLOCK)):
                text.look_at(block)
        return text

    def look_at(self, block: bytes) -> None:
        """The next bytes."""
        self.is_plain = self.is_plain and self._is_plain(block)
        for start in range(0, len(block), _CHUNK):
            marks = np.frombuffer(block, np.uint8, min(_CHUNK, len(block) - start), start)
            self._n_ends += int(np.count_nonzero(marks == ord("\n")))
            self.n_quotes += int(np.count_nonzero(marks == ord('"')))
        self._tail = (self._tail + block[-_TAIL:])[-_TAIL:]

    def _is_plain(self, block: bytes) -> bool:
        try:
            if not block.isascii() or self._decoder.getstate()[0]:
                self._decoder.decode(block)
        except UnicodeDecodeError:
            return False
        if b"\r" not in block and not self._tail.endswith(b"\r"):
            return True
        joined = self._tail[-1:] + block
        return joined.count(b"\r") - joined.endswith(b"\r") == joined.count(b"\r\n")

    def has_a_line_each(self, n_rows: int) -> bool:
        """Whether that number of rows, header included, has one line each and closes its quotes."""
        is_cut = bool(self._decoder.getstate()[0])
        return self.is_plain and not is_cut and self.n_quotes % 2 == 0 and self.n_lines == n_rows

    @property
    def n_lines(self) -> int:
        """Lines that were read, without blank ones at the end."""
        stripped = self._tail.rstrip(b"\r\n")
        n_last = self._tail.count(b"\n", len(stripped))
        return self._n_ends - n_last + bool(stripped)
