"""Plan and data to a fitted mixture: members one after another, weights, one calibration.

Held-out probabilities stand for rows as they will come. A row whose content occurs more than once in the
training table stands for a population in which copies of training rows come, too: the models that will
predict it have seen its copies, so the fitted members' own probabilities are used for it. A content that
occurs once is predicted by models that did not see it. With groups, rows to come are of new groups: they are
predicted by models that did not see their group.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.base.copies import copy_counts, with_other_copies
from surewood.mixture.model import MemberRecord, MixtureMember, MixtureModel
from surewood.mixture.plan import MemberPlan, MixturePlan
from surewood.mixture.weights import MixtureWeights, calibrate_mixture, mixture_weights
from surewood.parallel.progress import stage
from surewood.tables import TrainingTable

_FEW_HELD_OUT = 30  # rows; with fewer, weights and calibration would be noise
_FLOOR = 1e-15
_SPARE = 0.9  # part of the time that is left which members may take; weights and calibration take some


@dataclass(frozen=True)
class _Fitted:
    plan: MemberPlan
    held_out: Floats | None
    seconds: float
    note: str


def train(plan: MixturePlan, data: TrainingTable) -> MixtureModel:
    """Fit the members, weigh and calibrate them."""
    fitted: list[_Fitted] = []
    limit, notes = plan.time_limit, dict(plan.left_out)
    late = 0.0  # seconds that a member took beyond its part, for what does not shrink with it
    # Rows of a streamed table are not merged: each is one. Copies within a group do not come again.
    alone = data.table.stream is not None or data.groups is not None
    counts = np.ones(data.table.n_rows) if alone else copy_counts(data)
    with stage(plan.verbose, "fitting members", len(plan.members)) as advance:
        for place, member in enumerate(plan.members):
            if fitted and limit.left <= late:
                notes[member.name] = "not started: no time was left"
            else:
                part = _SPARE * limit.left / (len(plan.members) - place)
                fitted.append(_fit(member, data, counts, part))
                late = max(late, fitted[-1].seconds - part)
            advance(1)
    return _mixture(plan, data, fitted, notes)


def _fit(member: MemberPlan, data: TrainingTable, counts: Floats, time_limit: float) -> _Fitted:
    started = time.perf_counter()
    if np.isfinite(time_limit) and "time_limit" in member.estimator.get_params():
        member.estimator.set_params(time_limit=max(time_limit, 1e-3))
    estimator, table = member.estimator, data.table
    held_out = estimator._fit_table(estimator._parameters(), replace(data, is_shared=True))
    if held_out is not None:
        model, n_jobs = estimator.model_, estimator.n_jobs
        held_out = with_other_copies(
            held_out,
            data.y,
            counts,
            lambda rows: model.probabilities(table.take(rows), n_jobs),
        )
    seconds = time.perf_counter() - started
    note = f"took its part of the time limit ({seconds:.2g} s)" if seconds >= time_limit else ""
    return _Fitted(member, held_out, seconds, note)


def _mixture(
    plan: MixturePlan, data: TrainingTable, fitted: list[_Fitted], notes: dict[str, str]
) -> MixtureModel:
    y, weight = data.y, np.ones(data.table.n_rows) if data.weight is None else data.weight
    judged = [member for member in fitted if member.held_out is not None]
    if not judged or data.n_classes < 2:
        return _first_alone(plan, data, fitted, notes)
    stacked = np.stack([member.held_out for member in judged if member.held_out is not None])
    rows = np.flatnonzero(~np.isnan(stacked).any(axis=(0, 2)))
    if len(rows) < _FEW_HELD_OUT:
        return _first_alone(plan, data, fitted, notes)
    stacked, y, weight = stacked[:, rows], y[rows], weight[rows]
    groups = None if data.groups is None else data.groups[rows]
    weights = mixture_weights(stacked, y, weight, groups)
    mixed = np.tensordot(weights.weights, stacked, axes=1)
    calibrator = calibrate_mixture(plan.calibration, mixed, y, weight, plan.verbose, groups)
    final = mixed if calibrator is None else calibrator.transform(mixed)
    return MixtureModel(
        members=tuple(
            MixtureMember(member.plan.name, member.plan.estimator, float(w))
            for member, w in zip(judged, weights.weights)
            if w > 0
        ),
        records=_records(fitted, judged, weights, _errors(stacked, y, weight), notes),
        calibrator=calibrator,
        classes=data.classes,
        held_out_error=float(np.average(final.argmax(axis=1) != y, weights=weight)),
        held_out_log_loss=_log_loss(final, y, weight),
        n_held_out=len(y),
    )


def _first_alone(
    plan: MixturePlan, data: TrainingTable, fitted: list[_Fitted], notes: dict[str, str]
) -> MixtureModel:
    """Too few held-out rows to compare: the composite forest where there is one, else the first member."""
    best = next((member for member in fitted if member.plan.name == "composite_forest"), fitted[0])
    records = []
    for member in fitted:
        chosen = member is best
        note = member.note if chosen else "dropped: too few held-out rows to compare members"
        records.append(MemberRecord(member.plan.name, float(chosen), np.nan, np.nan, member.seconds, note))
    records += [MemberRecord(name, 0.0, np.nan, np.nan, 0.0, reason) for name, reason in notes.items()]
    return MixtureModel(
        members=(MixtureMember(best.plan.name, best.plan.estimator, 1.0),),
        records=tuple(records),
        calibrator=None,
        classes=data.classes,
        held_out_error=np.nan,
        held_out_log_loss=np.nan,
        n_held_out=0,
    )


def _records(
    fitted: list[_Fitted],
    judged: list[_Fitted],
    weights: MixtureWeights,
    errors: Floats,
    notes: dict[str, str],
) -> tuple[MemberRecord, ...]:
    place = {member.plan.name: k for k, member in enumerate(judged)}
    records = []
    for member in fitted:
        name, seconds = member.plan.name, member.seconds
        if name not in place:
            records.append(MemberRecord(name, 0.0, np.nan, np.nan, seconds, "dropped: no held-out rows"))
            continue
        k = place[name]
        weight, log_loss = float(weights.weights[k]), float(weights.log_loss[k])
        note = member.note if weight > 0 else "dropped: it adds little to the others on held-out rows"
        records.append(MemberRecord(name, weight, log_loss, float(errors[k]), seconds, note))
    records += [MemberRecord(name, 0.0, np.nan, np.nan, 0.0, reason) for name, reason in notes.items()]
    return tuple(records)


def _errors(stacked: Floats, y: NDArray[np.int32], weight: Floats) -> Floats:
    return np.array([np.average(scores.argmax(axis=1) != y, weights=weight) for scores in stacked])


def _log_loss(probabilities: Floats, y: NDArray[np.int32], weight: Floats) -> float:
    of_truth = np.maximum(probabilities[np.arange(len(y)), y], _FLOOR)
    return float(np.average(-np.log(of_truth), weights=weight))
