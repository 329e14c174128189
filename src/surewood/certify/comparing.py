"""`compare_models`: which of two models errs less often, as a claim (theory.md §11.7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from surewood.bounds import AT_LEAST, Entry, Method, Status, Withheld, error_difference, issue_guarantee

from .certificate import Certificate
from .conditions import holdout_conditions
from .counting import NO_ROW_COUNTS, count_rows
from .holdout import read_labels
from .training_rows import TrainingRows

__all__ = ["compare_models"]


def compare_models(
    first: Any,
    second: Any,
    X: Any,
    y: Any,
    *,
    names: tuple[str, str] = ("first", "second"),
    X_train: Any = None,
    delta: float = 0.05,
    copies: str = "auto",
    n_models: int = 1,
) -> Certificate:
    """Report which of two fitted classifiers is guaranteed to err less often on new rows.

    Parameters
    ----------
    first, second : fitted classifiers
    X, y : array-like
        Rows that were not used for training or tuning of either, and their labels.
    names : tuple of str
        What the models are called.
    X_train : array-like, optional
        Training rows of models from other libraries, so that copies of them are not counted.
    delta : float, default=0.05
        Probability that the guarantee, or the limits of the difference, fail.
    copies : {"auto", "natural", "exclude"}
        As in :func:`certify`.
    n_models : int, default=1
        Number of pairs compared on these rows.

    Returns
    -------
    Certificate
        With one GUARANTEE where one model is proved to be better, and the difference with its limits.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.dummy import DummyClassifier
    >>> from surewood import BinnedForestClassifier
    >>> from surewood.certify import compare_models
    >>> X, y = make_classification(800, random_state=0)
    >>> forest = BinnedForestClassifier(20, random_state=0).fit(X[:400], y[:400])
    >>> guess = DummyClassifier().fit(X[:400], y[:400])
    >>> certificate = compare_models(forest, guess, X[400:], y[400:], names=("forest", "guess"))
    >>> certificate.guarantees[0].quantity
    'error of guess minus error of forest'
    """
    truth = read_labels(first, X, y)
    trainings = [TrainingRows(model, X_train) for model in (first, second)]
    both = [count_rows(X, truth.size, training, copies=copies) for training in trainings]
    # a row counts where both models allow it; where one excludes copies, each content counts once
    counted = both[1] if both[1].rule == "exclude" else both[0]
    rows = counted.rows[np.isin(counted.rows, both[0].rows) & np.isin(counted.rows, both[1].rows)]
    wrong = [np.asarray(model.predict(X)).astype(object) != truth.astype(object) for model in (first, second)]
    # one row per content: which one is decided by the order of the file, not by labels
    unit = dict(zip(counted.rows.tolist(), counted.unit.tolist()))
    _, one = np.unique([unit[row] for row in rows.tolist()], return_index=True)
    rows = rows[np.sort(one)]
    if rows.size == 0:
        reason = NO_ROW_COUNTS
        return Certificate((), (Withheld(Method.HOLDOUT, reason),), " and ".join(names), float(delta))
    only = [int((wrong[k] & ~wrong[1 - k])[rows].sum()) for k in (0, 1)]
    found = error_difference(only[0], only[1], rows.size, delta=delta, n_models=n_models)
    sign = 1 if found.difference >= 0 else -1
    worse, better = names if sign > 0 else names[::-1]
    quantity = f"error of {worse} minus error of {better}"
    lower, upper = (found.lower, found.upper) if sign > 0 else (-found.upper, -found.lower)
    parts = {"observed": abs(found.difference), "lower limit": lower, "upper limit": upper}
    parts |= {"p-value of the sign test": found.p_value}
    estimate = Entry(
        method="difference in error",
        status=Status.ESTIMATE,
        value=abs(found.difference),
        sample="holdout",
        n=int(rows.size),
        quantity=quantity,
        decomposition=parts,
        population=counted.population,
    )
    if lower <= 0:
        reason = f"no difference is guaranteed: {quantity} lies between {lower:.4f} and {upper:.4f}"
        withheld = (Withheld(Method.HOLDOUT, reason),)
        return Certificate((estimate,), withheld, " and ".join(names), float(delta), facts=counted.facts)
    known = trainings[0] if not trainings[0].known else trainings[1]
    guarantee = issue_guarantee(
        Method.HOLDOUT,
        value=lower,
        delta=delta,
        n=int(rows.size),
        sample="holdout",
        variant="exact",
        quantity=quantity,
        side=AT_LEAST,
        n_models=n_models,
        conditions=holdout_conditions(counted, known),
        decomposition=parts,
        population=counted.population,
    )
    return Certificate((guarantee, estimate), (), " and ".join(names), float(delta), facts=counted.facts)
