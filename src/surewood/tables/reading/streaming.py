"""Plain text files read block by block: Arrow parses one block while the next one is read and looked at.

Most files are plain: UTF-8, one line per row, every quote closed on its line. :func:`read_stream` reads such
a file once, without holding its text in memory, and gives up on any other, which
:func:`~surewood.tables.reading.delimited.read_delimited` then reads as a whole. What it returns is the same.
"""

from __future__ import annotations

import codecs
import io
from pathlib import Path

import numpy as np
import pyarrow as pa

from surewood.tables.reading.delimited import Delimited, as_delimited, parse, scan_text
from surewood.tables.reading.file_format import refuse_other_formats
from surewood.tables.reading.layout import HEAD, bytes_needed, find_layout, refuse_duplicates
from surewood.tables.reading.text_encoding import UTF8_MARK

_CHUNK = 1 << 17  # bytes that are looked at together: they stay in the cache
_TAIL = 64  # last bytes that are kept: blank lines at the end
_ZIP = b"PK\x03\x04"


def read_stream(path: Path, *, separator: str | None = None) -> Delimited | None:
    """Read a plain text file; None where it has to be read as a whole.

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
            return _read(file, str(path), separator)
    except OSError:
        return None


def _read(file: io.FileIO, origin: str, separator: str | None) -> Delimited | None:
    head = file.read(HEAD)
    begin = len(UTF8_MARK) if head.startswith(UTF8_MARK) else 0
    if head.startswith(_ZIP) or not head[begin:].strip():
        return None
    needed = bytes_needed(head[begin:])
    if not needed:
        return None
    head += file.read(max(0, begin + needed - len(head)))
    first = PlainText(io.BytesIO(head[begin:]))
    if not first.read() or not first.is_plain or scan_text(head)[2]:
        return None
    refuse_other_formats(head, origin)
    layout = find_layout(head[begin:], separator)
    if layout.separator == " " or layout.header_lines > 1:
        return None
    refuse_duplicates(layout.names, origin)
    file.seek(begin + layout.start)
    text = PlainText(file)
    try:
        table = parse(text, layout, broken_lines=False)
    except pa.ArrowInvalid:
        return None
    return as_delimited(table, layout, origin, "utf-8") if text.has_a_line_each(table.num_rows + 1) else None


class PlainText(io.RawIOBase):
    """A file that is looked at as it is read; it ends early where it turns out not to be plain.

    Attributes
    ----------
    is_plain : bool
        Whether all that was read is UTF-8 whose lines end with ``\\n`` or ``\\r\\n``.
    n_quotes : int
        Quotes that were read.

    Examples
    --------
    >>> text = PlainText(io.BytesIO(b'a\\n"1"\\n\\n'))
    >>> _ = text.read()
    >>> text.is_plain, text.n_quotes, text.n_lines
    (True, 2, 2)
    """

    def __init__(self, file: io.FileIO | io.BytesIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._tail = b""
        self._n_ends = 0
        self.is_plain = True
        self.n_quotes = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        block = self._file.read(size) if self.is_plain else b""
        self.is_plain = self.is_plain and self._is_plain(block)
        if not self.is_plain:
            return b""
        for start in range(0, len(block), _CHUNK):
            marks = np.frombuffer(block, np.uint8, min(_CHUNK, len(block) - start), start)
            self._n_ends += int(np.count_nonzero(marks == ord("\n")))
            self.n_quotes += int(np.count_nonzero(marks == ord('"')))
        self._tail = (self._tail + block[-_TAIL:])[-_TAIL:]
        return block

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
