"""`certify`: from a fitted model and points it has not seen to a certificate."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from surewood.bounds import Condition, Entry, Method, OffersEvidence, Status, Withheld, clopper_pearson
from surewood.bounds import _arguments as check

from .certificate import Certificate
from .claims import BY_CALLER, Caller, Reading, claim_or_withhold
from .from_evidence import read_all

__all__ = ["certify"]


def certify(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    delta: float = 0.05,
    n_models: int = 1,
    n_models_in_sample: int = 1,
    sample: str = "holdout",
    fixed_features: bool = True,
    methods: str | Collection[str] | None = None,
) -> Certificate:
    """Say what may be promised about a fitted classifier.

    Parameters
    ----------
    model : object with ``predict``
        Any fitted classifier. One with a method ``__certificate_evidence__`` (see
        :mod:`surewood.bounds.evidence`) is also certified by its own structure and training sample.
    X, y : array-like, optional
        Points and labels. May be left out for a model that offers evidence.
    delta : float, default=0.05
        Probability that any guarantee of the certificate fails; divided among the methods, so that the
        smallest value may be quoted.
    n_models : int, default=1
        Number of models of which this one was chosen on `X`, `y`. Guarantees from the training sample are
        corrected for them too: each of the models had its own chance to fail.
    n_models_in_sample : int, default=1
        Number of settings compared by out-of-bag errors, certificates or the like on the training sample
        to arrive at one of those models, beyond the settings the model itself knows of.
    sample : {"holdout", "training"}
        What `X`, `y` are. With ``holdout`` you state that they influenced nothing: not training, tuning,
        stopping or scaling. Training points give an estimate only.
    fixed_features : bool, default=True
        You state that nothing was fitted on the training sample before the model saw it: no scaler, encoder
        or choice of features. False leaves only the holdout.
    methods : Method or collection of them, optional
        Guarantees to give, chosen before looking at any; all that apply unless given.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from surewood.certify import certify
    >>> X, y = make_classification(1000, class_sep=2.0, random_state=0)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X[:500], y[:500])
    >>> certificate = certify(forest, X[500:], y[500:])
    >>> certificate.is_trivial, str(certificate.best.status)
    (False, 'GUARANTEE')
    """
    chosen = _chosen_methods(methods)
    if sample not in ("holdout", "training"):
        raise ValueError(f"sample must be one of holdout, training, got {sample!r}")
    check.confidence(delta)
    n_models = check.count(n_models, "n_models", 1)
    n_models_in_sample = check.count(n_models_in_sample, "n_models_in_sample", 1)
    if not callable(getattr(model, "predict", None)):
        raise TypeError(f"model must have a predict method, got {type(model).__name__}")
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together")
    offers = isinstance(model, OffersEvidence)
    if X is None and not offers:
        raise ValueError(f"X and y are needed: {type(model).__name__} offers no evidence of its own")
    caller = Caller(n_models * n_models_in_sample, fixed_features)
    reading = read_all(model.__certificate_evidence__(), caller) if offers else Reading()
    if X is not None:
        reading = _with_points(reading, model, X, y, n_models=n_models, sample=sample)
    return _issue(reading, type(model).__name__, delta, chosen)


def _chosen_methods(methods: str | Collection[str] | None) -> set[str]:
    if methods is None:
        return {str(method) for method in Method}
    methods = [methods] if isinstance(methods, str) else methods
    known = {method.name.lower(): method for method in Method} | {str(method): method for method in Method}
    unknown = [str(name) for name in methods if str(name) not in known]
    if unknown:
        raise ValueError(
            f"methods must be among {', '.join(m.name.lower() for m in Method)}, got {unknown[0]!r}"
        )
    return {str(known[str(name)]) for name in methods}


def _with_points(reading: Reading, model: Any, X: Any, y: Any, *, n_models: int, sample: str) -> Reading:
    """Put the given points first: their error, and on a holdout the claim (6.1)."""
    import pandas as pd

    truth = column_or_1d(y)
    n = truth.shape[0]
    if n == 0:
        raise ValueError("X and y must have at least one point")
    check_consistent_length(X, truth)
    if pd.isna(truth).any():
        raise ValueError("y must not have missing labels")
    known = getattr(model, "classes_", None)
    if isinstance(known, np.ndarray) and known.ndim == 1 and not np.isin(truth, known).any():
        raise ValueError(f"y must hold labels the model knows, such as {known[0]}; got {truth[0]}")
    predicted = np.asarray(model.predict(X))
    if predicted.shape != truth.shape:
        raise ValueError(f"model.predict must return one label a point, got shape {predicted.shape}")
    # as objects: NumPy refuses to compare text with numbers, Python calls them different
    errors = int(np.count_nonzero(predicted.astype(object) != truth.astype(object)))
    estimate = Entry(
        method=f"{sample} error",
        status=Status.ESTIMATE,
        value=errors / n,
        sample=sample,
        n=n,
        biased=sample == "training" or n_models > 1,
        decomposition={"errors": errors},
    )
    own = Reading(majority_error=1.0 - int(np.unique(truth, return_counts=True)[1].max()) / n)
    claim_or_withhold(
        own,
        Method.HOLDOUT,
        (Condition("the points influenced nothing about the model", sample == "holdout", BY_CALLER),),
        lambda share: {
            "value": clopper_pearson(errors, n, delta=share, n_models=n_models),
            "decomposition": {"errors": errors, "error rate": errors / n},
        },
        variant="exact",
        sample=sample,
        n=n,
        n_models=n_models,
    )
    own.claims += reading.claims
    own.entries = [estimate, *reading.entries]
    own.withheld += reading.withheld
    return own


def _issue(reading: Reading, model: str, delta: float, chosen: set[str]) -> Certificate:
    """Divide delta equally among the claims and issue them."""
    claims = [claim for claim in reading.claims if claim.method in chosen]
    left_out = [
        Withheld(claim.method, "not among the methods asked for")
        for claim in reading.claims
        if claim.method not in chosen
    ]
    issued = [claim.issue(delta / len(claims)) for claim in claims]
    return Certificate(
        entries=(*issued, *reading.entries),
        withheld=(*reading.withheld, *left_out),
        model=model,
        delta=float(delta),
        majority_error=reading.majority_error,
    )
