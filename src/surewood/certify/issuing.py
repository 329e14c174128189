"""`certify`: from a fitted model and rows it has not seen to a certificate."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.base.counted_rows import COPIED, ENTERED_AGAIN, REMOVED, CountedRows, NoRowsCountError
from surewood.base.reasons import Reason
from surewood.bounds import Condition, Entry, Method, Status, Withheld, issue_guarantee
from surewood.bounds import _arguments as check
from surewood.bounds.evidence import OffersEvidence
from surewood.tables import ParquetTable

from .certificate import Certificate
from .claims import KINDS, Claim, Scored, claim_fields, read_claims
from .from_evidence import Caller, Pending, Reading, read_all
from .holdout import as_times, group_labels, probabilities_of, read_labels
from .model_parts import counted_rows, fitted_steps, inner_model, memory_of, settings_searched
from .wording import NEW_GROUPS, SUCH_GROUPS, limit_value

__all__ = ["certify"]


def certify(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    X_train: Any = None,
    copies: str = "check",
    groups: Any = None,
    time: Any = None,
    stratified: bool = False,
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
        Rows and labels. May be left out for a model that offers evidence. A
        :class:`~surewood.ParquetTable` has both; its rows are read into memory.
    X_train : array-like, optional
        The training rows of a model from another library, to look for them among the rows of `X`.
        Classifiers of this package remember their own, in a pipeline as its steps passed them on.
    copies : {"check", "count", "leave_out"}
        ``"check"``: all rows count, unless the training table looks copied; then rows that equal a training
        row are left out, and the claim is about the others. ``"count"`` and ``"leave_out"`` overrule
        this, as an assumption of yours.
    groups : str, list of str or array, optional
        Rows of one group (a patient, a device) belong together: a column of `X`, several, or one label per
        row. The claim is then about the average over new groups, each group counting once.
    time : str or array, optional
        A column of `X` or one value per row, where rows are ordered in time: then there is no guarantee,
        only an estimate.
    stratified : bool, default=False
        The holdout was drawn with fixed numbers of rows per class. The claim is about the error under the
        class fractions of `y`, from limits per class.
    claims : name, Claim or list of them, optional
        What to guarantee, named before looking: ``"error"`` (default), ``"accuracy"``, ``"recall:bad"``,
        ``"fpr:bad"``, ``"precision:bad"``, ``"f1:bad"``, ``"specificity:bad"``, ``"npv:bad"``,
        ``"mcc:bad"``, ``"auc:bad"``, ``"calibration:bad"``, ``"balanced_accuracy"``, ``"brier"``,
        ``"log_loss"``, ``"error_by:column"``, or a :class:`Claim`. All share `delta`.
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
        choice of columns or rows. By default False for a pipeline with fitted steps and True otherwise, as an
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
    >>> certificate.verdict
    'guaranteed: error at most 2.1 % on new rows, with probability at least 95 %'
    """
    chosen = _chosen_methods(methods)
    if sample not in ("holdout", "training"):
        raise ValueError(f"sample must be one of holdout, training, got {sample!r}")
    check.confidence(delta)
    n_models = check.count(n_models, "n_models", 1)
    n_models_in_sample = check.count(n_models_in_sample, "n_models_in_sample", 1)
    if not callable(getattr(model, "predict", None)):
        raise TypeError(f"model must have a predict method, got {type(model).__name__}")
    if isinstance(X, ParquetTable) and y is None:
        X, y = X.labelled()
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together")
    if stratified and groups is not None:
        raise ValueError("stratified=True cannot be combined with groups")
    speaker = model if isinstance(model, OffersEvidence) else inner_model(model)
    offers = isinstance(speaker, OffersEvidence)
    if X is None and not offers:
        raise ValueError(f"X and y are needed: {type(model).__name__} offers no evidence of its own")
    facts: list[Any] = []
    reading, counted, scored = Reading(), None, None
    if X is not None:
        truth = read_labels(model, X, y).astype(object)
        labels = getattr(model, "classes_", None)
        classes = list(labels) if isinstance(labels, np.ndarray) and labels.ndim == 1 else None
        wanted = read_claims(claims, classes)
        group = None if groups is None else group_labels(groups, X, truth.size)[0]
        if time is not None:
            as_times(time, X, truth.size)
        whole = _predict(model, X, truth, classes, wanted, group, stratified)
        withheld: Withheld | None = None
        if sample == "training":
            withheld = _withheld(Reason.TRAINING_SAMPLE)
        else:
            try:
                counted = counted_rows(model, X, X_train=X_train, copies=copies, groups=group, labels=truth)
                facts += counted.facts
            except NoRowsCountError as error:
                withheld = Withheld(Method.HOLDOUT, str(error), error.reason.name)
        scored = whole if counted is None else _taken(whole, counted.rows)
        if withheld is None and time is not None:
            withheld = _withheld(Reason.TIME)
        elif withheld is None and group is not None and scored.n_units < 2:
            withheld = _withheld(Reason.ONE_GROUP)
        biased = withheld is not None and withheld.code not in (Reason.TIME.name, Reason.ONE_GROUP.name)
        reading = _measured(scored, counted, sample, biased or n_models > 1)
        if withheld is not None:
            reading.withheld.append(withheld)
        elif counted is not None:
            reading.claims += [
                _pending(claim, k, scored, counted, n_models) for k, claim in enumerate(wanted)
            ]
    if offers:
        memory, steps = memory_of(model), fitted_steps(model)
        caller = Caller(
            n_models * n_models_in_sample * settings_searched(model),
            fixed_features=not steps if fixed_features is None else bool(fixed_features) and not steps,
            fitted_steps=steps,
            copies=copies == COPIED or (memory is not None and memory.copied),
            removed=copies in (ENTERED_AGAIN, REMOVED),
            ordered=time is not None or groups is not None,
        )
        reading.add(read_all(speaker.__certificate_evidence__(), caller))
    pending = [claim for claim in reading.claims if claim.method in chosen]
    left_out = [Withheld(c.method, Reason.NOT_ASKED.say()) for c in reading.claims if c.method not in chosen]
    issued = [claim.issue(delta / len(pending)) for claim in pending]
    other = None
    if counted is not None and scored is not None and any(entry.sample == "holdout" for entry in issued):
        other = _other_rows(scored, counted, delta, n_models)
    return Certificate(
        entries=(*issued, *reading.entries),
        withheld=(*reading.withheld, *left_out),
        model=type(model).__name__,
        delta=float(delta),
        majority_error=reading.majority_error,
        facts=(*facts, *_both_ways(issued)),
        other_rows=other,
        copies=None if counted is None else counted.rule,
    )


