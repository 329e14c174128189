"""``surewood report``: the page of a saved model made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surewood._text import json_text
from surewood.cli import option_values as option
from surewood.cli.app import app, console
from surewood.cli.shown_text import Text
from surewood.parallel.progress import display

_EXAMPLES = """[bold]Examples[/bold]

surewood report churn customers-of-may.csv

surewood report credit may.csv --claim error,recall:bad,error-by:region --out may
"""


@app.command(epilog=_EXAMPLES)
def report(
    model: Annotated[Path, typer.Argument(help=option.MODEL_HELP)],
    table: option.LabelledTable,
    target: option.ModelTarget = None,
    claims: option.Claims = None,
    cost: option.ClaimCosts = None,
    copies: option.Copies = "auto",
    group: option.GroupColumns = None,
    time: option.TimeColumn = None,
    delta: option.Delta = 0.05,
    n_models: option.ComparedModels = 1,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the page.", show_default="that of the model")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write the page of a model for another labelled table, one not used for training or tuning.

    Writes report.html, report.json and card.md. Rows that are equal to training rows are left out.
    """
    from surewood.cli.summary_text import grid, print_certificate, print_notes
    from surewood.workflow.reporting import report as make_report

    options = option.certify_options(claims, cost, copies, group, time, delta, n_models)
    with display():
        made = make_report(model, table, target, out=out, verbose=1, **options)
    if as_json:
        print(json_text(made.summary, indent=2))
        return
    screen = console()
    print_certificate(screen, made.certificate.to_dict())
    print_notes(screen, made.notes)
    screen.print()
    listed = grid()
    for what, path in made.files.items():
        listed.add_row(what, Text(str(path), overflow="fold"))
    screen.print(listed)
