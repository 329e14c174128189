"""``surewood explain``: a model as a whole, or one of its predictions, in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding
from rich.text import Text

from surewood.cli.app import app, console
from surewood.cli.mistakes import Mistake

if TYPE_CHECKING:
    from surewood.cli.model_file import SavedModel

_EXAMPLES = """[bold]Examples[/bold]

surewood explain churn

surewood explain churn new-customers.csv --row 17
"""


@app.command(epilog=_EXAMPLES)
def explain(
    model: Annotated[Path, typer.Argument(help="A model file, or the folder that `surewood fit` wrote.")],
    table: Annotated[
        str | None, typer.Argument(help="A table, to explain one of its rows.", show_default=False)
    ] = None,
    row: Annotated[
        int | None,
        typer.Option(min=1, help="Which row; 1 is the first below the header.", show_default="1"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Describe a model; or one prediction: path, leaf, degree, votes, nearest support vectors."""
    from surewood.cli.explanation_text import explanation_lines
    from surewood.cli.model_file import open_model
    from surewood.cli.summary_text import print_notes
    from surewood.cli.unlabelled import read_rows

    if table is None and row is not None:
        raise Mistake(f"--row {row} of which table? Name it after the model.")
    saved = open_model(model)
    if table is None:
        _print_overview(saved, as_json)
        return
    frame, row = read_rows(table), row or 1
    if row > len(frame):
        raise Mistake(f"there is no row {row}; {table} has {len(frame):,} rows.")
    one = frame.iloc[[row - 1]]
    explained = saved.estimator.explain(saved.prepare(one))[0]
    if as_json:
        print(json.dumps({"row": row, **explained}, indent=2, ensure_ascii=False, default=str))
        return
    out = console()
    out.print(Text(f"Row {row} of {table}", style="bold"))
    for style, line in explanation_lines(explained, _RowNames(saved)):
        if style == "title":
            out.print()
            out.print(Text(line, style="bold"))
        else:
            out.print(Padding(Text(line), (0, 0, 0, 2), expand=False))
    print_notes(out, saved.notes_about(one))


class _RowNames(dict[int, str]):
    """Names of training rows: their numbers in the table that the model was trained on."""

    def __init__(self, saved: SavedModel) -> None:
        super().__init__()
        self.numbers = getattr(saved.preparer, "row_numbers_", None)
        self.table = saved.facts.get("table", "the training table")

    def get(self, row: int, default: Any = None) -> Any:
        if self.numbers is None or not 0 <= row < len(self.numbers):
            return default
        return f"row {int(self.numbers[row]) + 1:,} of {self.table}"


def _print_overview(saved: SavedModel, as_json: bool) -> None:
    from surewood.cli.overview_text import overview
    from surewood.cli.summary_text import grid, print_certificate, print_notes

    about = overview(saved)
    if as_json:
        print(json.dumps({"overview": about, "facts": saved.facts}, indent=2, ensure_ascii=False))
        return
    out = console()
    table = grid()
    for name, text in about.items():
        table.add_row(Text(name, style="bold"), Text(str(text)))
    out.print(table)
    if saved.facts.get("certificate"):
        out.print()
        print_certificate(out, saved.facts["certificate"])
    print_notes(out, saved.facts.get("notes", []))
