"""``surewood compare``: our families beside the usual classifiers, on the same folds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from surewood.cli.app import app, console
from surewood.cli.families import FAMILIES, RunSettings
from surewood.cli.mistakes import Mistake
from surewood.cli.output_place import check_file
from surewood.parallel.progress import display

if TYPE_CHECKING:
    from surewood.cli.comparing import Entrant
    from surewood.cli.input_table import InputTable

_EXAMPLES = """[bold]Examples[/bold]

surewood compare wine

surewood compare customers.csv --target churned --repeats 3 -o churn.html
"""


# Not a docstring: the lines of one would stay lines, however narrow the terminal.
_HELP = (
    "Compare our families with random forest, histogram boosting, XGBoost and LightGBM.\n\n"
    "Every classifier has its default settings and meets the same folds. Our families are tested against the "
    "best of the others (paired t-test over folds, corrected for overlapping training parts and for the "
    "number of families)."
)


@app.command(help=_HELP, epilog=_EXAMPLES)
def compare(
    table: Annotated[str, typer.Argument(help="A CSV or Parquet file, or a name of `surewood datasets`.")],
    target: Annotated[
        str | None, typer.Option(help="The column to predict; catalogue names know theirs.")
    ] = None,
    folds: Annotated[int, typer.Option(min=2, max=20, help="Stratified folds.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, max=50, help="How often to deal new folds.")] = 1,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only these: rcf, cascade, mddf, rf, hgb, xgboost, lightgbm; repeatable."),
    ] = None,
    max_rows: Annotated[
        int, typer.Option(min=20, help="Compare on at most so many rows, drawn at random.")
    ] = 3000,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A page (.html) or a picture (.png) of the result.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same folds and models.")] = 0,
    n_jobs: Annotated[int, typer.Option(help="Threads of each fit; -1: all cores.")] = -1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """See `_HELP`."""
    from surewood.cli.comparing import judge_against_best_peer, make_splits, run_comparison
    from surewood.cli.comparison_plot import write_comparison
    from surewood.cli.training import prepare

    if n_jobs == 0:
        raise Mistake("--n-jobs must not be 0; -1 means all cores.")
    if out is not None:
        check_file(out, f"--out {out}", (".html", ".png"))
    chosen, absent = _entrants(only, RunSettings(seed, n_jobs, verbose=1))
    with display():
        data = _table(table, target, folds, max_rows, seed)
        prepared = prepare(data).transform(data.X)
        splits = make_splits(data.y, folds, repeats, seed)
        run_comparison(chosen, prepared, data.y, splits, verbose=1)
    best = None
    if any(e.ours for e in chosen) and not all(e.ours for e in chosen):
        best = judge_against_best_peer(chosen, splits)
    data.notes += [f"{title} is not installed, and left out." for title in absent]
    result = _result(data, chosen, best, folds, repeats, seed)
    if out is not None:
        write_comparison(result, out)
    if as_json:
        print(json.dumps(result, indent=2, ensure_ascii=False))
        return
    _print(result)
    if out is not None:
        console().print(Text(f"\nwritten to {out}"))


def _entrants(only: list[str] | None, settings: RunSettings) -> tuple[list[Entrant], list[str]]:
    """The classifiers to compare, and the titles of those that are not installed."""
    from surewood.cli.comparing import Entrant
    from surewood.cli.peers import PEERS

    known = [*FAMILIES, *(peer.name for peer in PEERS)]
    for name in only or []:
        if name not in known:
            raise Mistake(f"--only {name}: choose among {', '.join(known)}.")
    ours = [
        Entrant(
            family.name,
            family.title,
            True,
            lambda n_rows, n_classes, family=family: settings.estimator(family, n_rows, n_classes),
        )
        for family in FAMILIES.values()
    ]
    installed = [peer for peer in PEERS if peer.is_installed]
    theirs = [
        Entrant(
            peer.name,
            peer.title,
            False,
            lambda n_rows, n_classes, peer=peer: peer.build(settings.seed, settings.n_jobs),
        )
        for peer in installed
    ]
    entrants = [entrant for entrant in ours + theirs if only is None or entrant.name in only]
    if not entrants:
        raise Mistake(f"none of {', '.join(only or [])} is installed.")
    absent = [p.title for p in PEERS if not p.is_installed and (only is None or p.name in only)]
    return entrants, absent


def _table(source: str, target: str | None, folds: int, max_rows: int, seed: int) -> InputTable:
    """All rows of a table, or a random part of them; a class must be in every fold."""
    from surewood.cli.choosing import comparison_rows
    from surewood.cli.input_table import read_labelled

    data = read_labelled(source, target)
    if len(data.y) > max_rows:
        n_rows = len(data.y)
        data.keep(comparison_rows(data.y, max_rows, seed))
        data.notes.append(f"compared on a random {len(data.y):,} of {n_rows:,} rows (--max-rows).")
    fewest = int(data.y.value_counts().min())
    if fewest < folds:
        raise Mistake(
            f"the smallest class of {data.target!r} has {fewest} rows; take --folds {max(2, fewest)} or "
            "leave it out."
        )
    return data


def _result(
    data: InputTable, entrants: list[Entrant], best: Entrant | None, folds: int, repeats: int, seed: int
) -> dict[str, Any]:
    return {
        "table": data.name,
        "source": data.source,
        "target": data.target,
        "rows": len(data.y),
        "columns": data.X.shape[1],
        "classes": int(data.y.nunique()),
        "folds": folds,
        "repeats": repeats,
        "seed": seed,
        "best_peer": None if best is None else best.name,
        "results": [entrant.to_dict() for entrant in entrants],
        "notes": data.notes,
    }


def _print(result: dict[str, Any]) -> None:
    from surewood.cli.summary_text import print_notes

    out = console()
    times = f", {result['repeats']} times" if result["repeats"] > 1 else ""
    size = f"{result['rows']:,} rows, {result['columns']} columns, {result['classes']} classes"
    out.print(Text(f"{result['table']}: {size}, {result['folds']} folds{times}"))
    out.print()
    table = _scores(result, short=False)
    narrow = out.measure(table, options=out.options.update_width(1000)).maximum > out.width
    out.print(Padding(_scores(result, short=True) if narrow else table, (0, 0, 0, 0), expand=False))
    out.print()
    words = "error and log-loss: means over folds; fit: seconds a fold; predict: for 1,000 rows"
    out.print(Text(f"{words}; p: corrected paired t-test.", style="dim"))
    if narrow:
        if result["best_peer"] is not None:
            told = "beside the best peer: points of error; unclear: no difference shown."
            out.print(Text(told, style="dim"))
        names = "; ".join(f"{row['name']}: {row['title']}" for row in result["results"])
        out.print(Text(f"{names}.", style="dim"))
    print_notes(out, result["notes"])


def _scores(result: dict[str, Any], short: bool) -> Table:
    """One row a classifier; short names and verdicts for narrow terminals."""
    from surewood.cli.summary_text import grid, percent, seconds_text

    table = grid(header=True)
    for title in ("classifier", "error", "log-loss", "fit", "predict"):
        table.add_column(title, justify="left" if title == "classifier" else "right", no_wrap=True)
    tested = result["best_peer"] is not None
    if tested:
        table.add_column("beside the best peer")
    smallest = min(row["error"] for row in result["results"])
    for row in result["results"]:
        cells = [
            row["name"] if short else row["title"],
            percent(row["error"]),
            f"{row['log_loss']:.3f}",
            seconds_text(row["fit_seconds"]),
            f"{1000 * row['predict_seconds_per_1000_rows']:.0f} ms",
        ]
        beside = [_beside(row, result["best_peer"], short)] if tested else []
        style = ("green" if row["ours"] else "") + (" bold" if row["error"] == smallest else "")
        table.add_row(*cells, *beside, style=style.strip())
    return table


def _beside(row: dict[str, Any], best: str, short: bool) -> str:
    if row["name"] == best:
        return "the best peer"
    if row["p_value"] is None:
        return ""
    verdict = "unclear" if short and row["verdict"] == "no difference shown" else row["verdict"]
    return f"{verdict} ({100 * row['difference_to_best_peer']:+.2f}, p = {row['p_value']:.2g})"
