"""The results file: one JSON line a record, appended so that a kill at any moment loses nothing written.

The first line is a header with the settings; every other line is a record (``"kind": "record"``) or a
note that a data set is missing (``"kind": "missing"``). A line counts once its newline is on the disk: what
follows the last newline was torn by a kill or a full disk, and is cut off when the file is opened again.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

from surewood.experiments.errors import ExperimentError

try:
    import fcntl
except ImportError:  # Windows: nobody is kept from running twice into one folder
    fcntl = None  # type: ignore[assignment]

FORMAT = 1


class RecordFile:
    """A results file opened for appending.

    Parameters
    ----------
    path : Path
    settings : mapping
        What all records in the file must have in common.
    resume : bool
        Whether a file with records may be continued.

    Attributes
    ----------
    records : list of dict
        What the file holds, oldest first.
    dropped : int
        Bytes of a torn last line that were cut off.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], resume: bool) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        existed = path.exists()
        # Unbuffered: bytes that a full disk refused must not come back at a later flush.
        self._file: FileIO = open(path, "r+b" if existed else "w+b", buffering=0)  # noqa: SIM115
        try:
            self._lock()
            self.records, self.dropped = self._take_over(settings, resume)
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ExperimentError(
                f"another run is writing {self.path}; wait for it or give another --out."
            ) from error

    def _take_over(self, settings: Mapping[str, Any], resume: bool) -> tuple[list[dict[str, Any]], int]:
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if not whole:  # new, or killed before the header was complete
            self._cut(0)
            self._append({"kind": "header", "format": FORMAT, "settings": settings})
            return [], len(content)
        lines = parse_lines(whole, self.path)
        check_settings(lines[0], settings, self.path)
        records = [line for line in lines[1:] if line["kind"] == "record"]
        if records and not resume:
            raise ExperimentError(
                f"{self.path} holds {len(records)} records already; add --resume to go on with it, or give "
                "another --out."
            )
        self._cut(len(whole))
        return records, len(content) - len(whole)

    def _cut(self, length: int) -> None:
        self._file.seek(length)
        self._file.truncate()

    def _append(self, line: Mapping[str, Any]) -> None:
        """Write a line and wait for the disk; a line that does not fit is taken back."""
        text = json.dumps(line, allow_nan=True, separators=(",", ":")).encode() + b"\n"
        start = self._file.seek(0, os.SEEK_END)
        try:
            rest = memoryview(text)
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            self._take_back(start)
            full = error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
            reason = "the disk is full" if full else f"writing failed ({error.strerror})"
            raise ExperimentError(
                f"{reason}: {self.path} keeps what was finished; make room and go on with --resume."
            ) from error

    def _take_back(self, start: int) -> None:
        try:
            os.ftruncate(self._file.fileno(), start)
        except OSError:
            return  # the torn line is cut off when the file is opened again

    def add(self, record: Mapping[str, Any]) -> None:
        """Append one record."""
        line = {"kind": "record", **record}
        self._append(line)
        self.records.append(dict(line))

    def add_missing(self, dataset: str, reason: str) -> None:
        """Note that a data set could not be had."""
        self._append({"kind": "missing", "dataset": dataset, "reason": reason})

    def __enter__(self) -> RecordFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def parse_lines(content: bytes, path: Path) -> list[dict[str, Any]]:
    """The complete lines of a results file."""
    lines = []
    for number, text in enumerate(content.splitlines(), start=1):
        try:
            line = json.loads(text)
            if not isinstance(line, dict) or "kind" not in line:
                raise ValueError
        except ValueError:
            raise ExperimentError(
                f"line {number} of {path} is not a record; restore the file or give another --out."
            ) from None
        lines.append(line)
    if lines[0]["kind"] != "header" or lines[0].get("format") != FORMAT:
        raise ExperimentError(f"{path} is not a results file of this version; give another --out.")
    return lines


def read_records(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Settings and records of a results file, a torn last line left out."""
    content = path.read_bytes()
    lines = parse_lines(content[: content.rfind(b"\n") + 1], path)
    return lines[0]["settings"], [line for line in lines[1:] if line["kind"] == "record"]


def check_settings(header: Mapping[str, Any], settings: Mapping[str, Any], path: Path) -> None:
    """Refuse a file of other settings, and name the first difference."""
    # Through JSON, so that tuples and lists are the same.
    there, here = dict(_flat(header["settings"])), dict(_flat(json.loads(json.dumps(settings))))
    names = [name for name in sorted(there.keys() | here.keys()) if there.get(name) != here.get(name)]
    if not names:
        return
    first = names[0]
    others = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
    raise ExperimentError(
        f"{path} was made with other settings: {first} is {there.get(first, 'absent')} there and "
        f"{here.get(first, 'absent')} here{others}; give another --out."
    )


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Leaves of nested dicts, by dotted name."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, value
