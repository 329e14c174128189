"""``surewood importances``: which columns matter to a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surewood._text import json_text
from surewood.cli.app import app, console
from surewood.cli.option_values import MODEL_HELP
from surewood.cli.shown_text import Text
from surewood.parallel.progress import display

if TYPE_CHECKING:
    from surewood.workflow.column_importances import ColumnImportances

_EXAMPLES = """[bold]Examples[/bold]

surewood importances churn customers-of-may.csv

surewood importances churn fresh.parquet --metric error --repeats 20
"""


@app.command(epilog=_EXAMPLES)
def importances(
    model: Annotated[Path, typer.Argument(help=MODEL_HELP)],
    table: Annotated[str, typer.Argument(help="A labelled table; rows used for training are left out.")],
    target: Annotated[
        str | None, typer.Option(help="The column with the classes; the model's own by default.")
    ] = None,
    metric: Annotated[
        str, typer.Option(help="What gets worse when a column is shuffled: log_loss, brier or error.")
    ] = "log_loss",
    repeats: Annotated[int, typer.Option(min=1, help="Shuffles per column.")] = 5,
    max_rows: Annotated[int, typer.Option(min=2, help="Most rows; more are sampled.")] = 1000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which columns matter: how much worse the model predicts when one is shuffled, with intervals."""
    from surewood.workflow.column_importances import importances as measure

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
    from surewood.cli.summary_text import grid, print_notes
    from surewood.estimators.wording import plural

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
