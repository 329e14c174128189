"""From what a model says about itself to lines of a certificate: what is known without a holdout.

One function per kind of evidence, dispatched by `read_evidence`. Each yields a `Reading`: guarantees still
waiting for their part of delta (`Pending`), lines without one, and guarantees that are withheld because a
condition does not hold. `Caller` adds what only the caller knows and what `certify` found out about the
training sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np

from surewood.base.counted_rows import INDEPENDENT
from surewood.base.reasons import Reason
from surewood.bounds import (
    Condition,
    Entry,
    Method,
    RiskBound,
    Status,
    Withheld,
    betting_upper_limit,
    cascade_criterion,
    cascade_theorem,
    clopper_pearson,
    composite_criterion,
    composite_theorem,
    compression_bound,
    cross_fit_bound,
    issue_guarantee,
    pac_bayes_bound,
    pac_bayes_tandem_bound,
)
from surewood.bounds.evidence import (
    CascadeEvidence,
    CompressionEvidence,
    CrossFitEvidence,
    EstimateEvidence,
    ForestEvidence,
    HeuristicEvidence,
    TreeEvidence,
    VoteEvidence,
)
from surewood.bounds.risk_bound import LeafTheorem, active_leaves
from surewood.bounds.statements import CALLER, CHECKED

__all__ = ["Caller", "Pending", "Reading", "read_all", "read_evidence"]

NOT_A_BOUND = "selection score, not a bound"
#: How the papers' bounds are taken: with every constant, and the complexity as the theorem has it.
_PAPER: dict[str, Any] = {"variant": "rigorous", "gamma_scale": 1.0}
_HELD_OUT = 5  # one row in so many is held out by default


@dataclass(frozen=True)
class Caller:
    """What is known about the training sample beyond what the model says.

    Parameters
    ----------
    n_models : int
        Number of models, or settings, out of which this one was chosen, on whatever data.
    fixed_features : bool
        Nothing was fitted on the sample before the model saw it.
    fitted_steps : tuple of str
        Steps of a pipeline that were; then `fixed_features` is not the caller's word but known.
    copies : bool
        The training table looks copied ([D-38]).
    removed : bool
        Repeated rows were removed from it: what is left is no sample of rows as they come.
    ordered : bool
        Rows are ordered in time, or come in groups: they are not independent.
    """

    n_models: int = 1
    fixed_features: bool = True
    fitted_steps: tuple[str, ...] = ()
    copies: bool = False
    removed: bool = False
    ordered: bool = False

    def conditions(self) -> tuple[Condition, ...]:
        """Conditions of every guarantee from the training sample, what the caller only states first."""
        text = (
            "no scaler, encoder or choice of columns or rows was fitted on the training rows before the model"
        )
        if self.fitted_steps:
            fixed = Condition(text, False, CHECKED)
        else:
            fixed = Condition(text, bool(self.fixed_features), CALLER)
        independent = Condition(f"training {INDEPENDENT}", not self.ordered, CALLER)
        found = [
            Condition("the training table does not look copied", not self.copies, CHECKED),
            Condition("no repeated rows were removed from the training table", not self.removed, CHECKED),
        ]
        return (fixed, independent, *(condition for condition in found if not condition.holds))


@dataclass(frozen=True)
class Pending:
    """A guarantee that can be issued as soon as its part of delta is known."""

    method: Method
    issue: Callable[[float], Entry]


@dataclass
class Reading:
    """What one piece of evidence allows."""

    claims: list[Pending] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    withheld: list[Withheld] = field(default_factory=list)
    majority_error: float | None = None

    def add(self, other: Reading) -> None:
        """Join what another piece of evidence allows; the first baseline stays."""
        self.claims += other.claims
        self.entries += other.entries
        self.withheld += other.withheld
        if self.majority_error is None:
            self.majority_error = other.majority_error


def claim_or_withhold(
    reading: Reading,
    method: Method,
    conditions: Sequence[Condition],
    issue: Callable[[float], dict[str, Any]],
    **fields: Any,
) -> None:
    """Add a guarantee whose `issue` gives value and decomposition at a delta, or the reason why not."""
    broken = [condition.text for condition in conditions if not condition.holds]
    if broken:
        sentence = Reason.CONDITIONS.say(conditions="; ".join(broken))
        reading.withheld.append(Withheld(method, sentence, Reason.CONDITIONS.name))
        return

    def entry(delta: float) -> Entry:
        return issue_guarantee(method, delta=delta, conditions=conditions, **fields, **issue(delta))

    reading.claims.append(Pending(method, entry))


@singledispatch
def read_evidence(evidence: object, caller: Caller) -> Reading:
    """Return what the evidence allows, given what the caller states."""
    raise TypeError(f"unknown evidence of type {type(evidence).__name__}; see surewood.bounds.evidence")


def _conditions(evidence: Any, caller: Caller) -> tuple[Condition, ...]:
    """What the caller only states comes first."""
    return (*caller.conditions(), *evidence.representation(), *evidence.conditions())


def _from_training(
    method: Method,
    evidence: Any,
    caller: Caller,
    issue: Callable[[float, int], dict[str, Any]],
    entries: Iterable[Entry] = (),
    compared: int = 1,
    **fields: Any,
) -> Reading:
    """A guarantee from the training sample beside other entries.

    `issue` takes delta and the number of models compared: what the evidence knows of, `compared` of its
    parts, and what the caller states.
    """
    models = evidence.n_models * compared * caller.n_models
    reading = Reading(entries=list(entries), majority_error=evidence.majority_error)
    fields |= {"sample": "training", "n_models": models}
    conditions = _conditions(evidence, caller)
    claim_or_withhold(reading, method, conditions, lambda delta: issue(delta, models), **fields)
    return reading


def _bound_fields(bound: RiskBound) -> dict[str, Any]:
    return {"value": bound.value, "decomposition": bound.decomposition() | {"1/rho": bound.rho_inverse}}


def tree_theorem(tree: TreeEvidence) -> LeafTheorem:
    """Theorem 1 of RCF for the counts of a composite tree."""
    complexity, n_families = tree.guarantee_complexity(), tree.n_families
    return composite_theorem(
        tree.correct, tree.errors, complexity, n_classes=tree.n_classes, n_families=n_families
    )


def _tree_bound(tree: TreeEvidence, delta: float) -> RiskBound:
    # theory.md (2.6); more than m leaves cannot be occupied, and m is fixed in advance too
    largest = min(2 ** min(tree.max_depth, 40), tree.n_samples)
    return tree_theorem(tree).uniform(max_rho_inverse=largest, delta=delta)


def _measured(evidence: EstimateEvidence | HeuristicEvidence, status: Status, **fields: Any) -> Entry:
    """A number that the model knows of, which limits nothing."""
    sample, n = evidence.sample, evidence.n
    return Entry(method=evidence.name, status=status, value=evidence.value, sample=sample, n=n, **fields)


def _criterion_entry(
    name: str, value: float, correct: Any, errors: Any, charge: Any, gamma_scale: float
) -> Entry:
    m = int(np.sum(correct) + np.sum(errors))
    training_error = int(np.sum(errors)) / m
    return Entry(
        method=name,
        status=Status.CRITERION,
        value=value,
        sample="training",
        n=m,
        gamma_scale=gamma_scale,
        decomposition={
            "training error": training_error,
            "leaf terms": value - training_error,
            "fraction of active leaves": float(active_leaves(np.asarray(correct) / m, charge).mean()),
        },
        note=NOT_A_BOUND,
    )


def _tree_criterion(tree: TreeEvidence) -> list[Entry]:
    if tree.gamma_scale is None:
        return []
    A = tree.criterion_complexity()
    value = composite_criterion(
        tree.correct, tree.errors, A, n_classes=tree.n_classes, gamma_scale=tree.gamma_scale
    )
    charge = 8.0 * tree.n_classes * tree.gamma_scale * A
    return [
        _criterion_entry(
            "composite tree criterion", value, tree.correct, tree.errors, charge, tree.gamma_scale
        )
    ]


@read_evidence.register
def _(evidence: TreeEvidence, caller: Caller) -> Reading:
    def issue(delta: float, models: int) -> dict[str, Any]:
        return _bound_fields(_tree_bound(evidence, delta / models))

    return _from_training(
        Method.COMPOSITE_TREE,
        evidence,
        caller,
        issue,
        entries=_tree_criterion(evidence),
        n=evidence.n_samples,
        **_PAPER,
    )


@read_evidence.register
def _(evidence: ForestEvidence, caller: Caller) -> Reading:
    trees = evidence.trees
    criteria = [entry for tree in trees for entry in _tree_criterion(tree)]

    def issue(delta: float, models: int) -> dict[str, Any]:
        # theory.md [D-15]: (2.6) holds for all trees at once, and a hard vote errs at most twice as often
        bounds = [_tree_bound(tree, delta / models) for tree in trees]
        parts = [bound.decomposition() for bound in bounds]
        mean = {name: float(np.mean([part[name] for part in parts])) for name in parts[0]}
        return {"value": min(1.0, 2.0 * sum(mean.values())), "decomposition": mean | {"factor": 2.0}}

    return _from_training(
        Method.COMPOSITE_FOREST,
        evidence,
        caller,
        issue,
        entries=_mean_criterion(criteria),
        compared=max(tree.n_models for tree in trees),
        n=trees[0].n_samples,
        note="twice the mean over trees",
        **_PAPER,
    )


def _mean_criterion(criteria: Sequence[Entry]) -> list[Entry]:
    if not criteria:
        return []
    names = criteria[0].decomposition
    mean = Entry(
        method="composite forest criterion, mean over trees",
        status=Status.CRITERION,
        value=float(np.mean([entry.value for entry in criteria])),
        sample="training",
        n=criteria[0].n,
        gamma_scale=criteria[0].gamma_scale,
        decomposition={
            name: float(np.mean([entry.decomposition[name] for entry in criteria])) for name in names
        },
        note=NOT_A_BOUND,
    )
    return [mean]


@read_evidence.register
def _(evidence: CascadeEvidence, caller: Caller) -> Reading:
    def issue(delta: float, models: int) -> dict[str, Any]:
        leaves = evidence.correct, evidence.errors, evidence.complexity
        theorem = (
            cascade_theorem(*leaves, n_families=evidence.n_families)
            if evidence.n_classes == 2
            else composite_theorem(*leaves, n_classes=evidence.n_classes, n_families=evidence.n_families)
        )
        largest = min(evidence.max_leaves, evidence.n_samples)
        return _bound_fields(theorem.uniform(max_rho_inverse=largest, delta=delta / models))

    return _from_training(
        Method.CASCADE,
        evidence,
        caller,
        issue,
        entries=_cascade_criterion(evidence),
        n=evidence.n_samples,
        **_PAPER,
    )


def _cascade_criterion(evidence: CascadeEvidence) -> list[Entry]:
    a, scale = evidence.criterion_complexity, evidence.gamma_scale
    if a is None or scale is None:
        return []
    correct, errors = evidence.correct, evidence.errors
    value = cascade_criterion(correct, errors, a, gamma_scale=scale)
    charge = 4.0 * scale * np.asarray(a)
    return [_criterion_entry("cascade criterion", value, correct, errors, charge, scale)]


def _as_a_holdout(evidence: VoteEvidence, delta: float) -> str:
    """What a fifth of the rows, held out, would give where the vote errs as often as it does out of bag."""
    if evidence.n_samples is None or evidence.vote_error is None:
        return ""
    n = evidence.n_samples // _HELD_OUT
    if n == 0:
        return ""
    limit = clopper_pearson(round(evidence.vote_error * n), n, delta=delta)
    return f"a holdout of {n:,} of these {evidence.n_samples:,} rows would give about {limit:.2g}"


@read_evidence.register
def _(evidence: VoteEvidence, caller: Caller) -> Reading:
    models = evidence.n_models * caller.n_models
    reading = Reading(majority_error=evidence.majority_error)
    n = int(np.min(evidence.out_of_bag.sizes))
    loss = min(1.0, float(evidence.out_of_bag.rates.mean())) if n > 0 else 1.0
    if n > 0:
        estimate = Entry(
            method="average out-of-bag error of single trees",
            status=Status.ESTIMATE,
            value=loss,
            sample="out-of-bag",
            n=n,
            biased=models > 1,
        )
        reading.entries.append(estimate)
    common: dict[str, Any] = {"variant": "kl", "sample": "out-of-bag", "n_models": models}

    def issue_first(delta: float) -> dict[str, Any]:
        value = pac_bayes_bound(loss, n, delta=delta, n_models=models)
        parts = {"mean out-of-bag error": loss}
        return {"value": value, "decomposition": parts, "note": _as_a_holdout(evidence, delta)}

    claim_or_withhold(reading, Method.PAC_BAYES, _conditions(evidence, caller), issue_first, n=n, **common)
    if evidence.tandem is not None:
        n_pairs = int(evidence.tandem.sizes.min())
        tandem = min(1.0, evidence.tandem.loss()) if n_pairs > 0 else 1.0

        def issue_tandem(delta: float) -> dict[str, Any]:
            value = pac_bayes_tandem_bound(tandem, n_pairs, delta=delta, n_models=models)
            parts = {"tandem loss": tandem}
            return {"value": value, "decomposition": parts, "note": _as_a_holdout(evidence, delta)}

        conditions = (*caller.conditions(), *evidence.representation(), *evidence.tandem_conditions())
        claim_or_withhold(reading, Method.TANDEM, conditions, issue_tandem, n=n_pairs, **common)
    return reading


@read_evidence.register
def _(evidence: CompressionEvidence, caller: Caller) -> Reading:
    def issue(delta: float, models: int) -> dict[str, Any]:
        counts = evidence.n_samples, evidence.n_compressed, evidence.errors
        value = compression_bound(*counts, delta=delta, n_models=models)
        parts = {"compression points": evidence.n_compressed, "errors on the others": evidence.errors}
        return {"value": value, "decomposition": parts}

    return _from_training(Method.COMPRESSION, evidence, caller, issue, n=evidence.n_samples, variant="exact")


def _brier_of_a_holdout(evidence: CrossFitEvidence, delta: float) -> str:
    """What a fifth of the rows, held out, would give with losses like those of the folds."""
    n = evidence.n_samples // _HELD_OUT
    if evidence.losses is None or n == 0:
        return ""
    grid = np.linspace(0.0, 1.0, len(evidence.losses))
    like_these = np.interp((np.arange(n) + 0.5) / n, grid, evidence.losses)
    limit = 2.0 * betting_upper_limit(np.random.default_rng(0).permutation(like_these), delta=delta)
    return f"a holdout of {n:,} of these {evidence.n_samples:,} rows would give about {limit:.2g}"


@read_evidence.register
def _(evidence: CrossFitEvidence, caller: Caller) -> Reading:
    def issue(delta: float, models: int) -> dict[str, Any]:
        half = cross_fit_bound(evidence.mean_brier / 2.0, evidence.fold_size, delta=delta, n_models=models)
        parts = {"held-out Brier score": evidence.mean_brier}
        return {"value": 2.0 * half, "decomposition": parts, "note": _brier_of_a_holdout(evidence, delta)}

    about: dict[str, Any] = {"variant": "kl", "quantity": "Brier score", "ceiling": 2.0, "percent": False}
    return _from_training(Method.CROSS_FIT, evidence, caller, issue, n=evidence.n_samples, **about)


@read_evidence.register
def _(evidence: EstimateEvidence, caller: Caller) -> Reading:
    biased = evidence.used_for_selection or caller.n_models > 1
    return Reading(entries=[_measured(evidence, Status.ESTIMATE, biased=biased)])


@read_evidence.register
def _(evidence: HeuristicEvidence, caller: Caller) -> Reading:
    return Reading(entries=[_measured(evidence, Status.HEURISTIC)])


def read_all(evidence: Iterable[object], caller: Caller) -> Reading:
    """Join the readings of all evidence a model offers."""
    joined = Reading()
    for item in evidence:
        joined.add(read_evidence(item, caller))
    return joined
