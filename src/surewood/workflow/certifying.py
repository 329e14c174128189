"""The guaranteed error of a saved model, from rows it has not seen: `certify`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from surewood.certify import Certificate
from surewood.certify import certify as certify_model
from surewood.tables.reading.file_format import looks_like_a_file
from surewood.workflow.errors import WorkflowError
from surewood.workflow.labelled_table import LabelledTable, Source, read_labelled
from surewood.workflow.model_folder import SavedModel, open_model

MAX_SEEN = 0.5  # above this fraction of rows known from training, the table is not a holdout


@dataclass(frozen=True)
class Certification:
    """Result of :func:`certify`.

    Attributes
    ----------
    certificate : Certificate
    model : SavedModel
    table : str
        Name of the table.
    n_rows : int
    seen : float
        Fraction of the rows that are equal to training rows.
    notes : tuple of str
    """

    certificate: Certificate
    model: SavedModel
    table: str
    n_rows: int
    seen: float
    notes: tuple[str, ...]


def certify(
    model: str | Path | SavedModel,
    table: Source,
    target: str | None = None,
    *,
    delta: float = 0.05,
    n_models: int = 1,
) -> Certification:
    """Certify a saved model on a labelled table that was not used for training or tuning.

    A table most of whose rows are training rows is noticed; it gives an estimate and no guarantee.

    Parameters
    ----------
    model : str, Path or SavedModel
        A model file, or the folder that :func:`fit` wrote.
    table : str, Path or list of them
        A table file, several of one shape, or the name of a built-in data set (its official test part where
        there is one).
    target : str, optional
        The column of the classes; by default the one the model was trained with.
    delta : float, default=0.05
        Probability that a guarantee may fail.
    n_models : int, default=1
        Number of models that were compared on this table, of which this is the best.

    Returns
    -------
    Certification

    Examples
    --------
    >>> import tempfile
    >>> from surewood import workflow
    >>> folder = tempfile.TemporaryDirectory()
    >>> small = {"n_estimators": 5, "max_layers": 1}
    >>> fitted = workflow.fit("iris", model="mddf", parameters=small, n_jobs=1, out=folder.name)
    >>> workflow.certify(folder.name, "iris").seen > 0.7
    True
    >>> folder.cleanup()
    """
    saved = open_model(model)
    labelled = read_labelled(table, _target(saved, table, target), check=False)
    if labelled.holdout is not None:  # a built-in data set: the official test part is the holdout
        labelled.X, labelled.y = labelled.holdout
    _refuse_other_classes(saved, labelled)
    seen = float(saved.preparer.seen_rows(labelled.X).mean())
    certificate = certify_model(
        saved.estimator,
        saved.prepare(labelled.X),
        labelled.y,
        delta=delta,
        n_models=n_models,
        sample="training" if seen > MAX_SEEN else "holdout",
        n_models_in_sample=len((saved.facts.get("choice") or {}).get("scores", [])) or 1,
        fixed_features=saved.preparer.fixed_features_,
    )
    notes = [*labelled.notes, *saved.notes_about(labelled.X), *_notes(saved, labelled, seen)]
    return Certification(certificate, saved, labelled.name, len(labelled.y), seen, tuple(notes))


def _target(saved: SavedModel, table: Source, target: str | None) -> str | None:
    """The target column: as given, else the model's; a built-in data set has its own."""
    if target is None and not (isinstance(table, str) and not looks_like_a_file(table)):
        target = saved.facts.get("target")
        if target is None:
            raise WorkflowError("the model does not record its target column; give target=...")
    return target


def _refuse_other_classes(saved: SavedModel, table: LabelledTable) -> None:
    known = saved.classes.tolist()
    if not table.y.isin(known).any():
        found = ", ".join(repr(str(label)) for label in table.y.unique()[:3])
        knows = ", ".join(repr(str(label)) for label in known[:3])
        raise WorkflowError(
            f"{table.name}: the target {table.target!r} holds {found}, none of the model's classes ({knows}"
            f"{', ...' if len(known) > 3 else ''}); is it the right column?"
        )


def _notes(saved: SavedModel, table: LabelledTable, seen: float) -> list[str]:
    notes = []
    known = set(saved.classes.tolist())
    unknown = sum(label not in known for label in table.y.tolist())
    if unknown:
        notes.append(f"{unknown:,} rows have a class that was not in training; each counts as an error.")
    if seen > MAX_SEEN:
        notes.append(
            f"{100 * seen:.0f} % of these rows are equal to training rows: the table is not a holdout and "
            "gives no guarantee."
        )
    elif seen > 0:
        notes.append(f"{100 * seen:.1f} % of these rows are equal to training rows.")
    return notes
