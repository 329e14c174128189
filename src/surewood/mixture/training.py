"""Plan and data to a fitted mixture: members one after another, weights, one calibration.

Held-out probabilities stand for rows as they will come. A row whose content occurs more than once in the
training table stands for a population in which copies of training rows come, too: the models that will
predict it have seen its copies, so the fitted members' own probabilities are used for it. A content that
occurs once is predicted by models that did not see it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.base.copies import with_other_copies
from surewood.base.time_limit import TimeLimit
from surewood.mixture.model import MemberRecord, MixtureMember, MixtureModel
from surewood.mixture.plan import MemberPlan, MixturePlan
from surewood.mixture.weights import MixtureWeights, calibrate_mixture, mixture_weights
from surewood.parallel.progress import stage
from surewood.tables import TrainingTable

_FEW_HELD_OUT = 30  # rows; with fewer, weights and calibration would be noise
_FLOOR = 1e-15
_SPARE = 0.9  # part of the time that is left which members may take; weights and calibration take some


@dataclass(frozen=True)
class Sample:
    """The training table, equal rows merged, and how often each of its rows occurs."""

    inputs: TrainingTable
    counts: Floats


@dataclass(frozen=True)
class _Fitted:
    plan: MemberPlan
    held_out: Floats | None
    seconds: float
    note: str


def train(plan: MixturePlan, sample: Sample) -> MixtureModel:
    """Fit the members, weigh and calibrate them."""
    limit = TimeLimit(plan.time_limit)
    fitted: list[_Fitted] = []
    notes = dict(plan.left_out)
    with stage(plan.verbose, "fitting members", len(plan.members)) as advance:
        for place, member in enumerate(plan.members):
            if limit.is_over and fitted:
                notes[member.name] = "not started: no time was left"
            else:
                part = _SPARE * limit.left / (len(plan.members) - place)
                fitted.append(_fit(member, sample, part))
            advance(1)
    return _mixture(plan, sample, fitted, notes)


def _fit(member: MemberPlan, sample: Sample, time_limit: float) -> _Fitted:
    started = time.perf_counter()
    if np.isfinite(time_limit) and "time_limit" in member.estimator.get_params():
        member.estimator.set_params(time_limit=max(time_limit, 1e-3))
    held_out = member.estimator._fit_held_out(sample.inputs, None)
    if held_out is not None:
        model, table, n_jobs = member.estimator.model_, sample.inputs.table, member.estimator.n_jobs
        held_out = with_other_copies(
            _merged(held_out, sample.inputs),
            sample.inputs.y,
            sample.counts,
            lambda rows: model.probabilities(table.take(rows), n_jobs),
        )
    seconds = time.perf_counter() - started
    note = f"took its part of the time limit ({seconds:.2g} s)" if seconds >= time_limit else ""
    return _Fitted(member, held_out, seconds, note)


def _merged(held_out: Floats, inputs: TrainingTable) -> Floats:
    """Held-out probabilities per row of the merged table, whose order depends on its content alone.

    Equal rows may have been held out from different models: their mean.
    """
    if inputs.inverse is None:
        return held_out
    counted = inputs.inverse >= 0
    place, values = inputs.inverse[counted], held_out[counted]
    sums = np.zeros((inputs.table.n_rows, held_out.shape[1]))
    np.add.at(sums, place, values)
    return np.asarray(sums / np.bincount(place, minlength=len(sums))[:, None])


def _mixture(plan: MixturePlan, sample: Sample, fitted: list[_Fitted], notes: dict[str, str]) -> MixtureModel:
    inputs = sample.inputs
    y, weight = inputs.y, np.ones(inputs.table.n_rows) if inputs.weight is None else inputs.weight
    judged = [one for one in fitted if one.held_out is not None]
    stacked = np.stack([one.held_out for one in judged if one.held_out is not None]) if judged else None
    known: NDArray[np.bool_] = np.zeros(len(y), dtype=bool)
    if stacked is not None:
        known = np.asarray(~np.isnan(stacked).any(axis=(0, 2)))
    if stacked is None or known.sum() < _FEW_HELD_OUT or inputs.n_classes < 2:
        return _first_alone(plan, sample, fitted, notes)
    rows = np.flatnonzero(known)
    stacked, y, weight = stacked[:, rows], y[rows], weight[rows]
    found = mixture_weights(stacked, y, weight)
    mixed = np.tensordot(found.weights, stacked, axes=1)
    calibrator = calibrate_mixture(plan.calibration, mixed, y, weight, plan.n_jobs, plan.verbose)
    final = mixed if calibrator is None else calibrator.transform(mixed)
    return MixtureModel(
        members=tuple(
            MixtureMember(one.plan.name, one.plan.estimator, float(w))
            for one, w in zip(judged, found.weights)
            if w > 0
        ),
        records=_records(plan, fitted, judged, found, _errors(stacked, y, weight), notes),
        calibrator=calibrator,
        classes=inputs.classes,
        held_out_error=float(np.average(final.argmax(axis=1) != y, weights=weight)),
        held_out_log_loss=_log_loss(final, y, weight),
        n_held_out=len(y),
        gain=found.gain,
        standard_error=found.standard_error,
    )


def _first_alone(
    plan: MixturePlan, sample: Sample, fitted: list[_Fitted], notes: dict[str, str]
) -> MixtureModel:
    """Too few held-out rows to compare: the composite forest where there is one, else the first member."""
    best = next((one for one in fitted if one.plan.name == "composite forest"), fitted[0])
    records = []
    for name in [*(one.plan.name for one in fitted), *notes]:
        chosen = name == best.plan.name
        own = next((one for one in fitted if one.plan.name == name), None)
        seconds, limited = (0.0, "") if own is None else (own.seconds, own.note)
        note = notes.get(name, limited if chosen else "dropped: too few held-out rows to compare members")
        records.append(MemberRecord(name, float(chosen), np.nan, np.nan, seconds, note))
    return MixtureModel(
        members=(MixtureMember(best.plan.name, best.plan.estimator, 1.0),),
        records=tuple(records),
        calibrator=None,
        classes=sample.inputs.classes,
        held_out_error=np.nan,
        held_out_log_loss=np.nan,
        n_held_out=0,
        gain=np.nan,
        standard_error=np.nan,
    )


def _records(
    plan: MixturePlan,
    fitted: list[_Fitted],
    judged: list[_Fitted],
    found: MixtureWeights,
    errors: Floats,
    notes: dict[str, str],
) -> tuple[MemberRecord, ...]:
    place = {one.plan.name: k for k, one in enumerate(judged)}
    records = []
    for one in fitted:
        name = one.plan.name
        if name not in place:
            records.append(MemberRecord(name, 0.0, np.nan, np.nan, one.seconds, "dropped: no held-out rows"))
            continue
        k = place[name]
        weight = float(found.weights[k])
        note = one.note if weight > 0 else "dropped: it adds nothing to the others on held-out rows"
        records.append(
            MemberRecord(name, weight, float(found.log_loss[k]), float(errors[k]), one.seconds, note)
        )
    records += [MemberRecord(name, 0.0, np.nan, np.nan, 0.0, reason) for name, reason in notes.items()]
    return tuple(records)


def _errors(stacked: Floats, y: NDArray[np.int32], weight: Floats) -> Floats:
    return np.array([np.average(one.argmax(axis=1) != y, weights=weight) for one in stacked])


def _log_loss(probabilities: Floats, y: NDArray[np.int32], weight: Floats) -> float:
    of_truth = np.maximum(probabilities[np.arange(len(y)), y], _FLOOR)
    return float(np.average(-np.log(of_truth), weights=weight))
