"""A summary as Markdown, HTML and on the terminal, and the files of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from surewood.experiments.results_csv import to_csv
from surewood.report.charts import figure
from surewood.report.rendering import render_template, write_text

VERDICTS = {True: "met", False: "NOT MET", None: "open"}


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


def bar_lines(summary: Mapping[str, Any]) -> list[str]:
    """One line a bar: what was asked, whether it is met, what was found."""
    return [f"* {VERDICTS[bar['met']]}: {bar['bar']}. {bar['found']}" for bar in summary["bars"]]


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
        if table is summary["tables"][0] and summary["bars"]:
            parts.append("\n".join(bar_lines(summary)))
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
    return (
        f"Profile `{summary['profile']}`: {run['records']} records, {run['seconds'] / 60:.1f} minutes of "
        f"work, at most {run['peak_memory_bytes'] / 2**20:.0f} MB, surewood {version}."
    )


def html(summary: Mapping[str, Any]) -> str:
    """The summary as one page that opens offline, in the look of the reports."""
    pictures = [
        figure(entry["title"], entry["data"], entry["layout"], height=entry["height"], caption=entry["note"])
        for entry in summary["figures"]
    ]
    values = {
        "title": summary["title"],
        "charts": bool(pictures),
        "pictures": pictures,
        "summary": summary,
        "sentence": run_sentence(summary),
        "deviations": deviations_table(summary),
        "verdicts": VERDICTS,
    }
    return render_template("paper.html", values, package="surewood.experiments")


def print_summary(summary: Mapping[str, Any], console: Console) -> None:
    """The paper's table and the bars on a terminal."""
    first = summary["tables"][0]
    shown = Table(box=None, pad_edge=False, header_style="bold", title=first["title"], title_justify="left")
    for k, name in enumerate(first["columns"]):
        shown.add_column(name, justify="right" if k else "left")
    for row in first["rows"]:
        shown.add_row(*(str(cell) for cell in row))
    console.print(shown)
    if first.get("note"):
        console.print(first["note"], highlight=False, markup=False)
    for line in bar_lines(summary):
        console.print(line, highlight=False, markup=False)
    for absent in summary["missing"]:
        console.print(f"missing: {absent['dataset']} ({absent['reason']})", highlight=False, markup=False)


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
