"""``surewood compare``: our families and the usual classifiers, on the same folds."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer
from rich.padding import Padding
from rich.table import Table

from surewood._text import json_text
from surewood.cli import option_values as option
from surewood.cli.app import Text, app, console
from surewood.parallel.progress import display

_EXAMPLES = """[bold]Examples[/bold]

surewood compare wine

surewood compare customers.csv --target churned --repeats 3 -o churn.html
"""


# Not a docstring: the lines of one would stay lines, however narrow the terminal.
_HELP = (
    "Compare surewood's classifiers with those of other libraries on the same folds.\n\n"
    "These are logistic regression, random forest, histogram boosting, XGBoost, LightGBM and CatBoost where "
    "installed, the majority-class baseline, and cascade and ebm if named. "
    "Every classifier has its default settings and is trained on the same folds, cut from the rows that "
    "`surewood fit` with the same options trains on. Our families are tested "
    "against the best of the others (paired t-test over folds, corrected for overlapping training parts and "
    "for the number of families)."
)


@app.command(help=_HELP, epilog=_EXAMPLES)
@option.takes(rows=option.table_options)
def compare(
    table: option.Tables,
    target: option.Target = None,
    folds: Annotated[int, typer.Option(min=2, max=20, help="Stratified folds.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, max=50, help="Number of repeats with new folds.")] = 1,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Only these: surewood, rcf, mddf, cascade, rf, hgb, xgboost, lightgbm, catboost, ebm, "
            "logreg, majority; cascade and ebm, which are slow, only if named.",
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            metavar="[error|auc|log_loss]", help="Metric that picks the best baseline and is tested."
        ),
    ] = "error",
    max_rows: Annotated[
        int, typer.Option(min=20, help="Compare on at most this many rows, drawn at random.")
    ] = 3000,
    time_limit: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds after which no further classifier is started.")
    ] = None,
    *,
    rows: dict[str, Any],
    certify: Annotated[
        bool,
        typer.Option(
            "--certify",
            help="Hold out a fifth of the rows; guarantee which of the best two errs less often on new rows.",
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A page (.html) or a picture (.png) of the result.")
    ] = None,
    n_jobs: option.Threads = -1,
    as_json: option.AsJson = False,
) -> None:
    """See `_HELP`."""
    from surewood.report.words import seconds
    from surewood.workflow.columns import names_of
    from surewood.workflow.comparing import compare as compare_on

    started = perf_counter()

    with display():
        found = compare_on(
            option.one_or_several(table),
            target,
            folds=folds,
            repeats=repeats,
            only=names_of(only) or None,
            metric=metric,
            max_rows=max_rows,
            time_limit=time_limit,
            certify=certify,
            out=out,
            n_jobs=n_jobs,
            verbose=1,
            **rows,
        )
    result = found.to_dict()
    if as_json:
        print(json_text(result, indent=2))
        return
    _print(result)
    if out is not None:
        console().print(Text(f"\nwritten to {out}"))
    console().print(Text(f"\ntotal time {seconds(perf_counter() - started)}", style="dim"))


def _print(result: dict[str, Any]) -> None:
    from surewood.cli.printing import print_certificate, print_notes

    out = console()
    times = f", {result['repeats']} times" if result["repeats"] > 1 else ""
    size = f"{result['rows']:,} rows, {result['columns']} columns, {result['classes']} classes"
    out.print(Text(f"{result['table']}: {size}, {result['folds']} folds{times}"))
    out.print()
    table = _scores(result, short=False)
    narrow = out.measure(table, options=out.options.update_width(1000)).maximum > out.width
    out.print(Padding(_scores(result, short=True) if narrow else table, (0, 0, 0, 0), expand=False))
    out.print()
    words = "error, AUC and log-loss: means over folds; fit: seconds per fold; predict: for 1,000 rows"
    if result["best_baseline"] is not None:
        words += "; in brackets: difference in error, points, and p of a corrected paired t-test"
    out.print(Text(f"{words}.", style="dim"))
    if narrow:
        if result["best_baseline"] is not None:
            told = "vs. best baseline: points of error; unclear: no difference shown."
            out.print(Text(told, style="dim"))
        names = "; ".join(f"{row['name']}: {row['title']}" for row in result["results"])
        out.print(Text(f"{names}.", style="dim"))
    if result.get("certificate") is not None:
        out.print()
        print_certificate(out, result["certificate"])
    print_notes(out, result["notes"])


def _scores(result: dict[str, Any], short: bool) -> Table:
    """One row per classifier; short names and verdicts for narrow terminals."""
    from surewood.base.wording import percent
    from surewood.cli.printing import grid
    from surewood.report.words import seconds

    table = grid(header=True)
    for title in ("classifier", "error", "AUC", "log-loss", "fit", "predict")[: 5 if short else 6]:
        table.add_column(title, justify="left" if title == "classifier" else "right", no_wrap=True)
    tested = result["best_baseline"] is not None
    if tested:
        table.add_column("vs. best baseline")
    smallest = min(row["error"] for row in result["results"])
    for row in result["results"]:
        cells = [
            row["name"] if short else row["title"],
            percent(row["error"]),
            "" if row.get("auc") is None else f"{row['auc']:.3f}",
            f"{row['log_loss']:.3f}",
            seconds(row["fit_seconds"]),
            f"{1000 * row['predict_seconds_per_1000_rows']:.0f} ms",
        ]
        if short:
            cells.pop()
        against = [_against(row, result["best_baseline"], short)] if tested else []
        style = ("green" if row["ours"] else "") + (" bold" if row["error"] == smallest else "")
        table.add_row(*cells, *against, style=style.strip())
    return table


def _against(row: dict[str, Any], best: str, short: bool) -> str:
    if row["name"] == best:
        return "best baseline"
    if row["p_value"] is None:
        return ""
    verdict = "unclear" if short and row["verdict"] == "no difference shown" else row["verdict"]
    return f"{verdict} ({100 * row['difference_to_best_baseline']:+.2f}, p = {row['p_value']:.2g})"
