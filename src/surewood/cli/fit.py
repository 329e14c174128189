"""``surewood fit``: from a table to a trained model, a certificate and a page."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

import surewood
from surewood.cli.app import app, console
from surewood.cli.option_values import TABLE_HELP, ClusterAddress, parse_memory, parse_parameters
from surewood.parallel.progress import display, stage

_EXAMPLES = """[bold]Examples[/bold]

surewood fit wine

surewood fit customers.csv --target churned --out churn

surewood fit big.parquet --target label --model mddf --set n_estimators=50
"""


def _names(incomplete: str) -> list[str]:
    return [name for name in (*surewood.SHORT_NAMES, "auto") if name.startswith(incomplete)]


@app.command(epilog=_EXAMPLES)
def fit(
    table: Annotated[str, typer.Argument(help=TABLE_HELP)],
    target: Annotated[
        str | None, typer.Option(help="The column to predict; not needed for built-in data sets.")
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
            help="Fraction of rows held out for the certificate; 0: none. "
            "Default: the official test part where there is one, else 0.2.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the model and its page.", show_default="surewood-TABLE")
    ] = None,
    delta: Annotated[
        float, typer.Option(min=1e-9, max=0.5, help="Probability that a guarantee may fail.")
    ] = 0.05,
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
    max_memory: Annotated[str | None, typer.Option(help="Memory of the fit, such as 4GB.")] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any parameter of the estimator; repeatable."),
    ] = None,
    cluster: ClusterAddress = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Train a model on a table and report its guaranteed error.

    Writes model.surewood, report.html and report.json into a folder.
    """
    parameters, memory = parse_parameters(changes or []), parse_memory(max_memory)
    with display():
        with stage(1, "starting", 1):
            # Here, as in every command: help and completion do not wait for what only the work needs.
            from surewood.cli.summary_text import print_fit
            from surewood.workflow.fitting import default_folder
            from surewood.workflow.fitting import fit as fit_table
        result = fit_table(
            table,
            target,
            model=model,
            holdout=holdout,
            out=default_folder(table) if out is None else out,
            delta=delta,
            random_state=seed,
            n_jobs=n_jobs,
            max_rows=max_rows,
            max_memory=memory,
            parameters=parameters,
            cluster=cluster,
            command=shlex.join(["surewood", *sys.argv[1:]]),
            verbose=1,
        )
    files = {name: str(path) for name, path in result.files.items()}
    if as_json:
        print(json.dumps({**result.facts, "files": files}, indent=2, ensure_ascii=False))
    else:
        print_fit(console(), result.facts, files)
