"""``results.csv``: the records of a results file as a small table, and back.

One row a record: what was measured, what was chosen (as JSON), time, memory and version. Numbers keep all
their digits, so a summary made from the table equals the one made from the records.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from surewood.experiments.errors import ExperimentError
from surewood.experiments.protocol import PAPER

_FIRST = ("dataset", "repeat", "method")
_LAST = ("chosen", "seeds", "seconds", "shared_seconds", "peak_memory_mb", "profile", "version")
#: columns that older tables do not have, and what holds for them
_ADDED = {"protocol": PAPER, "commit": ""}


def to_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """The table of records, in the order given."""
    metrics = list(dict.fromkeys(name for record in records for name in record["metrics"]))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_FIRST, *metrics, *_LAST, *_ADDED, "grid"])
    for record in records:
        peak = record.get("peak_memory_bytes")
        writer.writerow(
            [
                *(record[name] for name in _FIRST),
                *(_written(record["metrics"].get(name)) for name in metrics),
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


def _written(value: Any) -> str:
    return "" if value is None else repr(value)


def read_csv(path: Path) -> list[dict[str, Any]]:
    """The records of a table made by :func:`to_csv`."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if rows and not {*_FIRST, *_LAST} <= rows[0].keys():
        raise ExperimentError(f"{path} is not a table of results.")
    records = []
    for row in rows:
        metrics = [name for name in row if name not in (*_FIRST, *_LAST, *_ADDED, "grid")]
        added = {name: row.get(name, default) for name, default in _ADDED.items()}
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
                "protocol": added["protocol"],
                "versions": {"surewood": row["version"], "commit": added["commit"]},
                **({"grid": json.loads(row["grid"])} if row.get("grid") else {}),
            }
        )
    return records
