"""A paper's summary completed with what every page shows, as Markdown, HTML and on the terminal.

What differs from a paper is read from ``decisions.toml``: an entry says what a paper leaves open or gets
wrong, and what is done here. Where the protocol has a switch for it (``key``), the sentence of the value in
force is taken; sizes that a profile reduces are listed by themselves.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from papers.protocol import OFFICIAL, PAPER, Paper, PaperError, Profile, chosen_sets
from papers.records import to_csv
from surewood.report.page import render_template, write_text


def complete_summary(
    paper: Paper,
    profile: Profile,
    records: Sequence[dict[str, Any]],
    missing: Mapping[str, str] | None = None,
    sets: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Everything that Markdown, HTML and JSON show, as plain values.

    Parameters
    ----------
    paper : Paper
    profile : Profile
    records : sequence of dict
        From a results file or from ``results.csv``.
    missing : mapping, optional
        Why a data set could not be had; sets without a record are missing in any case.
    sets : sequence of str, optional
        Only these data sets are shown; all by default.
    """
    shown = chosen_sets(paper, sets, profile)
    records = [
        record
        for record in records
        if record["dataset"] in shown and record.get("protocol", PAPER) == profile.protocol_name
    ]
    have = {record["dataset"] for record in records}
    reasons = missing or {}
    summary: dict[str, Any] = {
        "paper": paper.name,
        "title": paper.title
        + (", official division" if profile.division == OFFICIAL else "")
        + (f", {profile.readings}" if str(profile.readings) else ""),
        "profile": profile.name,
        "protocol": profile.protocol_name,
        "sizes": dict(profile.sizes),
        "counts": [],
        "deviations": [],
        "notes": [],
        "figures": [],
        **paper.summarise(records, profile, shown),
        "missing": [
            {"dataset": name, "reason": reasons.get(name, "not run")} for name in shown if name not in have
        ],
        "run": _run_facts(records),
    }
    return summary


