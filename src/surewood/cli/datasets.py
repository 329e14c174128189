"""``surewood datasets``: the catalogue, and where each set would come from."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table as RichTable
from rich.text import Text

from surewood.cli.app import app, console
from surewood.datasets import catalogue, info

_COLUMNS = (("name", "left"), ("rows", "right"), ("train / test", "right"), ("columns", "right"))


@app.command()
def datasets(
    names: Annotated[
        list[str] | None, typer.Argument(help="Only these data sets.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the built-in data sets and where each would come from.

    Example: SUREWOOD_DATA=~/data surewood datasets
    """
    from surewood.datasets import where

    entries = [info(name) for name in names] if names else list(catalogue().values())
    if as_json:
        print(json.dumps([{**asdict(entry), "from": where(entry)} for entry in entries], indent=2))
        return
    table = RichTable(box=None, pad_edge=False, header_style="bold")
    for title, side in (*_COLUMNS, ("classes", "right")):
        table.add_column(title, justify=side, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("comes from", overflow="fold")
    by_hand: dict[str, list[str]] = {}  # too long for a column
    for entry in entries:
        source, _, how = where(entry).partition(": ")
        if how:
            by_hand.setdefault(how, []).append(entry.name)
        division = f"{entry.train_rows:,} / {entry.test_rows:,}" if entry.train_rows else ""
        table.add_row(entry.name, f"{entry.rows:,}", division, str(entry.columns), str(entry.classes), source)
    out = console()
    out.print(table)
    if by_hand:
        out.print()
    for how, which in by_hand.items():
        out.print(Text(f"{', '.join(which)}: {how}"))
