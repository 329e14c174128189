"""`certify`: from a fitted model and rows it has not seen to a certificate."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from surewood.bounds import Entry, Method, OffersEvidence, Withheld
from surewood.bounds import _arguments as check

from .certificate import Certificate
from .from_evidence import read_all
from .holdout import HoldoutRequest, read_holdout
from .reading import Caller, Reading
from .rendering import rounded_up
from .training_rows import TrainingRows, fitted_steps, inner_model, settings_searched

__all__ = ["certify"]


def certify(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    X_train: Any = None,
    copies: str = "auto",
    groups: Any = None,
    time: Any = None,
    claims: Any = None,
    delta: float = 0.05,
    n_models: int = 1,
    n_models_in_sample: int = 1,
    sample: str = "holdout",
    fixed_features: bool | None = None,
    methods: str | Collection[str] | None = None,
) -> Certificate:
    """Report what is guaranteed about a fitted classifier.

    Parameters
    ----------
    model : object with ``predict``
        Any fitted classifier. One with a method ``__certificate_evidence__`` (see
        :mod:`surewood.bounds.evidence`) is also certified by its own structure and training sample.
    X, y : array-like, optional
        Rows and labels. May be left out for a model that offers evidence.
    X_train : array-like, optional
        The training rows of a model from another library, so that copies of them are not counted.
        Classifiers of this package remember their own.
    copies : {"auto", "natural", "exclude"}
        ``"exclude"``: rows that are copies of training rows are not counted, and equal rows count once; the
        claim is about new rows that are not copies. ``"natural"``: you state that equal rows are
        independent draws, and all are counted. ``"auto"`` takes "natural" only where every column is
        discrete (at most 50 values) and copies are no more frequent than among the training rows.
    groups : str, list of str or array, optional
        Rows of one group (a patient, a device) belong together: a column of `X`, several, or one label per
        row. The claim is then about a new row of a new group, and the group is the unit.
    time : str or array, optional
        A column of `X` or one value per row, where rows are ordered in time: then there is no guarantee,
        only an estimate.
    claims : name, Claim or list of them, optional
        What to guarantee, named before looking: ``"error"`` (default), ``"accuracy"``, ``"recall:bad"``,
        ``"fpr:bad"``, ``"precision:bad"``, ``"f1:bad"``, ``"balanced_accuracy"``, ``"brier"``,
        ``"error_by:column"``, or a :class:`Claim`. All share `delta`.
    delta : float, default=0.05
        Probability that any guarantee of the certificate fails; divided among all of them, so that any one
        may be quoted.
    n_models : int, default=1
        Number of models of which this one was chosen on `X`, `y`. Guarantees from the training sample are
        corrected for them too: each of the models had its own chance to fail.
    n_models_in_sample : int, default=1
        Number of settings compared by out-of-bag errors, certificates or the like on the training sample
        to arrive at one of those models, beyond the settings the model itself knows of.
    sample : {"holdout", "training"}
        What `X`, `y` are. With ``holdout`` you state that they were not used for training, tuning, stopping
        or scaling. Training rows give an estimate only.
    fixed_features : bool, optional
        Whether nothing was fitted on the training sample before the model saw it: no scaler, encoder or
        feature selection. By default False for a pipeline with fitted steps and True otherwise, as an
        assumption that the certificate lists. False leaves only the holdout.
    methods : Method or collection of them, optional
        Guarantees to give, chosen before looking at any; by default all that apply.

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
    >>> certificate = certify(forest, X[500:], y[500:], X_train=X[:500])
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
    speaker = model if isinstance(model, OffersEvidence) else inner_model(model)
    offers = isinstance(speaker, OffersEvidence)
    if X is None and not offers:
        raise ValueError(f"X and y are needed: {type(model).__name__} offers no evidence of its own")
    training, steps = TrainingRows(model, X_train), fitted_steps(model)
    caller = Caller(
        n_models * n_models_in_sample * settings_searched(model),
        fixed_features=not steps if fixed_features is None else bool(fixed_features) and not steps,
        fitted_steps=steps,
        copies=training.too_many_copies,
        ordered=time is not None or groups is not None,
    )
    reading = Reading()
    facts: tuple[str, ...] = ()
    if X is not None:
        request = HoldoutRequest(sample, n_models, copies, claims, groups, time)
        reading, facts = read_holdout(model, X, y, training, request)
    if offers:
        reading.add(read_all(speaker.__certificate_evidence__(), caller))
    return _issue(reading, type(model).__name__, delta, chosen, facts)


# Betting is not a choice of its own: it is how a holdout is read where losses are not 0 or 1.
_SELECTABLE = [method for method in Method if method is not Method.BETTING]


def _chosen_methods(methods: str | Collection[str] | None) -> set[str]:
    if methods is None:
        return {str(method) for method in _SELECTABLE}
    methods = [methods] if isinstance(methods, str) else methods
    known = {method.name.lower(): method for method in _SELECTABLE}
    known |= {str(method): method for method in _SELECTABLE}
    unknown = [str(name) for name in methods if str(name) not in known]
    if unknown:
        raise ValueError(
            f"methods must be among {', '.join(m.name.lower() for m in _SELECTABLE)}, got {unknown[0]!r}"
        )
    return {str(known[str(name)]) for name in methods}


def _issue(
    reading: Reading, model: str, delta: float, chosen: set[str], facts: tuple[str, ...]
) -> Certificate:
    """Divide delta equally among the claims and issue them (theory.md §11.2)."""
    claims = [claim for claim in reading.claims if claim.method in chosen]
    left_out = [
        Withheld(claim.method, "not among the methods asked for")
        for claim in reading.claims
        if claim.method not in chosen
    ]
    issued = [claim.issue(delta / len(claims)) for claim in claims]
    facts = (*facts, *_both_ways(issued))
    return Certificate(
        entries=(*issued, *reading.entries),
        withheld=(*reading.withheld, *left_out),
        model=model,
        delta=float(delta),
        majority_error=reading.majority_error,
        facts=facts,
    )


def _both_ways(issued: list[Entry]) -> list[str]:
    """How the limit from out-of-bag rows compares with that of the holdout, where there are both."""
    errors = [entry for entry in issued if entry.quantity == "error"]
    held = [entry for entry in errors if entry.sample == "holdout"]
    votes = [entry for entry in errors if entry.sample == "out-of-bag"]
    if not held or not votes:
        return []
    best = min(votes, key=lambda entry: entry.value)
    return [
        f"The error is at most {rounded_up(held[0].value)} by the {held[0].n:,} holdout {held[0].unit}, and "
        f"at most {rounded_up(best.value)} by the votes on out-of-bag rows; both hold together."
    ]
