"""The guaranteed error of a saved model, from rows it has not seen: `certify`.

Claims are read from the words of the command line, such as ``recall:bad`` or ``error_by:region``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.base.counted_rows import NoRowsCountError
from surewood.certify import Certificate, Claim, CostClassifier, certify
from surewood.certify.claims import KINDS, read_claims
from surewood.certify.model_parts import counted_rows, memory_of
from surewood.tables.table_file import looks_like_a_file
from surewood.workflow.deciding import cost_matrix
from surewood.workflow.dividing import Sampling
from surewood.workflow.errors import WorkflowError
from surewood.workflow.folders import SavedModel, open_model
from surewood.workflow.labelled_table import LabelledTable, Source, read_labelled


@dataclass(frozen=True, repr=False)
class Certification:
    """Result of :func:`certify_model`.

    Attributes
    ----------
    certificate : Certificate
        What is guaranteed, with the conditions that it rests on.
    model : SavedModel
    table : str
        Name of the table.
    n_rows : int
    seen : float
        Fraction of the rows that are equal to training rows.
    notes : tuple of str
    X, y : DataFrame and Series
        The rows as the estimator sees them, named as the table names them, and their labels.
    counted : ndarray of int
        Positions of the rows that the certificate counts; none where it is withheld.

    Examples
    --------
    >>> from surewood import workflow
    >>> fitted = workflow.fit("wine", model="rcf")
    >>> workflow.Certification(fitted.certificate, None, "wine", n_rows=36, seen=0.0, notes=()).n_rows
    36
    """

    certificate: Certificate
    model: SavedModel
    table: str
    n_rows: int
    seen: float
    notes: tuple[str, ...]
    X: pd.DataFrame = field(default_factory=pd.DataFrame)
    y: pd.Series = field(default_factory=lambda: pd.Series(dtype=object))
    counted: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def __repr__(self) -> str:
        return "\n".join([f"{self.table}: {self.n_rows:,} rows", self.certificate.verdict, *self.notes[:8]])


class CertifyOptions(TypedDict, total=False):
    """Options of :func:`certify_model` that other functions pass on to it."""

    claims: Sequence[str]
    cost: str | None
    copies: str
    groups: str | Sequence[str] | None
    time: str | None
    delta: float
    n_models: int
    header_line: int | None
    sheet: str | None


def certify_model(
    model: str | Path | SavedModel,
    table: Source,
    target: str | None = None,
    *,
    claims: Sequence[str] = (),
    cost: str | None = None,
    copies: str = "check",
    groups: str | Sequence[str] | None = None,
    time: str | None = None,
    delta: float = 0.05,
    n_models: int = 1,
    header_line: int | None = None,
    sheet: str | None = None,
) -> Certification:
    """Certify a saved model on a labeled table that was not used for training or tuning.

    The model remembers its training rows, and recognizes them in the table; rows of groups that it was
    trained with are left out.

    Parameters
    ----------
    model : str, Path or SavedModel
        A model file, or the folder that :func:`fit` wrote.
    table : str, Path or list of them
        A table file, several with the same columns, or the name of a bundled data set.
    target : str, optional
        The column of the classes; by default the one the model was trained with.
    claims : list of str
        What to guarantee: ``error`` (default), ``accuracy``, ``recall:bad``, ``precision:bad``, ``fpr:bad``,
        ``f1:bad``, ``specificity:bad``, ``npv:bad``, ``mcc:bad``, ``auc:bad``, ``calibration:bad``,
        ``balanced_accuracy``, ``brier``, ``log_loss``, ``cost``, ``error_by:COLUMN``. All share `delta`.
    cost : str, optional
        Costs of confusions for the claim ``cost``, such as ``"bad:good=5,good:bad=1"``; by default those that
        the model was fitted with.
    copies : {"check", "count", "leave_out"}
        Whether rows that equal a training row count. "check": they do unless the training table looks copied.
    groups, time : str, optional
        Columns with the group or the time of a row; by default those the model was trained with, where the
        table has them.
    delta : float, default=0.05
        Probability that a guarantee may fail.
    n_models : int, default=1
        Number of models that were compared on this table, of which this is the best.
    header_line, sheet
        As in :func:`fit`; by default what the fit was given.

    Returns
    -------
    Certification
        The certificate, and the rows that it rests on.

    Examples
    --------
    >>> from surewood import workflow
    >>> fitted = workflow.fit("iris", model="rcf", out="iris-model")
    >>> workflow.certify_model("iris-model", "iris").seen > 0.7
    True
    """
    saved = open_model(model)
    labelled = labelled_rows(saved, table, target, header_line, sheet)
    sampling = _sampling(saved, labelled, Sampling.of(copies, groups, time))
    _leave_out_training_groups(saved, labelled, sampling)
    rows, judged = labelled.rows, saved.decider
    group_of_rows, times = sampling.group_of_rows(rows.X), sampling.times_of_rows(rows.X)
    X = rows.X.drop(columns=sampling.columns)
    prepared = saved.prepare(X)
    certificate = certify(
        judged,
        prepared,
        rows.y,
        copies=sampling.copies,
        groups=group_of_rows,
        time=times,
        claims=read_claim_words(claims, cost, saved, X) if claims else None,
        delta=delta,
        n_models=n_models,
        n_models_in_sample=saved.facts.get("models_compared", 1),  # [D-37]
        fixed_features=saved.preparer.fixed_features_,
    )
    try:
        counted_ones = counted_rows(judged, prepared, copies=sampling.copies, groups=group_of_rows)
        counted = np.sort(counted_ones.rows)
    except NoRowsCountError:
        counted = np.empty(0, dtype=np.intp)
    memory = memory_of(judged)
    seen = 0.0 if memory is None else float(memory.contains(prepared).mean())
    notes = [*labelled.notes, *saved.notes_about(X), *_notes(saved, labelled)]
    prepared.index = labelled.row_names(rows, saved.preparer.plan_.identifiers)
    return Certification(
        certificate, saved, labelled.name, len(rows), seen, tuple(notes), prepared, rows.y, counted
    )


def _sampling(saved: SavedModel, table: LabelledTable, given: Sampling) -> Sampling:
    """The columns given, else those of the training table where this one has them."""
    given.check_columns(table.rows.X.columns, table.name, table.target)
    recorded = saved.facts.get("sampling") or {}
    if given.columns or not recorded:
        return given
    present = set(table.rows.X.columns)
    groups = [name for name in recorded["groups"] if name in present]
    time = recorded["time"] if recorded["time"] in present else None
    for option, name in [*(("groups", g) for g in recorded["groups"]), ("time", recorded["time"])]:
        if name is not None and name not in present:
            table.notes.append(
                f"the model was trained with {option}={name}, which this table lacks: the guarantee assumes "
                "that its rows are independent."
            )
    return Sampling(given.copies, groups if groups == recorded["groups"] else [], time)


def _leave_out_training_groups(saved: SavedModel, table: LabelledTable, sampling: Sampling) -> None:
    """Rows of groups that the model was trained with are no rows of new groups."""
    groups, known = sampling.group_of_rows(table.rows.X), saved.preparer.rows_.groups
    if groups is None or known is None:
        return
    old = known.contains(pd.DataFrame({"group": groups.astype(str)}))
    if old.all():
        raise WorkflowError(f"{table.name}: every group was in the training rows; nothing can be certified.")
    if old.any():
        table.keep(~old)
        table.notes.append(
            f"{int(old.sum()):,} rows of groups that the model was trained with are not counted."
        )


def labelled_rows(
    saved: SavedModel,
    table: Source,
    target: str | None,
    header_line: int | None = None,
    sheet: str | None = None,
) -> LabelledTable:
    """The rows of a table for a model; refuses other classes."""
    column = _target_of(saved, table, target)
    labelled = read_labelled(
        table, column, check=False, reading=saved.reading(header_line, sheet), **saved.quantity
    )
    _refuse_other_classes(saved, labelled)
    return labelled


def _target_of(saved: SavedModel, table: Source, target: str | None) -> str | None:
    """The target column: as given, else the model's; a bundled data set has its own."""
    if target is None and not (isinstance(table, str) and not looks_like_a_file(table)):
        target = saved.facts.get("target")
        if target is None:
            raise WorkflowError("the model does not record its target column; give target=...")
    return target


