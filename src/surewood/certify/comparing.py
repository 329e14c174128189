"""`compare_models`: which of two models errs less often, as a claim (theory.md §11.7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from surewood.base.counted_rows import NoRowsCountError
from surewood.base.reasons import Reason
from surewood.bounds import Entry, Method, Status, Withheld, error_difference, issue_guarantee
from surewood.bounds.statements import AT_LEAST

from .certificate import Certificate
from .holdout import read_labels
from .model_parts import counted_rows
from .wording import LOWER, UPPER, ends_text

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
    copies: str = "check",
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
        Training rows of models from other libraries.
    delta : float, default=0.05
        Probability that the guarantee, or the limits of the difference, fail.
    copies : {"check", "count", "leave_out"}
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
    truth = read_labels(first, X, y).astype(object)
    try:
        both = [counted_rows(m, X, X_train=X_train, copies=copies) for m in (first, second)]
        rows = np.intersect1d(both[0].rows, both[1].rows)
        if not rows.size:
            why = "the training tables look copied"
            raise NoRowsCountError(Reason.NOTHING_LEFT, n=truth.size, why=why)
    except NoRowsCountError as error:
        withheld = (Withheld(Method.HOLDOUT, str(error), error.reason.name),)
        return Certificate((), withheld, " and ".join(names), float(delta))
    # a row counts where both models allow it
    counted = replace(
        both[0] if both[1].checked else both[1],
        rule="leave_out" if "leave_out" in (both[0].rule, both[1].rule) else "count",
        facts=tuple(dict.fromkeys((*both[0].facts, *both[1].facts))),
    )
    wrong = [np.asarray(model.predict(X)).astype(object) != truth for model in (first, second)]
    only = [int((wrong[k] & ~wrong[1 - k])[rows].sum()) for k in (0, 1)]
    found = error_difference(only[0], only[1], rows.size, delta=delta, n_models=n_models)
    sign = 1 if found.difference >= 0 else -1
    worse, better = names if sign > 0 else names[::-1]
    quantity = f"error of {worse} minus error of {better}"
    lower, upper = (found.lower, found.upper) if sign > 0 else (-found.upper, -found.lower)
    parts = {"observed": abs(found.difference), LOWER: lower, UPPER: upper}
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
        low, high = ends_text(lower, upper)
        sentence = Reason.NO_DIFFERENCE.say(quantity=quantity, lower=low, upper=high)
        withheld = (Withheld(Method.HOLDOUT, sentence, Reason.NO_DIFFERENCE.name),)
        return Certificate((estimate,), withheld, " and ".join(names), float(delta), facts=counted.facts)
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
        conditions=counted.conditions(),
        decomposition=parts,
        population=counted.population,
    )
    return Certificate((guarantee, estimate), (), " and ".join(names), float(delta), facts=counted.facts)
