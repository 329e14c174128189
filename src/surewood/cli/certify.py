"""``surewood certify``: the guaranteed error of a saved model, from rows it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from surewood.cli.app import app, console
from surewood.cli.option_values import (
    MODEL_HELP,
    ClaimCosts,
    Claims,
    ComparedModels,
    Copies,
    Delta,
    GroupColumns,
    LabelledTable,
    ModelTarget,
    TimeColumn,
)
from surewood.parallel.progress import display

_EXAMPLES = """[bold]Examples[/bold]

surewood certify churn customers-of-may.csv

surewood certify churn fresh.parquet --target churned --delta 0.01

surewood certify credit may.csv --claim recall:bad,error-by:region
"""


@app.command(epilog=_EXAMPLES)
def certify(
    model: Annotated[Path, typer.Argument(help=MODEL_HELP)],
    table: LabelledTable,
    target: ModelTarget = None,
    copies: Copies = "auto",
    group: GroupColumns = None,
    time: TimeColumn = None,
    claims: Claims = None,
    cost: ClaimCosts = None,
    delta: Delta = 0.05,
    n_models: ComparedModels = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Certify a model on a labelled table that was not used for training or tuning.

    The model remembers its training rows: copies of them are not counted.
    """
    from surewood.cli.summary_text import print_certificate, print_notes
    from surewood.workflow.certifying import certify as certify_table
    from surewood.workflow.column_options import names_of

    with display():
        found = certify_table(
            model,
            table,
            target,
            claims=claims or (),
            cost=cost,
            copies=copies,
            groups=names_of(group) or None,
            time=time,
            delta=delta,
            n_models=n_models,
        )
    if as_json:
        print(found.certificate.to_json())
        return
    out = console()
    out.print(Text(f"{found.model.path} on {found.table}: {found.n_rows:,} rows"))
    out.print()
    print_certificate(out, found.certificate.to_dict())
    print_notes(out, found.notes)
