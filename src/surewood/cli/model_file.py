"""A model as the command saves it: a pipeline of table preparation and estimator, with facts beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.pipeline import Pipeline

from surewood.cli.mistakes import Mistake
from surewood.persistence import load, read_card, read_facts
from surewood.tables import TablePreparer

MODEL, PAGE, DATA = "model.surewood", "report.html", "report.json"


@dataclass
class SavedModel:
    """A loaded model file.

    Attributes
    ----------
    path : Path
    pipeline : Pipeline
        Takes frames as they come.
    facts : dict
        What ``fit`` remembered.
    card : dict
        Format and versions.
    """

    path: Path
    pipeline: Pipeline
    facts: dict[str, Any] = field(default_factory=dict)
    card: dict[str, Any] = field(default_factory=dict)

    @property
    def preparer(self) -> TablePreparer:
        return self.pipeline[0]

    @property
    def estimator(self) -> Any:
        return self.pipeline[-1]

    def prepare(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame as the estimator sees it."""
        return self.preparer.transform(frame)

    def notes_about(self, frame: pd.DataFrame) -> list[str]:
        """What about a later table its owner should know."""
        notes = []
        extra = [name for name in self.preparer.extra_columns(frame) if name != self.facts.get("target")]
        if extra:
            shown = ", ".join(map(repr, extra[:5])) + (", ..." if len(extra) > 5 else "")
            notes.append(f"{plural(len(extra), 'column')} not known from training, ignored: {shown}.")
        for name, rows in self.preparer.unseen_categories(frame).items():
            notes.append(
                f"{plural(rows, 'row')} with a value of {name!r} not known from training; read as missing."
            )
        return notes


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def open_model(path: Path) -> SavedModel:
    """Load a model; a folder written by ``fit`` stands for the model in it."""
    if path.is_dir():
        path = path / MODEL
    model = load(path)
    if not isinstance(model, Pipeline) or not isinstance(model[0], TablePreparer):
        name = type(model).__name__
        raise Mistake(f"{path} holds a {name} that `surewood fit` did not write; use it from Python.")
    return SavedModel(path, model, read_facts(path), read_card(path))