def _withheld(reason: Reason) -> Withheld:
    return Withheld(Method.HOLDOUT, reason.say(), reason.name)


def _predict(
    model: Any,
    X: Any,
    truth: NDArray[Any],
    classes: list[Any] | None,
    claims: list[Claim],
    groups: NDArray[Any] | None,
    stratified: bool,
) -> Scored:
    """All rows with their predictions, and what the claims need."""
    # as objects: NumPy refuses to compare text with numbers, Python calls them different
    predicted = np.asarray(model.predict(X)).astype(object)
    if predicted.shape != truth.shape:
        raise ValueError(f"model.predict must return one label per row, got shape {predicted.shape}")
    by = {
        k: group_labels(claim.by, X, truth.size, "error_by")
        for k, claim in enumerate(claims)
        if claim.quantity == "error_by"
    }
    p = None
    of_probabilities = [claim for claim in claims if KINDS[claim.quantity].probabilities]
    if of_probabilities:
        if not callable(getattr(model, "predict_proba", None)) or classes is None:
            raise ValueError(f"claim {of_probabilities[0].quantity!r} needs a model with predict_proba")
        p = probabilities_of(model, X, truth.size)
    return Scored(truth, predicted, p, classes, by, groups, stratified)


def _taken(whole: Scored, rows: NDArray[Any]) -> Scored:
    """Some of the rows."""
    return Scored(
        whole.truth[rows],
        whole.predicted[rows],
        None if whole.probabilities is None else whole.probabilities[rows],
        whole.classes,
        {k: (labels[rows], words) for k, (labels, words) in whole.by.items()},
        None if whole.groups is None else whole.groups[rows],
        whole.stratified,
    )


