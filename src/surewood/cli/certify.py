"""``surewood certify``: the guaranteed error of a saved model, from rows it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surewood.cli import option_values as option
from surewood.cli.app import app, console
from surewood.cli.shown_text import Text
from surewood.parallel.progress import display

_EXAMPLES = """[bold]Examples[/bold]

surewood certify churn customers-of-may.csv

surewood certify churn fresh.parquet --target churned --delta 0.01

surewood certify credit may.csv --claim recall:bad,error-by:region
"""


@app.command(epilog=_EXAMPLES)
def certify(
    model: Annotated[Path, typer.Argument(help=option.MODEL_HELP)],
    table: option.LabelledTable,
    target: option.ModelTarget = None,
    copies: option.Copies = "auto",
    group: option.GroupColumns = None,
    time: option.TimeColumn = None,
    claims: option.Claims = None,
    cost: option.ClaimCosts = None,
    delta: option.Delta = 0.05,
    n_models: option.ComparedModels = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Certify a model on a labelled table that was not used for training or tuning.

    The model remembers its training rows: copies of them are not counted.
    """
    from surewood.cli.summary_text import print_certificate, print_notes
    from surewood.workflow.certifying import certify as certify_table

    options = option.certify_options(claims, cost, copies, group, time, delta, n_models)
    with display():
        found = certify_table(model, table, target, **options)
    if as_json:
        print(found.certificate.to_json())
        return
    out = console()
    out.print(Text(f"{found.model.path} on {found.table}: {found.n_rows:,} rows"))
    out.print()
    print_certificate(out, found.certificate.to_dict())
    print_notes(out, found.notes)
