"""The command's frame: global options, the console, and how an error ends.

A user's mistake gets one sentence on standard error and exit code 2; ``--debug`` shows the traceback.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

import surewood
from surewood.datasets import DataError

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


def console() -> Console:
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
