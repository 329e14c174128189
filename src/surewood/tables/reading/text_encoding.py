"""Bytes of a text file as UTF-8: the encoding found, mixed encodings refused with their line."""

from __future__ import annotations

from surewood.tables.data_error import DataError

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


def as_utf8(raw: bytes, origin: str, encoding: str | None = None) -> tuple[bytes, str]:
    """The same text in UTF-8 without a mark at its start, and the encoding it had.

    UTF-8 and UTF-16 are recognised; what is neither is read as Windows-1252. A text that holds both characters
    of UTF-8 and bytes that UTF-8 does not know was pasted together from two files and is refused.

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
            return (body, name) if name == "utf-8" else (_decoded(body, name, origin).encode(), name)
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if b"\0" in raw[:4096]:
            raise DataError(f"{origin} is not a text file, so it is no CSV table (line 1).") from error
        line = raw.count(b"\n", 0, error.start) + 1
        if _has_utf8_characters(raw[: error.start]):
            raise DataError(
                f"{origin} mixes encodings: it begins as UTF-8, but line {line} does not fit; save it in one "
                "encoding."
            ) from error
        return raw.decode("cp1252", errors="replace").encode(), "cp1252"
    return raw, "utf-8"


def _has_utf8_characters(raw: bytes) -> bool:
    return any(byte >= 0xC2 for byte in raw)


def _decoded(raw: bytes, encoding: str, origin: str) -> str:
    try:
        return raw.decode(encoding)
    except LookupError as error:
        raise DataError(f"there is no encoding {encoding!r}.") from error
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"{origin} is not in {encoding}: line {line} does not fit.") from error
