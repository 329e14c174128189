"""``surewood monitor``: is the guarantee of a saved model still true?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surewood._text import json_text
from surewood.cli.app import app, console
from surewood.cli.option_values import MODEL_HELP
from surewood.cli.shown_text import Text
from surewood.parallel.progress import display

ALARM = 3  # exit code

_EXAMPLES = """[bold]Examples[/bold]

surewood monitor churn customers-of-june.csv

surewood monitor churn new.csv --target churned --state churn-2026.json --page monitor.html
"""


@app.command(epilog=_EXAMPLES)
def monitor(
    model: Annotated[Path, typer.Argument(help=MODEL_HELP)],
    table: Annotated[
        list[str], typer.Argument(help="A batch of new rows, with labels where they are known.")
    ],
    target: Annotated[
        str | None, typer.Option(help="The column with the classes; the model's own by default.")
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="The state file.", show_default="monitor.json beside the model")
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option(min=1e-6, max=0.999, help="Error to watch; the guaranteed one by default."),
    ] = None,
    alpha: Annotated[
        float, typer.Option(min=1e-9, max=0.5, help="Probability of a false alarm, for each alarm.")
    ] = 0.05,
    copies: Annotated[
        str,
        typer.Option(
            metavar="[auto|natural|exclude]",
            help="exclude: a row that was seen before does not count again; natural: equal rows are "
            "different rows; auto: natural where every column is discrete.",
        ),
    ] = "auto",
    page: Annotated[Path | None, typer.Option(help="An .html page with the path of the evidence.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look at a batch of new rows: has the error risen, do the rows look different?

    Goes on from the state file, which it creates. A batch that was seen before is refused, and rows of
    earlier batches are not counted again. You may look after every batch. Exit code 3 on an alarm.
    """
    from surewood.workflow.monitoring import monitor as look_at

    with display():
        source = table[0] if len(table) == 1 else table
        found = look_at(
            model, source, target, state=state, limit=limit, alpha=alpha, copies=copies, page=page
        )
    if as_json:
        print(json_text(found.to_dict(), indent=2))
    else:
        from surewood.cli.summary_text import grid, print_notes
        from surewood.estimators.wording import percent

        out, look = console(), found.look
        out.print(Text(found.verdict, style="bold red" if look.alarm else "bold green"))
        facts = grid()
        if found.limit is not None:
            name = "  guaranteed error" if found.guaranteed else "  limit of the error"
            facts.add_row(name, f"at most {percent(found.limit)}")
        if look.n_labelled:
            observed = percent(look.n_errors / look.n_labelled)
            between = f"{percent(look.lower)} to {percent(look.upper)}"
            facts.add_row("  error so far", f"{observed} of {look.n_labelled:,} rows; limits {between}")
            facts.add_row(
                "  evidence of more errors", f"{look.error_evidence:.3g} (alarm at {1 / look.alpha:g})"
            )
        if look.n_scored:
            rows = f"{look.shift_evidence:.3g} (alarm at {1 / look.alpha:g}), {look.n_scored:,} rows"
            facts.add_row("  evidence of a shift", rows)
        out.print(facts)
        print_notes(out, found.notes)
    if found.look.alarm:
        raise typer.Exit(ALARM)
