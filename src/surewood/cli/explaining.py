"""``surewood explain`` and ``surewood importances``: a model, one of its predictions, its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.padding import Padding

from surewood._text import json_text
from surewood.cli import option_values as option
from surewood.cli.app import Text, app, console, shown
from surewood.parallel.progress import display
from surewood.workflow.errors import WorkflowError

if TYPE_CHECKING:
    from surewood.workflow.explaining import ColumnImportances, Explanation
    from surewood.workflow.folders import SavedModel

_EXPLAIN_EXAMPLES = """[bold]Examples[/bold]

surewood explain churn

surewood explain churn new-customers.csv --row 17
"""


@app.command(epilog=_EXPLAIN_EXAMPLES)
def explain(
    model: option.SavedModel,
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
    as_json: option.AsJson = False,
) -> None:
    """Describe a model, or explain one prediction: the columns that matter most, then the path through it."""
    if not table and row is not None:
        raise WorkflowError("--row needs a table.")

    from surewood.workflow.explaining import explain as explain_row
    from surewood.workflow.folders import open_model

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
    from surewood.base.wording import probabilities_text
    from surewood.cli.printing import print_notes

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
    from surewood.cli.printing import grid, print_certificate, print_notes
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


_IMPORTANCES_EXAMPLES = """[bold]Examples[/bold]

surewood importances churn customers-of-may.csv

surewood importances churn fresh.parquet --metric error --repeats 20
"""


@app.command(epilog=_IMPORTANCES_EXAMPLES)
def importances(
    model: option.SavedModel,
    table: Annotated[str, typer.Argument(help="A labeled table; rows used for training are left out.")],
    target: option.ModelTarget = None,
    metric: Annotated[
        str, typer.Option(help="What gets worse when a column is shuffled: log_loss, brier or error.")
    ] = "log_loss",
    repeats: Annotated[int, typer.Option(min=1, help="Shuffles per column.")] = 5,
    max_rows: Annotated[int, typer.Option(min=2, help="Maximum number of rows; more are sampled.")] = 1000,
    as_json: option.AsJson = False,
) -> None:
    """Show which columns matter: how much worse the model predicts when one is shuffled, with intervals."""
    from surewood.workflow.explaining import importances as measure

    with display():
        found = measure(model, table, target, metric=metric, n_repeats=repeats, max_rows=max_rows)
    if as_json:
        print(json_text(_facts(found), indent=2))
    else:
        _print(found)


def _facts(found: ColumnImportances) -> dict[str, object]:
    own = found.importances
    return {
        "table": found.table,
        "rows": found.n_rows,
        "metric": own.metric,
        "baseline": own.baseline,
        "confidence": own.confidence,
        "columns": own.frame().to_dict("records"),
        "notes": list(found.notes),
    }


def _print(found: ColumnImportances) -> None:
    from surewood.base.wording import plural
    from surewood.cli.printing import grid, print_notes

    out, own = console(), found.importances
    words = own.metric.replace("_", "-")
    out.print(Text(f"{found.table}: {plural(found.n_rows, 'row')}, {words} {own.baseline:.4f}"))
    out.print(Text(f"Increase of {words} when a column is shuffled (ESTIMATE)"))
    out.print()
    shown = grid(header=True)
    for title in ("column", "importance", f"{100 * own.confidence:g} % interval"):
        shown.add_column(title, justify="left" if title == "column" else "right")
    for name, mean, low, high in own.frame().itertuples(index=False, name=None):
        shown.add_row(Text(name), f"{mean:.4f}", f"{low:.4f} to {high:.4f}")
    out.print(shown)
    print_notes(out, found.notes)