def _run_facts(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    peaks = [record.get("peak_memory_bytes") or 0 for record in records]
    shared: dict[tuple[str, int], float] = {}  # a unit's methods share it; another unit may share nothing
    for r in records:
        key = (r["dataset"], r["repeat"])
        shared[key] = max(shared.get(key, 0.0), float(r.get("shared_seconds", 0.0)))
    versions = {
        tuple(sorted((name, v) for name, v in record.get("versions", {}).items() if name != "commit"))
        for record in records
    }
    return {
        "records": len(records),
        "seconds": round(sum(float(record["seconds"]) for record in records) + sum(shared.values()), 1),
        "peak_memory_bytes": max(peaks, default=0),
        "versions": [dict(items) for items in sorted(versions)],
        "commits": sorted({v for r in records if (v := r.get("versions", {}).get("commit"))}),
        "machines": sorted({record["machine"] for record in records if "machine" in record}),
    }


def deviations(paper: str, profile: Profile, full: Profile) -> list[dict[str, str]]:
    """Rows ``{"subject", "paper", "here"}`` of a paper under a profile; `full` has the published sizes."""
    text = Path(__file__).with_name("decisions.toml").read_text(encoding="utf-8")
    rows = [
        {
            "subject": f"{entry['subject']} [{entry['id']}]" if "id" in entry else entry["subject"],
            "paper": entry["paper"],
            "here": _in_force(entry, profile),
        }
        for entry in tomllib.loads(text)["decision"]
        if paper in entry["papers"]
    ]
    return rows + _reduced(profile, full)


def _in_force(entry: Mapping[str, Any], profile: Profile) -> str:
    if "key" not in entry:
        return str(entry["here"])
    value = str(profile.get(entry["key"]))
    if value not in entry["values"]:
        known = ", ".join(entry["values"])
        raise PaperError(f"{entry['key']} must be one of {known}, got {value!r}; see protocol.toml.")
    return str(entry["values"][value])


def _reduced(profile: Profile, full: Profile) -> list[dict[str, str]]:
    """Sizes that are not the published ones."""
    rows = []
    for name, size in profile.sizes.items():
        if name == "sets":
            for dataset, own in size.items():
                words = ", ".join(f"{key} {_listed(value)}" for key, value in own.items())
                rows.append({"subject": f"sizes on {dataset}", "paper": "as on all sets", "here": words})
        elif size != full.sizes.get(name):
            published = _listed(full.sizes.get(name, "–"))
            rows.append({"subject": f"size: {name}", "paper": published, "here": _listed(size)})
    return rows


def _listed(value: Any) -> str:
    return ", ".join(str(v) for v in value) if isinstance(value, list) else str(value)


def markdown_table(table: Mapping[str, Any]) -> str:
    """One table of a summary as Markdown.

    Examples
    --------
    >>> print(markdown_table({"columns": ["set", "error"], "rows": [["iris", 4.0]]}))
    | set | error |
    |---|---|
    | iris | 4.0 |
    """
    lines = [_row(table["columns"]), "|" + "---|" * len(table["columns"])]
    return "\n".join(lines + [_row(row) for row in table["rows"]])


def _row(cells: Sequence[Any]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def deviations_table(summary: Mapping[str, Any]) -> dict[str, Any]:
    """What differs from the paper, as a table."""
    rows = [[d["subject"], d["paper"], d["here"]] for d in summary["deviations"]]
    return {"columns": ["subject", "the paper", "here"], "rows": rows}


def markdown(summary: Mapping[str, Any]) -> str:
    """The whole summary as a Markdown page."""
    parts = [f"# {summary['title']}", run_sentence(summary)]
    for table in summary["tables"]:
        parts += [f"## {table['title']}", markdown_table(table)]
        if table.get("note"):
            parts.append(table["note"])
        if table is summary["tables"][0] and summary["counts"]:
            parts.append("\n".join(f"* {line}" for line in summary["counts"]))
    if summary["missing"]:
        parts += ["## Missing", "\n".join(f"* {m['dataset']}: {m['reason']}" for m in summary["missing"])]
    if summary["notes"]:
        parts += ["## Notes", "\n".join(f"* {note}" for note in summary["notes"])]
    if summary["deviations"]:
        parts += ["## What differs from the paper", markdown_table(deviations_table(summary))]
    return "\n\n".join(parts) + "\n"


def run_sentence(summary: Mapping[str, Any]) -> str:
    """Profile, records, time and versions in one sentence."""
    run = summary["run"]
    version = ", ".join(sorted({v.get("surewood", "?") for v in run["versions"]}))
    made = f" (commit {', '.join(run['commits'])})" if run["commits"] else " (commit not recorded)"
    second = "" if summary["protocol"] == PAPER else f", protocol `{summary['protocol']}`"
    name = f"Profile `{summary['profile']}`{second}"
    return (
        f"{name}: {run['records']} records, {run['seconds'] / 60:.1f} minutes of work,"
        f" at most {run['peak_memory_bytes'] / 2**20:.0f} MB, surewood {version}{made}."
    )


def html(summary: Mapping[str, Any]) -> str:
    """The summary as one page that opens offline, in the look of the reports."""
    values = {
        "title": summary["title"],
        "pictures": summary["figures"],
        "summary": summary,
        "sentence": run_sentence(summary),
        "deviations": deviations_table(summary),
    }
    return render_template("paper.html", values, package="papers")


def print_summary(summary: Mapping[str, Any], console: Console) -> None:
    """The paper's table and the counts on a terminal."""
    first = summary["tables"][0]
    rows = [[str(cell) for cell in row] for row in first["rows"]]
    shown = Table(box=None, pad_edge=False, header_style="bold", title=first["title"], title_justify="left")
    widths = _widths(first["columns"], rows, console.width)
    for name, width in zip(first["columns"], widths or []):
        shown.add_column(name, justify="right" if shown.columns else "left", width=width)
    if widths is not None:
        for row in rows:
            shown.add_row(*row)
        console.print(shown)
    else:
        _print_lists(first, rows, console)
    if first.get("note"):
        console.print(first["note"], highlight=False, markup=False)
    for line in summary["counts"]:
        console.print(f"* {line}", highlight=False, markup=False)
    for absent in summary["missing"]:
        console.print(f"missing: {absent['dataset']} ({absent['reason']})", highlight=False, markup=False)


def _widths(titles: Sequence[str], rows: Sequence[Sequence[str]], most: int) -> list[int] | None:
    """Widths of columns that break lines between words only; None where there is no room for that.

    Examples
    --------
    >>> _widths(["data set", "error"], [["wine", "0.1 / 0.2"]], 40), _widths(["set"], [["wine"]], 3)
    ([8, 9], None)
    >>> _widths(["a long title", "leaves"], [["wine", "1 1 1 1 1"]], 22)
    [9, 9]
    """
    texts = [[title, *(row[k] for row in rows)] for k, title in enumerate(titles)]
    widths = [max(len(word) for text in column for word in text.split()) for column in texts]
    spare = most - sum(widths) - 2 * len(widths)
    if spare < 0:
        return None
    for first in (1, 0):  # cells before titles: a title reads well in two lines, a cell does not
        for k, column in enumerate(texts):
            more = min(spare, max(map(len, column[first:]), default=0) - widths[k])
            if more > 0:
                widths[k], spare = widths[k] + more, spare - more
    return widths


def _print_lists(table: Mapping[str, Any], rows: Sequence[Sequence[str]], console: Console) -> None:
    """A table too wide for the terminal: a list of its cells under the name of each row.

    Sets that are missing are named below the table anyway.
    """
    console.print(table["title"], style="italic", highlight=False, markup=False)
    for name, *cells in rows:
        if "missing" in cells:
            continue
        console.print()
        console.print(name, style="bold", highlight=False, markup=False)
        listed = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        for title, cell in zip(table["columns"][1:], cells):
            listed.add_row(f"  {title}", cell)
        console.print(listed)
    console.print()


def write_outputs(
    summary: Mapping[str, Any], records: Sequence[Mapping[str, Any]], folder: Path
) -> dict[str, Path]:
    """``results.csv``, ``summary.json``, ``table.md`` and ``table.html`` of a run; never half a file."""
    content = {
        "csv": ("results.csv", to_csv(records)),
        "json": ("summary.json", json.dumps(summary, indent=2)),
        "markdown": ("table.md", markdown(summary)),
        "html": ("table.html", html(summary)),
    }
    for name, text in content.values():
        write_text(text, folder / name)
    return {kind: folder / name for kind, (name, _) in content.items()}
