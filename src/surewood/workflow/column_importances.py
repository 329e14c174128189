"""Which columns matter to a saved model, measured on labelled rows: `importances`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surewood.certify.training_rows import TrainingRows
from surewood.estimators.describing import sample_rows, take_rows
from surewood.estimators.wording import plural
from surewood.inspect.importance import Importances, permutation_importances
from surewood.workflow.certifying import labelled_rows
from surewood.workflow.errors import WorkflowError
from surewood.workflow.labelled_table import Source
from surewood.workflow.model_folder import SavedModel, open_model

MOST_ROWS = 1000
_ENOUGH_NEW_ROWS = 20


@dataclass(frozen=True)
class ColumnImportances:
    """Result of :func:`importances`.

    Attributes
    ----------
    importances : Importances
        How much worse the predictions get when a column is shuffled.
    table : str
        Name of the table.
    n_rows : int
        Rows that were used.
    notes : tuple of str

    Examples
    --------
    >>> found = Importances(["age"], np.array([0.2]), np.array([0.1]), np.array([0.3]), "log_loss", 0.4, 0.95)
    >>> ColumnImportances(found, "churn.csv", 100, ()).n_rows
    100
    """

    importances: Importances
    table: str
    n_rows: int
    notes: tuple[str, ...]


def importances(
    model: str | Path | SavedModel,
    table: Source,
    target: str | None = None,
    *,
    metric: str = "log_loss",
    n_repeats: int = 5,
    max_rows: int = MOST_ROWS,
) -> ColumnImportances:
    """Permutation importances of the columns of a labelled table, with intervals (ESTIMATE).

    Rows that the model was trained with are left out where enough others remain. Of more than 1,000 columns
    the 250 most important ones are shuffled one by one and all others together, as
    :func:`surewood.inspect.permutation_importances` does.

    Parameters
    ----------
    model : str, Path or SavedModel
        A model file, or the folder that :func:`fit` wrote.
    table : str, Path or list of them
        A table file, several of one shape, or the name of a built-in data set.
    target : str, optional
        The column of the classes; by default the one the model was trained with.
    metric : {"log_loss", "brier", "error"}, default="log_loss"
        What gets worse when a column is shuffled.
    n_repeats : int, default=5
        Shuffles per column.
    max_rows : int, default=1000
        More rows are sampled.

    Returns
    -------
    ColumnImportances
        Named as the table names its columns.

    Examples
    --------
    >>> from surewood import workflow
    >>> fitted = workflow.fit("iris", model="rcf", out="iris-model")
    >>> found = workflow.importances("iris-model", "iris").importances
    >>> found.frame()["column"].iloc[0].startswith("petal")
    True
    """
    saved = open_model(model)
    labelled = labelled_rows(saved, table, target)
    notes = [*labelled.notes, *saved.notes_about(labelled.X)]
    rows = np.flatnonzero(labelled.y.isin(saved.classes.tolist()))
    if len(rows) < len(labelled.y):
        missing = plural(len(labelled.y) - len(rows), "row")
        notes.append(f"{missing} of other classes than the model's left out.")
    prepared = saved.prepare(take_rows(labelled.X, rows))
    new = rows[~np.asarray(TrainingRows(saved.estimator).copies(prepared, len(rows)))]
    if len(new) >= min(_ENOUGH_NEW_ROWS, len(rows)):
        if len(new) < len(rows):
            notes.append(f"{plural(len(rows) - len(new), 'row')} equal to training rows left out.")
        rows = new
    else:
        notes.append(
            f"{plural(len(rows) - len(new), 'row')} of {len(rows):,} equal to training rows: on these, "
            "columns look more important than they are for new rows."
        )
    rows = rows[sample_rows(len(rows), max_rows)]
    y = saved.classes[[saved.classes.tolist().index(label) for label in labelled.y.iloc[rows].tolist()]]
    try:
        found = permutation_importances(saved, take_rows(labelled.X, rows), y, n_repeats, metric)
    except ValueError as error:
        raise WorkflowError(str(error)) from error
    return ColumnImportances(found, labelled.name, len(rows), tuple(notes))
