"""``surewood certify``: what may be promised about a saved model, from rows it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from surewood.cli.app import app, console
from surewood.cli.mistakes import Mistake
from surewood.parallel.progress import display

if TYPE_CHECKING:
    from surewood.cli.input_table import InputTable
    from surewood.cli.model_file import SavedModel

_EXAMPLES = """[bold]Examples[/bold]

surewood certify churn customers-of-may.csv

surewood certify churn fresh.parquet --target churned --delta 0.01
"""
MOST_SEEN = 0.5  # above this share of rows known from training, the table is not a holdout


@app.command(epilog=_EXAMPLES)
def certify(
    model: Annotated[Path, typer.Argument(help="A model file, or the folder that `surewood fit` wrote.")],
    table: Annotated[str, typer.Argument(help="A labelled table that took no part in training.")],
    target: Annotated[
        str | None, typer.Option(help="The column with the classes; the model's own unless given.")
    ] = None,
    delta: Annotated[
        float, typer.Option(min=1e-9, max=0.5, help="Probability that a guarantee may fail.")
    ] = 0.05,
    n_models: Annotated[
        int, typer.Option(min=1, help="Models that were compared on this table, of which this is the best.")
    ] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Certify a model on a labelled table that took no part in training, tuning or choosing it.

    A table most of whose rows are training rows is noticed; it gives an estimate and no guarantee.
    """
    from surewood.certify import certify as certify_model
    from surewood.cli.input_table import read_labelled
    from surewood.cli.model_file import open_model
    from surewood.cli.summary_text import print_certificate, print_notes

    with display():
        saved = open_model(model)
        labelled = read_labelled(table, _target(saved, table, target), check=False)
        if labelled.holdout is not None:  # a catalogue set: the official test part is the holdout
            labelled.X, labelled.y = labelled.holdout
        _refuse_other_classes(saved, labelled)
        seen = float(saved.preparer.seen_rows(labelled.X).mean())
        certificate = certify_model(
            saved.estimator,
            saved.prepare(labelled.X),
            labelled.y,
            delta=delta,
            n_models=n_models,
            sample="training" if seen > MOST_SEEN else "holdout",
            n_models_in_sample=len((saved.facts.get("choice") or {}).get("scores", [])) or 1,
            fixed_features=not saved.preparer.dropped_,
        )
    notes = labelled.notes + saved.notes_about(labelled.X)
    notes += _unknown_classes(saved, labelled)
    if seen > MOST_SEEN:
        notes.append(
            f"{100 * seen:.0f} % of these rows are equal to training rows: the table is not a holdout, and "
            "no guarantee comes from it."
        )
    elif seen > 0:
        notes.append(f"{100 * seen:.1f} % of these rows are equal to training rows.")
    if as_json:
        print(certificate.to_json())
        return
    out = console()
    out.print(Text(f"{saved.path} on {labelled.name}: {len(labelled.y):,} rows"))
    out.print()
    print_certificate(out, certificate.to_dict())
    print_notes(out, notes)


def _target(saved: SavedModel, table: str, target: str | None) -> str | None:
    """The target column: as asked, else the model's; a catalogue name knows its own."""
    from surewood.tables.table_file import looks_like_a_file

    if target is None and looks_like_a_file(table):
        target = saved.facts.get("target")
        if target is None:
            raise Mistake("the model does not say which column its target was; give --target.")
    return target


def _refuse_other_classes(saved: SavedModel, table: InputTable) -> None:
    known = saved.estimator.classes_.tolist()
    if not table.y.isin(known).any():
        found = ", ".join(repr(str(label)) for label in table.y.unique()[:3])
        knows = ", ".join(repr(str(label)) for label in known[:3])
        raise Mistake(
            f"{table.name}: the target {table.target!r} holds {found}, none of the model's classes ({knows}"
            f"{', ...' if len(known) > 3 else ''}); is it the right column?"
        )


def _unknown_classes(saved: SavedModel, table: InputTable) -> list[str]:
    known = set(saved.estimator.classes_.tolist())
    rows = sum(label not in known for label in table.y.tolist())
    if not rows:
        return []
    return [f"{rows:,} rows have a class that training did not have; each counts as an error."]
