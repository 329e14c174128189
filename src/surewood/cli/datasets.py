"""``surewood datasets``: the catalogue and where each set would come from; ``get`` fetches sets."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table as RichTable
from typer.core import TyperGroup

from surewood.cli.app import app, console
from surewood.cli.shown_text import Text, shown
from surewood.datasets import DataError, catalogue, info

_COLUMNS = (("name", "left"), ("rows", "right"), ("train / test", "right"), ("columns", "right"))
_LIST = "list"


class _ListsByDefault(TyperGroup):
    """``surewood datasets wine`` is short for ``surewood datasets list wine``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = [_LIST, *args]
        return super().parse_args(ctx, args)


datasets_app = typer.Typer(
    cls=_ListsByDefault, help="List the built-in data sets, or get them from their published files."
)
app.add_typer(datasets_app, name="datasets")


@datasets_app.command(_LIST)
def list_datasets(
    names: Annotated[
        list[str] | None, typer.Argument(help="Only these data sets.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the built-in data sets and where each would come from; the word list may be left out.

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
    by_hand: dict[str, str] = {}  # too long for a column
    for entry in entries:
        source, _, how = where(entry).partition(": ")
        if how:
            by_hand[entry.name] = how
        division = f"{entry.train_rows:,} / {entry.test_rows:,}" if entry.train_rows else ""
        table.add_row(entry.name, f"{entry.rows:,}", division, str(entry.columns), str(entry.classes), source)
    out = console()
    out.print(table)
    if by_hand:
        out.print()
    for name, how in by_hand.items():
        out.print(Text(f"{name}: {how}"), soft_wrap=True)


@datasets_app.command("get")
def get_datasets(
    names: Annotated[list[str], typer.Argument(help="Data sets.", show_default=False)],
    folder: Annotated[
        Path | None,
        typer.Option("--from", help="Folder with the published files, instead of a download.", metavar="DIR"),
    ] = None,
) -> None:
    """Make data sets from their published files, check them, and keep them in the cache.

    Example: surewood datasets get vowel dna
    """
    from surewood.datasets.getting import at_hand, get

    failed = False
    for entry in [info(name) for name in names]:
        if folder is None and (here := at_hand(entry)) is not None:
            print(f"{entry.name}: already available ({here})")
            continue
        try:
            path = get(entry, folder, lambda address: print(f"downloading {address}", file=sys.stderr))
        except (DataError, OSError) as error:
            if "--debug" in sys.argv:
                raise
            failed = True
            print(f"surewood: {shown(str(error))}", file=sys.stderr)
        else:
            print(f"{entry.name}: {path}")
    if failed:
        raise typer.Exit(1)
