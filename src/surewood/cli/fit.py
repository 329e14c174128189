"""``surewood fit``: from a table to a trained model, a certificate and a page."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

import surewood
from surewood._text import json_text
from surewood.cli import option_values as option
from surewood.cli.app import app, console
from surewood.parallel.progress import display, stage

_EXAMPLES = """[bold]Examples[/bold]

surewood fit wine

surewood fit customers.csv --target churned --out churn

surewood fit customers.csv --target churned --id customer --categorical zip --plan

surewood fit visits.csv --target readmitted --group patient

surewood fit credit.csv --target risk --positive bad --recall 0.9

surewood fit big.parquet --target label --model mddf --set n_estimators=50
"""


def _names(incomplete: str) -> list[str]:
    return [name for name in (*surewood.SHORT_NAMES, "auto") if name.startswith(incomplete)]


@app.command(epilog=_EXAMPLES)
@option.takes(rows=option.table_options, requirements=option.decision_options)
def fit(
    table: option.Tables,
    target: option.Target = None,
    model: Annotated[
        str,
        typer.Option(
            metavar=f"[{'|'.join((*surewood.SHORT_NAMES, 'auto'))}]",
            help="surewood is the mixture of all families; auto picks one family by out-of-fold scores.",
            autocompletion=_names,
        ),
    ] = surewood.DEFAULT_MODEL,
    *,
    rows: dict[str, Any],
    copies: option.Copies = "check",
    out: Annotated[
        Path | None, typer.Option(help="Folder for the model and its page.", show_default="surewood-TABLE")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the model of another table in that folder.")
    ] = False,
    no_page: Annotated[
        bool, typer.Option("--no-page", help="Write only the model and its plan, which saves time.")
    ] = False,
    show_plan: Annotated[
        bool,
        typer.Option("--plan", help="Print what each column is, and stop.", rich_help_panel=option.COLUMNS),
    ] = False,
    weight: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    class_weight: Annotated[
        str | None, typer.Option(metavar="[balanced|LABEL=NUMBER,...]", help="Weights of the classes.")
    ] = None,
    requirements: dict[str, Any],
    delta: option.Delta = 0.05,
    n_jobs: option.Threads = -1,
    max_rows: Annotated[
        int | None,
        typer.Option(
            min=10, help="Train on at most this many rows, drawn at random; cascade: 4,000 by default."
        ),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds that the fit may take; not for every model.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any parameter of the estimator; repeatable."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Run on a Dask (tcp://HOST:PORT) or Ray cluster (ray://HOST:PORT, or auto); the same model.",
            show_default=False,
        ),
    ] = None,
    as_json: option.AsJson = False,
) -> None:
    """Train a model on a table and report its guaranteed error.

    Writes model.surewood, plan.toml, report.html, report.json and card.md into a folder.
    """
    started = perf_counter()
    source = option.one_or_several(table)
    if show_plan:
        from surewood.workflow.fitting import plan_table

        print(plan_table(source, target, weight=weight, **rows))
        return
    with display():
        with stage(1, "starting", 1):
            from surewood.cli.printing import print_fit
            from surewood.workflow.deciding import DecisionRule
            from surewood.workflow.fitting import default_folder
            from surewood.workflow.fitting import fit as fit_table
        result = fit_table(
            source,
            target,
            model=model,
            parameters=option.parse_parameters(changes or []),
            copies=copies,
            weight=weight,
            class_weight=class_weight,
            rule=DecisionRule(**requirements),
            delta=delta,
            max_rows=max_rows,
            time_limit=time_limit,
            n_jobs=n_jobs,
            cluster=cluster,
            out=default_folder(source) if out is None else out,
            force=force,
            page=not no_page,
            command=shlex.join(["surewood", *sys.argv[1:]]),
            verbose=1,
            **rows,
        )
    files = {name: str(path) for name, path in result.files.items()}
    if as_json:
        facts = {name: value for name, value in result.facts.items() if name != "holdout_scores"}
        print(json_text({**facts, "files": files}, indent=2))
    else:
        print_fit(console(), result.facts, files, perf_counter() - started)
