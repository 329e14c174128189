"""``surewood fit``: from a table to a trained model, a certificate and a page."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

import surewood
from surewood._text import json_text
from surewood.cli.app import app, console
from surewood.cli.option_values import (
    COLUMNS,
    TABLE_HELP,
    AcceptedError,
    Bins,
    Categorical,
    ClusterAddress,
    Copies,
    Costs,
    Dates,
    DecimalMark,
    Delta,
    DropDuplicates,
    Dropped,
    GroupColumns,
    HeaderLine,
    Identifiers,
    LargestFalsePositiveRate,
    LeastPrecision,
    LeastRecall,
    MissingTexts,
    Numeric,
    PlanFile,
    Positive,
    QuantityClasses,
    Rare,
    Sheet,
    TimeColumn,
    column_options,
    one_or_several,
    parse_parameters,
)
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
def fit(
    table: Annotated[list[str], typer.Argument(help=TABLE_HELP)],
    target: Annotated[
        str | None, typer.Option(help="The column to predict; not needed for bundled data sets.")
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            metavar=f"[{'|'.join((*surewood.SHORT_NAMES, 'auto'))}]",
            help="surewood is the mixture of all families; auto picks one family by out-of-fold scores.",
            autocompletion=_names,
        ),
    ] = surewood.DEFAULT_MODEL,
    holdout: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=0.9,
            help="Fraction of rows held out for the certificate; 0: none. Default: 0.2.",
        ),
    ] = None,
    copies: Copies = "check",
    drop_duplicates: DropDuplicates = False,
    group: GroupColumns = None,
    time: TimeColumn = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the model and its page.", show_default="surewood-TABLE")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the model of another table in that folder.")
    ] = False,
    no_page: Annotated[
        bool, typer.Option("--no-page", help="Write the model and its plan only: it saves time.")
    ] = False,
    show_plan: Annotated[
        bool, typer.Option("--plan", help="Print what each column is, and stop.", rich_help_panel=COLUMNS)
    ] = False,
    plan_file: PlanFile = None,
    drop: Dropped = None,
    identifiers: Identifiers = None,
    categorical: Categorical = None,
    numeric: Numeric = None,
    date: Dates = None,
    missing: MissingTexts = None,
    decimal: DecimalMark = None,
    header_line: HeaderLine = None,
    sheet: Sheet = None,
    classes: QuantityClasses = False,
    bins: Bins = None,
    rare: Rare = "drop",
    weight: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    class_weight: Annotated[
        str | None, typer.Option(metavar="[balanced|LABEL=NUMBER,...]", help="Weights of the classes.")
    ] = None,
    positive: Positive = None,
    recall: LeastRecall = None,
    precision: LeastPrecision = None,
    fpr: LargestFalsePositiveRate = None,
    accepted_error: AcceptedError = None,
    cost: Costs = None,
    delta: Delta = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same model.")] = 0,
    n_jobs: Annotated[
        int, typer.Option(help="Threads; -1: all cores. The model does not depend on it.")
    ] = -1,
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
    cluster: ClusterAddress = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Train a model on a table and report its guaranteed error.

    Writes model.surewood, plan.toml, report.html, report.json and card.md into a folder.
    """
    started = perf_counter()
    source = one_or_several(table)
    named = {
        "drop": drop,
        "identifiers": identifiers,
        "categorical": categorical,
        "numeric": numeric,
        "date": date,
        "missing": missing,
    }
    if show_plan:
        from surewood.workflow.fitting import plan_table

        made = plan_table(
            source,
            target,
            holdout=holdout,
            random_state=seed,
            columns=column_options(plan_file, named, decimal),
            rare=rare,
            weight=weight,
            classes=classes,
            bins=bins,
            header_line=header_line,
            sheet=sheet,
        )
        print(made)
        return
    with display():
        with stage(1, "starting", 1):
            # Here, as in every command: help and completion do not wait for what only the work needs.
            from surewood.cli.printing import print_fit
            from surewood.workflow.columns import names_of
            from surewood.workflow.fitting import default_folder
            from surewood.workflow.fitting import fit as fit_table
            from surewood.workflow.training import DecisionRule
        result = fit_table(
            source,
            target,
            model=model,
            holdout=holdout,
            copies=copies,
            drop_duplicates=drop_duplicates,
            groups=names_of(group) or None,
            time=time,
            out=default_folder(source) if out is None else out,
            force=force,
            page=not no_page,
            rule=DecisionRule(positive, precision, fpr, recall, accepted_error, cost),
            delta=delta,
            random_state=seed,
            n_jobs=n_jobs,
            max_rows=max_rows,
            time_limit=time_limit,
            columns=column_options(plan_file, named, decimal),
            rare=rare,
            classes=classes,
            bins=bins,
            header_line=header_line,
            sheet=sheet,
            weight=weight,
            class_weight=class_weight,
            parameters=parse_parameters(changes or []),
            cluster=cluster,
            command=shlex.join(["surewood", *sys.argv[1:]]),
            verbose=1,
        )
    files = {name: str(path) for name, path in result.files.items()}
    if as_json:
        facts = {name: value for name, value in result.facts.items() if name != "holdout_scores"}
        print(json_text({**facts, "files": files}, indent=2))
    else:
        print_fit(console(), result.facts, files, perf_counter() - started)
