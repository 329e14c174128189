"""The folder of a model: checked before the work, written as one set by one run at a time, and opened again.

`reserved` takes the folder for a run; a second run into it is refused while the first is at work. `whole_set`
gives a temporary folder inside it. When all files are written one rename makes them the set that counts, and
`finish_set` moves them over the old ones. A run that fails or is killed before that rename leaves the old set
as it was; what one that is killed later has not moved, the next command that reads or writes the folder does.
The folder itself stays the same: it may be mounted, be where a terminal is, and hold files of its owner.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from surewood.certify.deciding import DecidingClassifier
from surewood.persistence.leftovers import is_running, made, own, partial, remove
from surewood.persistence.model_file import ModelFileError, load, read_card, read_facts
from surewood.tables import TablePreparer
from surewood.tables.text_file import Reading
from surewood.workflow.errors import WorkflowError

MODEL, PLAN, PAGE, DATA, CARD = "model.surewood", "plan.toml", "report.html", "report.json", "card.md"


@dataclass(frozen=True, repr=False)
class SavedModel:
    """A loaded model file.

    Attributes
    ----------
    path : Path
        Where it was loaded from.
    pipeline : Pipeline
        Takes frames as they come.
    facts : dict
        What `fit` recorded.
    card : dict
        Format and versions.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from surewood import BinnedForestClassifier, workflow
    >>> from surewood.tables import TablePreparer
    >>> pipeline = make_pipeline(TablePreparer(), BinnedForestClassifier())
    >>> workflow.SavedModel("model.surewood", pipeline).estimator
    BinnedForestClassifier()
    """

    path: Path
    pipeline: Pipeline
    facts: Mapping[str, Any] = field(default_factory=dict)
    card: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        facts = self.facts
        trained = f", trained on {facts['rows']:,} rows of {facts['table']}" if "rows" in facts else ""
        return f"<SavedModel {self.path}: {facts.get('title', type(self.estimator).__name__)}{trained}>"

    @property
    def preparer(self) -> TablePreparer:
        """First step: the table as the estimator sees it."""
        found: TablePreparer = self.pipeline[0]
        return found

    @property
    def decider(self) -> Any:
        """Last step: what predicts, with its own rule of decision where `fit` was asked for one."""
        return self.pipeline[-1]

    @property
    def estimator(self) -> Any:
        """The classifier behind the rule."""
        return self.decider.model if isinstance(self.decider, DecidingClassifier) else self.decider

    @property
    def classes(self) -> NDArray[Any]:
        """The labels."""
        return np.asarray(self.estimator.classes_)

    def reading(self, header_line: int | None = None, sheet: str | None = None) -> Reading:
        """How to read a later table; numbers whose point stood between thousands in training are text."""
        columns, kept = self.preparer.plan_.columns, self.facts.get("reading") or {}
        grouped = tuple(c.name for c in columns if c.kind == "number" and c.thousands == ".")
        return Reading(
            as_text=grouped,
            header_line=header_line or kept.get("header_line"),
            sheet=sheet or kept.get("sheet"),
        )

    @property
    def quantity(self) -> dict[str, Any]:
        """What the fit made of a target that is a quantity."""
        kept = self.facts.get("reading") or {}
        return {name: kept[name] for name in ("classes", "bins", "decimal") if name in kept}

    def prepare(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame as the estimator sees it."""
        return self.preparer.prepare(frame)

    def notes_about(self, frame: pd.DataFrame) -> list[str]:
        """Notes for the user about a later table."""
        notes = [
            f"check column {one['column']!r} of the training table: {one['evidence']}; {one['advice']}."
            for one in self.facts.get("findings") or []
            if one["column"] in self.preparer.columns_
        ]
        target = self.facts.get("target")
        differences = self.preparer.differences(frame, () if target is None else (target,))
        return [*notes, differences] if differences else notes

    def row_name(self, row: int) -> str:
        """A training row as its table numbers it."""
        where = self.preparer.rows_.where
        if where is None or not 0 <= row < len(where.numbers):
            return f"training row {row + 1:,}"
        if where.are_several:
            return where.name(row)
        table = self.facts.get("table", "the training table")
        return f"{where.units[0]} {int(where.numbers[row]):,} of {table}"


