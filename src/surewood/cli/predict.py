"""``surewood predict``: classes, and probabilities if wanted, of the rows of a table."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surewood.cli.app import app
from surewood.cli.mistakes import Mistake
from surewood.cli.output_place import check_file
from surewood.parallel.progress import display

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

_EXAMPLES = """[bold]Examples[/bold]

surewood predict churn new-customers.csv > churn.csv

surewood predict churn/model.surewood new.parquet --proba -o answers.parquet
"""


@app.command(epilog=_EXAMPLES)
def predict(
    model: Annotated[Path, typer.Argument(help="A model file, or the folder that `surewood fit` wrote.")],
    table: Annotated[
        str,
        typer.Argument(
            help="A CSV or Parquet file, a folder of Parquet files, or a name of `surewood datasets`."
        ),
    ],
    proba: Annotated[
        bool, typer.Option("--proba", help="Add a column a class with its probability.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A .csv or .parquet file; standard output unless given."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Predict the class of every row of a table, in the order of the rows.

    Columns are found by name; additional ones are ignored, and that is said on standard error.
    """
    import pandas as pd

    from surewood.cli.large_table import is_large
    from surewood.cli.model_file import open_model, plural
    from surewood.cli.training import predict_in_blocks
    from surewood.cli.unlabelled import read_rows

    if out is not None:
        check_file(out, f"-o {out}", (".csv", ".parquet"))
    if is_large(table):
        _predict_large(model, table, proba, out, as_json)
        return
    with display():
        saved = open_model(model)
        frame = read_rows(table)
        probabilities = predict_in_blocks(saved.estimator, saved.prepare(frame), verbose=1)
    classes = saved.estimator.classes_
    answers = pd.DataFrame({"prediction": classes[probabilities.argmax(axis=1)]})
    if proba:
        shares = pd.DataFrame(probabilities, columns=[f"probability {label}" for label in classes])
        answers = pd.concat([answers, shares], axis=1)
    notes = saved.notes_about(frame)
    for note in notes:
        print(f"surewood: {note}", file=sys.stderr)
    if out is not None:
        write_table(answers, out)
    if as_json:
        counts = answers["prediction"].value_counts()
        print(
            json.dumps(
                {
                    "rows": len(answers),
                    "classes": {str(label): int(count) for label, count in counts.items()},
                    "file": None if out is None else str(out),
                    "notes": notes,
                    **({} if out is not None else {"predictions": _records(answers, classes, proba)}),
                },
                indent=2,
                ensure_ascii=False,
            )
        )
    elif out is None:
        answers.to_csv(sys.stdout, index=False)
    else:
        print(f"{plural(len(answers), 'prediction')} written to {out}", file=sys.stderr)


def _predict_large(model: Path, table: str, proba: bool, out: Path | None, as_json: bool) -> None:
    """A table that is streamed: from file to file."""
    from surewood.cli.large_table import predict_large
    from surewood.cli.model_file import open_model, plural

    if out is None or out.suffix.lower() != ".parquet":
        raise Mistake(f"{table} is predicted batch by batch into a file: add -o NAME.parquet.")
    with display():
        rows, notes = predict_large(open_model(model), table, out, proba)
    for note in notes:
        print(f"surewood: {note}", file=sys.stderr)
    if as_json:
        print(json.dumps({"rows": rows, "file": str(out), "notes": notes}, indent=2, ensure_ascii=False))
    else:
        print(f"{plural(rows, 'prediction')} written to {out}", file=sys.stderr)


def _records(answers: pd.DataFrame, classes: np.ndarray, proba: bool) -> list[dict[str, object]]:
    from surewood.tables import plain

    records: list[dict[str, object]] = [{"prediction": plain(label)} for label in answers["prediction"]]
    if proba:
        for record, row in zip(records, answers.iloc[:, 1:].to_numpy().tolist()):
            record["probabilities"] = {str(label): share for label, share in zip(classes, row)}
    return records


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a CSV or Parquet file, with its folder, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if path.suffix.lower() == ".parquet":
            frame.to_parquet(partial, index=False)
        else:
            frame.to_csv(partial, index=False)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