def _measured(scored: Scored, counted: CountedRows | None, sample: str, biased: bool) -> Reading:
    """The error, of groups also by rows, and the baseline."""
    by_rows = float(scored.wrong.mean())

    def estimate(method: str, value: float, unit: str, n: int) -> Entry:
        return Entry(
            method=method,
            status=Status.ESTIMATE,
            value=value,
            sample=sample,
            n=n,
            unit=unit,
            biased=biased,
            decomposition={"errors": float(scored.wrong.sum())},
            population="" if counted is None else counted.population,
        )

    entries = [estimate(f"{sample} error", by_rows, "rows", scored.truth.size)]
    if scored.groups is not None:
        of_groups = scored.mean(scored.wrong)
        entries[0] = estimate(f"{sample} error, by rows", by_rows, "rows", scored.truth.size)
        entries.insert(0, estimate(f"{sample} error, mean over groups", of_groups, "groups", scored.n_units))
    return Reading(entries=entries, majority_error=scored.majority_error)


def _conditions(scored: Scored, counted: CountedRows) -> list[Condition]:
    if scored.stratified:
        text = "within each class, rows of the holdout are independent draws (stratified=True)"
        return counted.conditions(text)
    if scored.groups is not None:
        return counted.conditions("groups are independent draws, and none of them was in the training rows")
    return counted.conditions()


def _population(claim: Claim, scored: Scored, counted: CountedRows) -> str:
    if scored.groups is not None and counted.rule == "count":
        among_some = KINDS[claim.quantity].needs in ("of", "by")
        return SUCH_GROUPS if among_some else NEW_GROUPS
    shares = " with the class fractions of this holdout" if scored.stratified else ""
    return f"{counted.population}{shares}"


def _pending(
    claim: Claim, position: int, scored: Scored, counted: CountedRows, n_models: int, note: str = ""
) -> Pending:
    population = _population(claim, scored, counted)

    def issue(delta: float) -> Entry:
        fields = claim_fields(claim, position, scored, delta, n_models)
        fields["note"] = note or fields["note"]
        return issue_guarantee(
            fields.pop("method"),
            delta=delta,
            variant="exact",
            sample="holdout",
            n_models=n_models,
            conditions=_conditions(scored, counted),
            population=population,
            unit=scored.unit,
            **fields,
        )

    return Pending(Method.HOLDOUT, issue)


def _other_rows(scored: Scored, counted: CountedRows, delta: float, n_models: int) -> Entry | None:
    """The error on the rows that do not equal a training row, where many of the counted ones do."""
    if not counted.has_many_matches or scored.groups is not None or scored.stratified:
        return None
    others = _taken(scored, np.flatnonzero(~counted.matches))
    no_copies = replace(counted, rule="leave_out", by_caller=False)
    note = "a claim of its own: it fails with probability delta, whatever the others do"
    return _pending(Claim("error"), 0, others, no_copies, n_models, note).issue(delta)


def _both_ways(issued: list[Entry]) -> list[str]:
    """How the limit from out-of-bag rows compares with that of the holdout, where there are both."""
    errors = [entry for entry in issued if entry.quantity == "error"]
    held = [entry for entry in errors if entry.sample == "holdout"]
    votes = [entry for entry in errors if entry.sample == "out-of-bag"]
    if not held or not votes:
        return []
    best = min(votes, key=lambda entry: entry.value)
    return [
        f"The error is at most {limit_value(held[0])} by the {held[0].n:,} holdout {held[0].unit}, and "
        f"at most {limit_value(best)} by the votes on out-of-bag rows; both hold together."
    ]


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
