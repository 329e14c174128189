"""Bytes of a text file as UTF-8: the encoding found, mixed encodings refused with their line."""

from __future__ import annotations

from surewood.tables.data_error import DataError

UTF8_MARK = b"\xef\xbb\xbf"
_MARKS = (
    (UTF8_MARK, "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


def as_utf8(raw: bytes, origin: str, encoding: str | None = None) -> tuple[bytes, str]:
    """The same text in UTF-8 without a mark at its start, and the encoding it had.

    UTF-8 and UTF-16 are recognised; what is neither is read as Windows-1252. A text some of whose lines are
    UTF-8 beyond ASCII and others are not was pasted together from two files and is refused.

    Examples
    --------
    >>> as_utf8("größe".encode("cp1252"), "x.csv")
    (b'gr\\xc3\\xb6\\xc3\\x9fe', 'cp1252')
    """
    if encoding is not None:
        return _decoded(raw, encoding, origin).encode(), encoding
    for mark, name in _MARKS:
        if raw.startswith(mark):
            body = raw[len(mark) :]
            if name != "utf-8":
                return _decoded(body, name, origin).encode(), name
            raw = body
            break
    if raw.isascii():
        return raw, "utf-8"
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if b"\0" in raw[:4096]:
            raise DataError(f"{origin} is not a text file, so it is no CSV table (line 1).") from error
        line = _line_of_other_encoding(raw)
        if line:
            raise DataError(
                f"{origin} mixes encodings: from line {line} on it is not what it was before; save it in one "
                "encoding, such as UTF-8."
            ) from error
        return raw.decode("cp1252", errors="replace").encode(), "cp1252"
    return raw, "utf-8"


def _line_of_other_encoding(raw: bytes) -> int:
    """The first line beyond ASCII that is UTF-8 where an earlier one is not, or the reverse; 0: none."""
    first: bool | None = None
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if line.isascii():
            continue
        try:
            line.decode("utf-8")
            is_utf8 = True
        except UnicodeDecodeError:
            is_utf8 = False
        if first is None:
            first = is_utf8
        elif first != is_utf8:
            return number
    return 0


def _decoded(raw: bytes, encoding: str, origin: str) -> str:
    try:
        return raw.decode(encoding)
    except LookupError as error:
        raise DataError(f"there is no encoding {encoding!r}.") from error
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"{origin} is not in {encoding}: line {line} does not fit.") from error
