"""Is the guarantee true? ``surewood certify`` on new rows, ``report`` as a page, ``monitor`` over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from surewood._text import json_text
from surewood.cli import option_values as option
from surewood.cli.app import Text, app, console
from surewood.parallel.progress import display

_CERTIFY_EXAMPLES = """[bold]Examples[/bold]

surewood certify churn customers-of-may.csv

surewood certify churn fresh.parquet --target churned --delta 0.01

surewood certify credit may.csv --claim recall:bad,error_by:region
"""


@app.command(epilog=_CERTIFY_EXAMPLES)
@option.takes(options=option.certify_options)
def certify(
    model: option.SavedModel,
    table: option.LabelledTable,
    target: option.ModelTarget = None,
    *,
    options: dict[str, Any],
    as_json: option.AsJson = False,
) -> None:
    """Certify a model on a labeled table that was not used for training or tuning.

    The model remembers its training rows and recognizes them in the table.
    """
    from surewood.cli.printing import print_certificate, print_notes
    from surewood.workflow.certifying import certify_model

    with display():
        found = certify_model(model, option.one_or_several(table), target, **options)
    if as_json:
        print(found.certificate.to_json())
        return
    out = console()
    out.print(Text(f"{found.model.path} on {found.table}: {found.n_rows:,} rows"))
    out.print()
    print_certificate(out, found.certificate.to_dict())
    print_notes(out, found.notes)


_REPORT_EXAMPLES = """[bold]Examples[/bold]

surewood report churn customers-of-may.csv

surewood report credit may.csv --claim error,recall:bad,error_by:region --out may
"""


@app.command(epilog=_REPORT_EXAMPLES)
@option.takes(options=option.certify_options)
def report(
    model: option.SavedModel,
    table: option.LabelledTable,
    target: option.ModelTarget = None,
    *,
    options: dict[str, Any],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the page.", show_default="that of the model")
    ] = None,
    as_json: option.AsJson = False,
) -> None:
    """Write the page of a model for another labeled table, one not used for training or tuning.

    Writes report.html, report.json and card.md. Rows that are equal to training rows are left out.
    """
    from surewood.cli.printing import grid, print_certificate, print_notes
    from surewood.workflow.reporting import make_report

    with display():
        made = make_report(model, option.one_or_several(table), target, out=out, verbose=1, **options)
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


ALARM = 3  # exit code

_MONITOR_EXAMPLES = """[bold]Examples[/bold]

surewood monitor churn customers-of-june.csv

surewood monitor churn new.csv --target churned --state churn-2026.json --page monitor.html
"""


@app.command(epilog=_MONITOR_EXAMPLES)
def monitor(
    model: option.SavedModel,
    table: Annotated[
        list[str] | None,
        typer.Argument(
            help="A batch of new rows, with labels where they are known; without one, --page shows the past.",
            show_default=False,
        ),
    ] = None,
    target: option.ModelTarget = None,
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
            metavar="[check|count|leave_out]",
            help="Rows that equal a training row: count them, leave them out, or check: as certified.",
        ),
    ] = "check",
    page: Annotated[Path | None, typer.Option(help="An .html page with the evidence over time.")] = None,
    as_json: option.AsJson = False,
) -> None:
    """Look at a batch of new rows: has the error risen, do the rows look different?

    Resumes from the state file, which the first call creates. A batch that was seen before is refused;
    batches must not overlap. You may look after every batch. Exit code 3 on an alarm.
    """
    from surewood.workflow.monitoring import monitor as look_at

    with display():
        found = look_at(
            model,
            option.one_or_several(table) if table else None,
            target,
            state=state,
            limit=limit,
            alpha=alpha,
            copies=copies,
            page=page,
        )
    if as_json:
        print(json_text(found.to_dict(), indent=2))
    else:
        from surewood.cli.printing import grid, print_notes

        out = console()
        out.print(Text(found.verdict, style="bold red" if found.look.alarm else "bold green"))
        facts = grid()
        for name, text in found.facts.items():
            facts.add_row(f"  {name}", text)
        out.print(facts)
        print_notes(out, found.notes)
    if found.look.alarm:
        raise typer.Exit(ALARM)