def open_model(path: str | Path | SavedModel) -> SavedModel:
    """Load a model; a folder written by `fit` stands for the model in it.

    Examples
    --------
    >>> open_model("no-such-folder")
    Traceback (most recent call last):
    surewood.persistence.model_file.ModelFileError: there is no model file no-such-folder.
    """
    if isinstance(path, SavedModel):
        return path
    path = Path(path)
    if path.is_dir():
        finish_set(path)
        path = path / MODEL
    model = load(path)
    if not isinstance(model, Pipeline) or not isinstance(model[0], TablePreparer):
        name = type(model).__name__
        raise WorkflowError(f"{path} holds a {name} that was not written by `fit`; use it from Python.")
    return SavedModel(path, model, read_facts(path), read_card(path))


def refuse_other_model(folder: Path, table: str | Path | Sequence[str | Path], target: str | None) -> None:
    """Refuse a folder that holds the model of another table or target: it would be lost."""
    path = folder / MODEL
    if not path.exists():
        return
    try:
        facts = read_facts(path)
    except ModelFileError:
        facts = {}
    other = facts.get("source")
    given = str(table) if isinstance(table, str | Path) else ", ".join(map(str, table))
    built_in = facts.get("table") == given
    same = other is not None and Path(str(other)).absolute() == Path(given).absolute()
    if (same or built_in) and target in (None, facts.get("target")):
        return
    other = facts.get("table")
    what = f"the model of {other}, target {facts.get('target')!r}" if other else "another model"
    raise WorkflowError(f"out={folder} holds {what}; name another folder, or give force=True to replace it.")


def check_folder(folder: Path) -> None:
    """Refuse a folder that is a file, or that could not be made or written to."""
    asked = f"out={folder}"
    if folder.exists() and not folder.is_dir():
        raise WorkflowError(f"{asked} is a file; name a folder.")
    _refuse_unwritable(folder, asked)


def check_file(path: Path, endings: tuple[str, ...]) -> None:
    """Refuse a file with another extension, or that could not be written."""
    asked = f"out={path}"
    if path.suffix.lower() not in endings:
        raise WorkflowError(f"{asked}: the name must end in {' or '.join(endings)}.")
    if path.is_dir():
        raise WorkflowError(f"{asked} is a folder; name a file.")
    _refuse_unwritable(path.parent, asked)


def _refuse_unwritable(folder: Path, asked: str) -> None:
    if "\n" in asked:
        shown = asked.replace("\n", "\\n")
        raise WorkflowError(f"{shown} has a line break in its name; give another.")
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise WorkflowError(f"{asked}: {place} is a file, not a folder.")
    if not os.access(place, os.W_OK | os.X_OK):
        raise WorkflowError(f"{asked}: no permission to write in {place}.")


LOCK = ".surewood.lock"
_COMPLETE = ".surewood.set"


@contextmanager
def reserved(folder: Path) -> Iterator[None]:
    """Inside, the folder belongs to this run; one that stays empty is removed again."""
    lock = folder / LOCK
    with made(folder):
        _take(lock, folder)
        with own(lock):
            finish_set(folder)
            yield


def _take(lock: Path, folder: Path) -> None:
    for _ in range(2):
        try:
            handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            _refuse_if_taken(lock, folder)
            remove(lock)
            continue
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {socket.gethostname()}")
        return
    raise WorkflowError(f"out={folder}: another run has just begun to write there.")


def _refuse_if_taken(lock: Path, folder: Path) -> None:
    """Refuse a folder that a living process holds; one of another host counts as living."""
    if lock.is_symlink() or not lock.is_file():  # not ours: a pipe would never end
        return
    try:
        process, _, host = lock.read_text(encoding="utf-8").partition(" ")
        number = int(process)
    except (OSError, ValueError):
        return  # gone meanwhile, or cut short by a kill
    if host != socket.gethostname():
        raise WorkflowError(
            f"out={folder}: a run on {host or 'another host'} (process {number}) writes there; if it is "
            f"gone, remove {lock}."
        )
    if is_running(number):
        raise WorkflowError(
            f"out={folder}: another run (process {number}) writes there; wait or name another."
        )


@contextmanager
def whole_set(folder: Path) -> Iterator[Path]:
    """A folder to write into; when the block ends without an error its files replace those of `folder`."""
    with partial(folder / "set") as new:
        new.mkdir()
        yield new
        os.rename(new, folder / _COMPLETE)
    finish_set(folder)


def finish_set(folder: Path) -> None:
    """Move the files of a complete set to their places; another process may be doing the same."""
    complete = folder / _COMPLETE
    if complete.is_symlink() or not complete.is_dir():  # a link would take files from elsewhere
        return
    with suppress(FileNotFoundError):
        for file in sorted(complete.iterdir()):
            with suppress(FileNotFoundError):
                os.replace(file, folder / file.name)
        complete.rmdir()
