"""Support points nearest to a row: the training rows that a kernel SVM compares it with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.svm.one_vs_one import Predictor
from surewood.tables import FitInputs, plain

__all__ = ["first_rows", "nearest_support"]

NEAREST = 5  # support points that an explanation shows


def nearest_support(
    predictor: Predictor, design: NDArray[np.float64], labels: Any, rows: NDArray[Any] | None = None
) -> list[dict[str, Any]]:
    """The support points nearest to one row, as ``row``, ``distance`` and ``label``.

    Distances are those of the design matrix: standardised numbers, one-hot categories.

    Parameters
    ----------
    predictor : Predictor
        All its SVMs count.
    design : ndarray, shape (d,)
        The row as SVMs see it.
    labels : ndarray
        Labels by class code.
    rows : ndarray of int, optional
        Training row of each support point, where it is known.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.svm import Gram, nearest_support, solve_many
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> predictor = solve_many(Gram(X), [np.arange(4)], y, degrees=[1], C=[10.0]).predictor()
    >>> nearest_support(predictor, np.array([0.5]), ["no", "yes"])[0]
    {'row': None, 'distance': 0.5, 'label': 'yes'}
    """
    owner = np.zeros(len(predictor.support_rows), dtype=np.int64)
    owner[predictor.support] = np.repeat(predictor.classes, predictor.class_support)
    with np.errstate(over="ignore"):
        distance = np.sqrt(((predictor.support_rows - design) ** 2).sum(axis=1))
    order = np.argsort(distance, kind="stable")[:NEAREST]
    return [
        {
            "row": None if rows is None else int(rows[k]),
            "distance": plain(distance[k]),
            "label": plain(labels[owner[k]]),
        }
        for k in order
    ]


def first_rows(inputs: FitInputs) -> NDArray[np.int64]:
    """The first row of X that became each row of the table of a fit.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from surewood.svm import first_rows
    >>> from surewood.tables import begin_fit
    >>> inputs = begin_fit(DummyClassifier(), [[2.0], [2.0], [1.0]], ["yes", "yes", "no"])
    >>> sorted(first_rows(inputs).tolist())
    [0, 2]
    """
    if inputs.inverse is None:
        return np.arange(inputs.table.n_rows)
    merged, first = np.unique(inputs.inverse, return_index=True)
    return np.asarray(first[merged >= 0])
