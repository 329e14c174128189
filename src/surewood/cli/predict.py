"""``surewood predict``: classes, and probabilities if wanted, of the rows of a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from surewood._text import escaped, json_text
from surewood.cli import option_values as option
from surewood.cli.app import app, shown
from surewood.parallel.progress import display

_EXAMPLES = """[bold]Examples[/bold]

surewood predict churn new-customers.csv > churn.csv

surewood predict churn/model.surewood new.parquet --proba -o answers.parquet

surewood predict churn new-customers.csv --coverage 0.95
"""


@app.command(epilog=_EXAMPLES)
def predict(
    model: option.SavedModel,
    table: option.Tables,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add one column per class with its probability.")
    ] = False,
    coverage: Annotated[
        float | None,
        typer.Option(help="Add the set of labels that may be true; it has the true one this often."),
    ] = None,
    sets_guarantee: Annotated[
        str,
        typer.Option(
            metavar="[pac|marginal]",
            help="pac: the coverage holds with probability 0.95 over the holdout; marginal: on average over "
            "holdouts, with smaller sets.",
        ),
    ] = "pac",
    sets_by: Annotated[
        str | None, typer.Option(metavar="[class]", help="class: the coverage holds within each class.")
    ] = None,
    sets_score: Annotated[
        str,
        typer.Option(
            metavar="[threshold|adaptive]",
            help="threshold: the smallest sets on average; adaptive: larger sets for difficult rows.",
        ),
    ] = "threshold",
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Columns of the table to put beside the predictions, or all."),
    ] = None,
    header_line: option.HeaderLine = None,
    sheet: option.Sheet = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A .csv or .parquet file; standard output by default."),
    ] = None,
    safe_csv: Annotated[
        bool,
        typer.Option("--safe-csv", help="Put a quote before text that a spreadsheet would run as a formula."),
    ] = False,
    as_json: option.AsJson = False,
) -> None:
    """Predict the class of every row of a table, in the order of the rows.

    Rows are named by their line in the file and by the model's identifier columns. Columns are found by name;
    additional ones are ignored, with a note on standard error.
    """
    from surewood.base.wording import plural
    from surewood.workflow.predicting import predict as predict_table
    from surewood.workflow.predicting import records, rounded, write_csv

    with display():
        found = predict_table(
            model,
            option.one_or_several(table),
            proba=proba,
            coverage=coverage,
            sets_guarantee=sets_guarantee,
            sets_by=sets_by,
            sets_score=sets_score,
            keep=keep or (),
            out=out,
            safe_csv=safe_csv,
            header_line=header_line,
            sheet=sheet,
            verbose=1,
        )
    for note in found.notes:
        print(f"surewood: {shown(note)}", file=sys.stderr)
    if as_json:
        answer: dict[str, Any] = {
            "rows": found.n_rows,
            "file": None if out is None else str(out),
            "notes": list(found.notes),
        }
        if found.frame is not None:
            answer["classes"] = dict(found.counts)
        if out is None:
            answer["predictions"] = records(found)
        print(json_text(answer, indent=2))
    elif out is not None:
        print(f"{plural(found.n_rows, 'prediction')} written to {out}", file=sys.stderr)
    elif found.frame is not None:
        text = write_csv(rounded(found.frame), safe=safe_csv)
        whole = text.encode("utf-8", "backslashreplace").decode()  # half characters cannot be written
        sys.stdout.write(escaped(text) if sys.stdout.isatty() else whole)
