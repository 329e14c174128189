"""Training on a labelled table: prepare the columns, fit, measure on the holdout, certify."""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.pipeline import Pipeline

from surewood.certify import Certificate, certify
from surewood.estimators.remembered import RememberedRows
from surewood.estimators.wording import plural
from surewood.parallel.progress import stage
from surewood.tables import TablePreparer
from surewood.tables.planning.column_plan import read_column
from surewood.tables.planning.finding import LIKE_IDENTIFIERS, OPEN_DATES, RARE_CATEGORIES
from surewood.tables.planning.missing_codes import find_number_code
from surewood.workflow.column_options import ColumnOptions
from surewood.workflow.families import Family
from surewood.workflow.labelled_table import LabelledTable, collecting
from surewood.workflow.large_table import prepared_table
from surewood.workflow.splits import divided_groups, grouped_splits

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
    made = (options or ColumnOptions()).make_plan(table.X)
    preparer = TablePreparer(plan=made).fit(table.X)
    table.notes += [f"column {name!r} is not used: {why}." for name, why in preparer.dropped_.items()]
    for column in preparer.plan_.used:
        if column.n_lost:
            values = plural(column.n_lost, "value")
            table.notes.append(
                f"{values} of {column.name!r} cannot be read as a {column.kind}; treated as missing."
            )
        if column.reason.startswith(OPEN_DATES):
            table.notes.append(f"column {column.name!r}: {column.reason}.")
        if column.reason.endswith(RARE_CATEGORIES):
            table.notes.append(f"column {column.name!r}: {column.reason}, which count as one category.")
        if column.reason.endswith(LIKE_IDENTIFIERS):
            table.notes.append(f"column {column.name!r} is used: {column.reason} If so, drop={column.name}.")
    table.notes += _number_codes(preparer, table.X)
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
    if table.stream is not None and most > len(table.y):
        table.stream = table.stream.split(most / n_rows, random_state)[1]
        table.n_streamed = table.stream.open().n_rows
    else:
        # not by class: guarantees from the training sample assume a plain sample ([D-36])
        table.keep(np.sort(np.random.default_rng(random_state).permutation(len(table.y))[:most]))
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
    prepared = preparer.transform(table.X)
    identifiers = preparer.plan_.identifiers
    # So that `explain` can name rows as the table has them; the rows of a streamed table are too many.
    preparer.row_numbers_ = None if table.stream is not None else table.row_numbers
    preparer.row_unit_, preparer.row_files_ = table.row_unit, table.files
    started = time.perf_counter()
    with collecting(table.notes), whole_groups(estimator, table):
        if table.stream is None:
            estimator.fit(prepared, table.y, **_weights(table))
        else:
            with prepared_table(table, preparer, verbose) as rows:
                estimator.fit(rows)
    seconds = time.perf_counter() - started
    remember(estimator, preparer, table, seen)
    measured = None
    if table.holdout is not None:
        held = preparer.transform(table.holdout[0])
        held.index = table.row_names(identifiers, held_out=True)
        measured = _measure(estimator, held, table.holdout[1], verbose)
    prepared.index = table.row_names(identifiers)
    pipeline = Pipeline([("table", preparer), ("model", estimator)])
    return Trained(pipeline, preparer, estimator, prepared, seconds, measured)


def _weights(table: LabelledTable) -> dict[str, Any]:
    return {} if table.weight is None else {"sample_weight": table.weight}


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
def whole_groups(estimator: Any, table: LabelledTable) -> Iterator[None]:
    """Inside, an estimator with `cv` gets folds in which groups stay whole; for others there is a note.

    A splitter is given the groups. One that takes no notice of them, and pairs of index arrays that divide a
    group, are used as they are, with a note that names the group.
    """
    if table.groups is None:
        yield
        return
    given = estimator.get_params(deep=False)
    cv = given.get("cv")
    splits = None
    if table.stream is None:
        splits = grouped_splits(cv, table.y, table.groups, given.get("random_state") or 0)
    if splits is None:
        table.notes.append(_GROUPS_INSIDE)
        yield
        return
    divided = divided_groups(splits, table.groups)
    if divided:
        others = f" and of {plural(len(divided) - 1, 'other group')}" if len(divided) > 1 else ""
        table.notes.append(
            f"cv has rows of group {divided[0]!r}{others} on both sides of a split, so what is tuned by it "
            "may be too good for new groups; use GroupKFold, StratifiedGroupKFold or a number of folds."
        )
    estimator.set_params(cv=splits)
    try:
        yield
    finally:
        estimator.set_params(cv=cv)


def remember(
    estimator: Any, preparer: TablePreparer, table: LabelledTable, seen: pd.DataFrame | None = None
) -> None:
    """Let the model know all rows, and groups, that took part; its own memory is the only one ([D-34])."""
    preparer.row_keys_ = np.empty(0, dtype=np.uint64)
    memory = getattr(estimator, "remembered_rows_", None)
    if not isinstance(memory, RememberedRows):
        return
    if seen is not None and len(seen) > len(table.y):
        memory = memory.also(preparer.transform(seen))
        estimator.remembered_rows_ = memory
    if table.groups is not None:
        groups = pd.DataFrame({"group": np.unique(table.groups.astype(str))})
        preparer.training_groups_ = RememberedRows.from_table(groups, salt=memory.salt)


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
        X, y, predicted = trained.holdout.X, table.holdout[1], trained.holdout.predicted
        judged.predict = lambda X: predicted  # the holdout was predicted already
        timed = table.holdout_times
    elif table.sampling.time is not None:
        timed = table.sampling.time  # without a holdout: no guarantee from rows that are ordered
    return certify(
        judged,
        X,
        y,
        copies=table.sampling.copies,
        groups=table.groups if X is None else table.holdout_groups,
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


def peak_memory() -> int | None:
    """Largest resident memory of this process so far, in bytes; None where the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)
