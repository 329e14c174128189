"""Training on a labeled table: prepare the columns, fit, measure on the holdout, certify.

`train` gives a :class:`Trained` model with its holdout predictions; `certificate_of` certifies it.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from surewood.base.counted_rows import COPIED
from surewood.base.remembered import RememberedRows
from surewood.base.wording import plural
from surewood.certify import Certificate, certify
from surewood.parallel.progress import stage
from surewood.tables import TablePreparer, content_hashes
from surewood.tables.planning.column_plan import read_column
from surewood.tables.planning.words import find_number_code
from surewood.tables.preparing import TrainingRows
from surewood.workflow.columns import ColumnOptions
from surewood.workflow.dividing import divided_groups, grouped_splits
from surewood.workflow.families import Family
from surewood.workflow.labelled_table import LabelledTable, collecting, prepared_table

ROWS_PER_BLOCK = 1024
_GROUPS_INSIDE = (
    "groups are not kept whole where this model tunes and calibrates itself, so its probabilities may be too "
    "sure for new groups; the holdout has whole groups, and its guarantee takes that into account."
)


@dataclass(frozen=True)
class Measured:
    """A model on its holdout."""

    #: The holdout as the estimator sees it.
    X: pd.DataFrame
    #: Shape (n, n_classes).
    probabilities: NDArray[np.float64]
    predicted: NDArray[Any]
    #: On the holdout: ESTIMATES, both.
    error: float
    log_loss: float


@dataclass(frozen=True)
class Trained:
    """A fitted pipeline, its prepared training rows, and what was measured on the holdout."""

    pipeline: Pipeline
    preparer: TablePreparer
    #: The classifier, without a rule of decision.
    estimator: Any
    prepared: pd.DataFrame
    seconds: float
    holdout: Measured | None


def prepare(table: LabelledTable, options: ColumnOptions | None = None) -> TablePreparer:
    """Learn the columns from the training rows; what was dropped or lost becomes a note."""
    X = table.rows.X
    preparer = TablePreparer(plan=(options or ColumnOptions()).make_plan(X)).fit(X)
    table.notes += preparer.plan_.notes()
    table.notes += _number_codes(preparer, X)
    return preparer


def _number_codes(preparer: TablePreparer, X: pd.DataFrame) -> list[str]:
    """A note for each column of numbers with one, such as -999, that may mean a missing value."""
    notes = []
    for column in preparer.plan_.used:
        if column.kind == "number":
            values = read_column(column, X[column.name]).to_numpy(dtype=np.float64)
            code = find_number_code(values)
            if code is not None:
                rows = plural(int(np.count_nonzero(values == code)), "row")
                notes.append(
                    f"column {column.name!r} is {code:.0f} in {rows}, far from all other numbers; if that "
                    f"means a missing value, missing={code:.0f}."
                )
    return notes


def limit_rows(table: LabelledTable, family: Family, max_rows: int | None, random_state: int) -> None:
    """Go on with a random sample of the training rows where the family or the user wants fewer."""
    most = family.max_training_rows if max_rows is None else max_rows
    n_rows = table.n_rows
    if most is None or n_rows <= most:
        return
    if table.stream is not None and most > len(table.rows):
        table.stream = table.stream.split(most / n_rows, random_state)[1]
        table.n_streamed = table.stream.open().n_rows
    else:
        # not by class: guarantees from the training sample assume a plain sample ([D-36])
        table.keep(np.sort(np.random.default_rng(random_state).permutation(len(table.rows))[:most]))
    why = "" if max_rows is not None else f" (the default of {family.name}; max_rows= changes it)"
    table.notes.append(f"trained on a random sample of {table.n_rows:,} of {n_rows:,} training rows{why}.")


def train(
    table: LabelledTable,
    preparer: TablePreparer,
    estimator: Any,
    verbose: int = 0,
    seen: pd.DataFrame | None = None,
) -> Trained:
    """Fit an estimator on the prepared training rows and measure it on the holdout.

    Parameters
    ----------
    table : LabelledTable
    preparer : TablePreparer
        Fitted.
    estimator : classifier
    verbose : int
    seen : DataFrame, optional
        All rows that took part in preparing and choosing, where they are more than the rows of the fit: the
        model remembers them too ([D-34]).
    """
    rows, prepared = table.rows, preparer.prepare(table.rows.X)
    identifiers = preparer.plan_.identifiers
    # So that `explain` can name rows as the table has them; the rows of a streamed table are too many.
    where = None if table.where is None else table.where.take(rows.places)
    preparer.rows_ = TrainingRows(where, chosen=table.rows_chosen)
    started = time.perf_counter()
    with collecting(table.notes), whole_groups(estimator, table) as groups:
        if table.stream is None:
            estimator.fit(prepared, rows.y, **rows.weights(), **groups)
        else:
            with prepared_table(table, preparer, verbose) as stream:
                estimator.fit(stream)
    seconds = time.perf_counter() - started
    remember(estimator, preparer, table, seen)
    measured = None
    if table.holdout is not None:
        held = preparer.prepare(table.holdout.X)
        held.index = table.row_names(table.holdout, identifiers)
        measured = _measure(estimator, held, table.holdout.y, verbose)
    prepared.index = table.row_names(rows, identifiers)
    pipeline = Pipeline([("table", preparer), ("model", estimator)])
    return Trained(pipeline, preparer, estimator, prepared, seconds, measured)


def _measure(estimator: Any, X: pd.DataFrame, y: pd.Series, verbose: int) -> Measured:
    probabilities = predict_in_blocks(estimator, X, verbose)
    predicted = np.asarray(estimator.classes_)[probabilities.argmax(axis=1)]
    return Measured(
        X,
        probabilities,
        predicted,
        float(np.mean(predicted != y.to_numpy())),
        _log_loss(y, probabilities, estimator.classes_),
    )


def _log_loss(y: pd.Series, probabilities: NDArray[np.float64], classes: NDArray[Any]) -> float:
    """Log-loss; a class that the training rows did not have got probability 0."""
    unknown = [label for label in y.unique() if label not in set(classes.tolist())]
    if unknown:
        probabilities = np.hstack([probabilities, np.zeros((len(y), len(unknown)))])
        labels = np.concatenate([np.asarray(classes, dtype=object), np.array(unknown, dtype=object)])
        order = np.argsort(labels.astype(str), kind="stable")
        y, classes, probabilities = y.astype(str), labels[order].astype(str), probabilities[:, order]
    return float(log_loss(y, probabilities, labels=classes))


@contextmanager
def whole_groups(estimator: Any, table: LabelledTable) -> Iterator[dict[str, Any]]:
    """What `fit` gets so that it holds out whole groups; a note where it cannot.

    Splitters are given the groups here. One that takes no notice of them, and pairs of index arrays that
    divide a group, are used as they are, with a note that names the group.
    """
    rows = table.rows
    if rows.groups is None:
        yield {}
        return
    if table.stream is not None or not has_fit_parameter(estimator, "groups"):
        table.notes.append(_GROUPS_INSIDE)
        yield {}
        return
    cv = estimator.get_params(deep=False).get("cv")
    splits = grouped_splits(cv, rows.y, rows.groups)
    divided = divided_groups(splits or [], rows.groups)
    if divided:
        others = f" and of {plural(len(divided) - 1, 'other group')}" if len(divided) > 1 else ""
        table.notes.append(
            f"cv has rows of group {divided[0]!r}{others} on both sides of a split, so what is tuned by it "
            "may be too good for new groups; use GroupKFold, StratifiedGroupKFold or a number of folds."
        )
    if splits is not None:
        estimator.set_params(cv=splits)
    try:
        yield {"groups": rows.groups}
    finally:
        if splits is not None:
            estimator.set_params(cv=cv)


def remember(
    estimator: Any, preparer: TablePreparer, table: LabelledTable, seen: pd.DataFrame | None = None
) -> None:
    """Let the model know all rows, and groups, that took part; its own memory is the only one ([D-34])."""
    memory = getattr(estimator, "remembered_rows_", None)
    if not isinstance(memory, RememberedRows):
        return
    if seen is not None and len(seen) > len(table.rows):
        rows = RememberedRows.from_table(preparer.prepare(seen), memory.columns)
        estimator.remembered_rows_ = rows.and_rows_of(memory)
    groups = table.rows.groups
    if memory.copied and groups is not None:  # equal rows of one group are no copies
        prepared = preparer.prepare(table.rows.X)
        of_groups = pd.DataFrame({"group": groups, "content": content_hashes(prepared, memory.columns)})
        once = RememberedRows.from_table(prepared[~of_groups.duplicated().to_numpy()], memory.columns)
        memory = estimator.remembered_rows_ = replace(estimator.remembered_rows_, copied=once.copied)
    if (memory.copied or table.sampling.copies == COPIED) and not table.sampling.drop_duplicates:
        table.notes.append(
            "the table looks copied: nothing is guaranteed if copies are on both sides; drop_duplicates=True "
            "removes repeated rows before dividing the table, copies=count counts them."
        )
    if groups is not None:
        names = pd.DataFrame({"group": np.unique(groups.astype(str))})
        preparer.rows_ = replace(preparer.rows_, groups=RememberedRows.from_table(names))


def certificate_of(trained: Trained, table: LabelledTable, delta: float, n_compared: int) -> Certificate:
    """The certificate of a trained model.

    The holdout was not used to choose the family; guarantees from the training sample are corrected for the
    number of families compared on it. Where columns were dropped because of what the sample showed, only the
    holdout gives a guarantee.
    """
    X, y = None, None
    judged = copy.copy(trained.estimator)
    timed: Any = None
    if trained.holdout is not None and table.holdout is not None:
        X, y, predicted = trained.holdout.X, table.holdout.y, trained.holdout.predicted
        judged.predict = lambda X: predicted  # the holdout was predicted already
        timed = table.holdout.times
    elif table.sampling.time is not None:
        timed = table.sampling.time  # without a holdout: no guarantee from rows that are ordered
    return certify(
        judged,
        X,
        y,
        copies=table.sampling.copies,
        groups=(table.rows if X is None or table.holdout is None else table.holdout).groups,
        time=timed,
        delta=delta,
        n_models_in_sample=n_compared,
        fixed_features=trained.preparer.fixed_features_,
    )


def predict_in_blocks(estimator: Any, prepared: pd.DataFrame, verbose: int = 0) -> NDArray[np.float64]:
    """Probabilities, some thousand rows at a time: memory stays small and the progress display moves."""
    parts = []
    with stage(verbose, "predicting", len(prepared)) as advance:
        for start in range(0, len(prepared), ROWS_PER_BLOCK):
            block = prepared.iloc[start : start + ROWS_PER_BLOCK]
            parts.append(np.asarray(estimator.predict_proba(block), dtype=np.float64))
            advance(len(block))
    return np.concatenate(parts) if parts else np.zeros((0, len(estimator.classes_)))
