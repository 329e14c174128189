"""``surewood explain``: a model as a whole, or one of its predictions, in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.padding import Padding

from surewood._text import json_text
from surewood.cli.app import app, console
from surewood.cli.option_values import MODEL_HELP
from surewood.cli.shown_text import Text, shown
from surewood.workflow.errors import WorkflowError

if TYPE_CHECKING:
    from surewood.workflow.explaining import Explanation
    from surewood.workflow.model_folder import SavedModel

_EXAMPLES = """[bold]Examples[/bold]

surewood explain churn

surewood explain churn new-customers.csv --row 17
"""


@app.command(epilog=_EXAMPLES)
def explain(
    model: Annotated[Path, typer.Argument(help=MODEL_HELP)],
    table: Annotated[
        list[str] | None,
        typer.Argument(help="A table, or several files of one, to explain a row.", show_default=False),
    ] = None,
    row: Annotated[
        str | None,
        typer.Option(
            help="Which row, by its line in the file (Parquet: from 1); of several files FILE:LINE.",
            show_default="the first",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Describe a model, or explain one prediction: the columns that matter most, then the path through it."""
    if not table and row is not None:
        raise WorkflowError("--row needs a table.")

    from surewood.workflow.explaining import explain as explain_row
    from surewood.workflow.model_folder import open_model

    saved = open_model(model)
    if not table:
        _print_overview(saved, as_json)
        return
    found = explain_row(saved, table[0] if len(table) == 1 else table, row)
    if as_json:
        answer = {**({"file": found.file} if found.file else {}), found.unit: found.row, **found.details}
        print(json_text(answer, indent=2, default=str))
    else:
        _print_row(found, found.file or table[0])


def _print_row(found: Explanation, table: str) -> None:
    from surewood.cli.summary_text import print_notes
    from surewood.estimators.wording import probabilities_text

    out = console()
    name = f" ({found.name})" if found.name else ""
    out.print(Text(shown(f"{found.unit.capitalize()} {found.row} of {table}{name}"), style="bold"))
    first = [f"probabilities  {probabilities_text(found.probabilities)}"] if found.probabilities else []
    parts = [(f"Prediction: {found.prediction}", first)]
    parts += [(step.title, list(step.lines)) for step in found.steps]
    for title, lines in parts:
        out.print()
        out.print(Text(shown(title), style="bold"))
        for line in lines:
            out.print(Padding(Text(shown(line)), (0, 0, 0, 2), expand=False))
    print_notes(out, found.notes)


def _print_overview(saved: SavedModel, as_json: bool) -> None:
    from surewood.cli.summary_text import grid, print_certificate, print_notes
    from surewood.workflow.explaining import describe

    about = describe(saved)
    if as_json:
        print(json_text({"overview": about, "facts": dict(saved.facts)}, indent=2))
        return
    out = console()
    table = grid()
    for name, text in about.items():
        table.add_row(Text(shown(name), style="bold"), Text(shown(text)))
    out.print(table)
    if saved.facts.get("certificate"):
        out.print()
        print_certificate(out, saved.facts["certificate"])
    print_notes(out, saved.facts.get("notes", []))
