"""Permutation importances: scikit-learn's, under one roof with the other views of a model."""

from __future__ import annotations

from typing import Any

__all__ = ["permutation_importance"]


def permutation_importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    n_repeats: int = 5,
    n_jobs: int | None = None,
    random_state: Any = None,
    sample_weight: Any = None,
    max_samples: int | float = 1.0,
) -> Any:
    """How much worse a model predicts when one column is shuffled.

    This is :func:`sklearn.inspection.permutation_importance` itself, so values agree with it for the same
    seed. Unlike ``feature_importances_`` it does not favour columns with many values, and it works for
    models without trees; correlated columns split their importance among them.

    Parameters
    ----------
    model : fitted classifier
    X, y : table and labels
        Preferably rows that were held out from the fit.
    scoring, n_repeats, n_jobs, random_state, sample_weight, max_samples
        As there.

    Returns
    -------
    Bunch
        ``importances_mean``, ``importances_std``, ``importances``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import BinnedForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BinnedForestClassifier(20, random_state=0).fit(X, y)
    >>> permutation_importance(model, X, y, random_state=0).importances_mean.argmax() in (2, 3)
    True
    """
    from sklearn import inspection

    return inspection.permutation_importance(
        model,
        X,
        y,
        scoring=scoring,
        n_repeats=n_repeats,
        n_jobs=n_jobs,
        random_state=random_state,
        sample_weight=sample_weight,
        max_samples=max_samples,
    )
