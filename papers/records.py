"""Results: the file that a run appends to, the committed table, and where a number comes from.

``results.jsonl`` has one JSON line per record, appended so that a kill at any moment loses nothing written.
The first line is a header with the settings; every other line is a record (``"kind": "record"``) or a note
that a data set is missing (``"kind": "missing"``). A line counts once its newline is on the disk: what
follows the last newline was torn by a kill or a full disk, and is cut off when the file is opened again.

``results.csv`` has one row per record: what was measured, what was chosen (as JSON), time, memory and commit.
Numbers keep all their digits, so a summary made from it equals the one made from the records.
"""

from __future__ import annotations

import base64
import csv
import errno
import io
import json
import os
import platform
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.protocol import PAPER, PaperError

try:
    import fcntl
except ImportError:  # Windows: nobody is kept from running twice into one folder
    fcntl = None  # type: ignore[assignment]

FORMAT = 1
_FIRST = ("dataset", "repeat", "method")
_LAST = ("chosen", "seeds", "seconds", "shared_seconds", "peak_memory_mb", "profile", "version", "protocol",
         "commit", "grid")  # fmt: skip
_PACKAGES = ("surewood", "numpy", "scipy", "scikit-learn", "pandas", "xgboost-cpu", "xgboost")
_STATUS = Path("/proc/self/status")
#: Paths of the checkout, from its top; records and pages may change while a run goes on.
_RESULTS_DEPEND_ON = (":/src", ":/core", ":/CMakeLists.txt", ":/papers/*.py", ":/papers/*/protocol.toml")


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
            raise PaperError(
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
            raise PaperError(
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
            raise PaperError(
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
            raise PaperError(
                f"line {number} of {path} is not a record; restore the file or give another --out."
            ) from None
        lines.append(line)
    if lines[0]["kind"] != "header" or lines[0].get("format") != FORMAT:
        raise PaperError(f"{path} is not a results file of this version; give another --out.")
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
    raise PaperError(
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


def to_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """The table of records, in the order given."""
    metrics = list(dict.fromkeys(name for record in records for name in record["metrics"]))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_FIRST, *metrics, *_LAST])
    for record in records:
        peak = record.get("peak_memory_bytes")
        values = [record["metrics"].get(name) for name in metrics]
        writer.writerow(
            [
                *(record[name] for name in _FIRST),
                *("" if value is None else repr(value) for value in values),
                json.dumps(record.get("chosen", {}), separators=(",", ":")),
                json.dumps(record.get("seeds", {}), separators=(",", ":")),
                round(float(record["seconds"]), 3),
                round(float(record.get("shared_seconds", 0.0)), 3),
                "" if peak is None else round(peak / 2**20),
                record["profile"],
                record.get("versions", {}).get("surewood", ""),
                record.get("protocol", PAPER),
                record.get("versions", {}).get("commit", ""),
                json.dumps(record["grid"], separators=(",", ":")) if "grid" in record else "",
            ]
        )
    return text.getvalue()


def read_csv(path: Path) -> list[dict[str, Any]]:
    """The records of a table made by :func:`to_csv`."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if rows and not {*_FIRST, *_LAST} <= rows[0].keys():
        raise PaperError(f"{path} is not a table of results.")
    records = []
    for row in rows:
        metrics = [name for name in row if name not in (*_FIRST, *_LAST)]
        peak = row["peak_memory_mb"]
        records.append(
            {
                "dataset": row["dataset"],
                "repeat": int(row["repeat"]),
                "method": row["method"],
                "metrics": {name: json.loads(row[name]) for name in metrics if row[name] != ""},
                "chosen": json.loads(row["chosen"]),
                "seeds": json.loads(row["seeds"]),
                "seconds": float(row["seconds"]),
                "shared_seconds": float(row["shared_seconds"]),
                "peak_memory_bytes": int(peak) * 2**20 if peak else None,
                "profile": row["profile"],
                "protocol": row["protocol"],
                "versions": {"surewood": row["version"], "commit": row["commit"]},
                **({"grid": json.loads(row["grid"])} if row["grid"] else {}),
            }
        )
    return records


def pack(axes: Mapping[str, Sequence[Any]], validation: NDArray[Any], test: NDArray[Any]) -> dict[str, Any]:
    """Error counts of every point of a grid as plain values: named axes, two arrays of that shape.

    A summary can then choose among some of the points without running anything again.

    Examples
    --------
    >>> grid = pack({"r": [1, 2]}, np.array([3, 4]), np.array([5, 6]))
    >>> unpack(grid)[1].tolist()
    [5, 6]
    """
    return {
        "axes": {name: list(values) for name, values in axes.items()},
        "validation": _text(validation),
        "test": _text(test),
    }


def _text(counts: NDArray[Any]) -> str:
    return base64.b64encode(zlib.compress(counts.astype("<u2").tobytes(), 9)).decode()


def unpack(grid: Mapping[str, Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts of validation and of test errors."""
    shape = [len(values) for values in grid["axes"].values()]
    validation, test = (
        np.frombuffer(zlib.decompress(base64.b64decode(grid[part])), "<u2").astype(np.int64).reshape(shape)
        for part in ("validation", "test")
    )
    return validation, test


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that results depend on, and the commit of a checkout."""
    found = {"python": platform.python_version(), "commit": commit()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@cache
def commit() -> str:
    """The commit of the checkout that this code runs from, + where files were changed; else nothing."""
    here = Path(__file__).resolve().parent
    git = ["git", "-C", str(here)]
    try:
        answers = [
            subprocess.run([*git, *words], capture_output=True, text=True, timeout=10, check=True).stdout
            for words in (
                ("ls-files", "--error-unmatch", __file__),  # not the repository of somebody's environment
                ("rev-parse", "--short=12", "HEAD"),
                ("status", "--porcelain", "--untracked-files=no", "--", *_RESULTS_DEPEND_ON),
            )
        ]
    except (OSError, subprocess.SubprocessError):
        return ""
    return answers[1].strip() + ("+" if answers[2].strip() else "")


@cache
def machine() -> str:
    """System, processor type and cores, in a few words."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def forget_peak_memory() -> None:
    """Start measuring the peak anew, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return  # elsewhere the peak is that of the whole process, see `peak_memory`


def peak_memory() -> int | None:
    """Largest resident size in bytes since :func:`forget_peak_memory`; None where it is unknown."""
    try:
        found = re.search(r"^VmHWM:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
        if found:
            return 1024 * int(found[1])
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else 1024 * peak)
