"""The command ``surewood``.

A user's mistake gets one sentence on standard error and exit code 2; ``--debug`` shows the traceback.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table as RichTable

import surewood
from surewood.datasets import DataError, catalogue, where

app = typer.Typer(
    name="surewood",
    help="Tabular classifiers that account for their own complexity.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"surewood {surewood.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Tabular classifiers that account for their own complexity."""


@app.command()
def datasets(
    names: Annotated[
        list[str] | None, typer.Argument(help="Only these data sets.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """List the data sets of the catalogue and where each would come from.

    Example: SUREWOOD_DATA=~/data surewood datasets
    """
    from surewood.datasets import info

    entries = [info(name) for name in names] if names else list(catalogue().values())
    if as_json:
        print(json.dumps([{**asdict(entry), "from": where(entry)} for entry in entries], indent=2))
        return
    table = RichTable(box=None, pad_edge=False, header_style="bold")
    for title, right in (
        ("name", False),
        ("rows", True),
        ("train / test", True),
        ("columns", True),
        ("classes", True),
    ):
        table.add_column(title, justify="right" if right else "left", no_wrap=True)
    table.add_column("comes from", overflow="fold")
    for entry in entries:
        division = f"{entry.train_rows:,} / {entry.test_rows:,}" if entry.train_rows else ""
        table.add_row(
            entry.name, f"{entry.rows:,}", division, str(entry.columns), str(entry.classes), where(entry)
        )
    _console().print(table)


def _console() -> Console:
    """A console that never cuts a table when the output goes to a file or a pipe."""
    return Console() if sys.stdout.isatty() else Console(width=160, no_color=True)


def main() -> None:
    """Run the command; the entry point of the package."""
    try:
        app()
    except DataError as error:
        if "--debug" in sys.argv:
            raise
        print(f"surewood: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