def _refuse_other_classes(saved: SavedModel, table: LabelledTable) -> None:
    """Refuse a table whose target has none of the model's classes."""
    known = saved.classes.tolist()
    if not table.rows.y.isin(known).any():
        found = ", ".join(repr(str(label)) for label in table.rows.y.unique()[:3])
        knows = ", ".join(repr(str(label)) for label in known[:3])
        raise WorkflowError(
            f"{table.name}: the target {table.target!r} holds {found}, none of the model's classes ({knows}"
            f"{', ...' if len(known) > 3 else ''}); is it the right column?"
        )


def _notes(saved: SavedModel, table: LabelledTable) -> list[str]:
    known = set(saved.classes.tolist())
    unknown = sum(label not in known for label in table.rows.y.tolist())
    if not unknown:
        return []
    return [f"{unknown:,} rows have a class that was not in training; each counts as an error."]


_NAMES = "|".join(name.replace("_", "[-_]") + ":" * (kind.needs == "of") for name, kind in KINDS.items())
_COMMA = re.compile(rf",(?=\s*(?:{_NAMES}))")


def split_claims(words: Sequence[str] | None) -> list[str]:
    """Claims given with commas, as several words, or both; a comma inside a label stays.

    Examples
    --------
    >>> split_claims(["error,recall:bad", "recall:a, or b"])
    ['error', 'recall:bad', 'recall:a, or b']
    """
    return [part.strip() for word in words or () for part in _COMMA.split(word) if part.strip()]


def read_claim_words(
    words: Sequence[str], cost: str | None, saved: SavedModel, frame: pd.DataFrame
) -> list[Claim]:
    """Claims about a saved model on a table.

    Parameters
    ----------
    words : list of str
    cost : str or None
        Costs of confusions, for the claim ``cost``.
    saved : SavedModel
    frame : DataFrame
        The table as it came: groups are named by its columns.
    """
    found: list[Claim] = []
    for word in split_claims(words):
        name, _, rest = word.partition(":")
        quantity = name.strip().replace("-", "_")
        if quantity not in KINDS:
            known = ", ".join(KINDS)
            raise WorkflowError(f"claim={word} is unknown; choose among {known}.")
        if quantity == "cost":
            found.append(Claim("cost", cost=_matrix(cost, saved)))
        elif quantity == "error_by":
            if rest not in frame.columns:
                raise WorkflowError(f"claim={word}: the table has no column {rest!r}.")
            found.append(Claim("error_by", by=frame[rest]))  # the estimator may not see the column
        else:
            try:
                found += read_claims(f"{quantity}:{rest}" if rest else quantity, saved.classes.tolist())
            except ValueError as error:
                raise WorkflowError(f"claim={word}: {error}.") from error
    return found


def _matrix(cost: str | None, saved: SavedModel) -> NDArray[np.float64]:
    if cost is not None:
        return cost_matrix(cost, saved.classes.tolist())
    if isinstance(saved.decider, CostClassifier):
        return np.asarray(saved.decider.cost, dtype=np.float64)
    raise WorkflowError("claim=cost needs cost=..., such as bad:good=5,good:bad=1.")
