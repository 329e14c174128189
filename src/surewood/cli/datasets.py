"""``surewood datasets``: the tables that come with scikit-learn, by the names that other commands accept."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.table import Table as RichTable

from surewood.cli.app import app, console


@app.command()
def datasets(
    names: Annotated[
        list[str] | None, typer.Argument(help="Only these data sets.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the bundled data sets: other commands accept their names instead of a file.

    Example: surewood datasets wine
    """
    from surewood.datasets import BUNDLED, load

    tables = [load(name) for name in names or BUNDLED]
    sizes = [
        {"name": t.name, "rows": len(t.X), "columns": t.X.shape[1], "classes": t.y.nunique()} for t in tables
    ]
    if as_json:
        print(json.dumps(sizes, indent=2))
        return
    shown = RichTable(box=None, pad_edge=False, header_style="bold")
    for title in sizes[0]:
        shown.add_column(title, justify="left" if title == "name" else "right")
    for size in sizes:
        shown.add_row(*(f"{value:,}" if isinstance(value, int) else str(value) for value in size.values()))
    console().print(shown)
