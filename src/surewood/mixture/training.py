"""Plan and data to a fitted mixture: members one after another, weights, one calibration.

Held-out probabilities stand for rows as they will come. A content that occurs once is predicted by models
that did not see it. One that occurs more than once stands for a population in which copies of training rows
come, so it is predicted as by models that saw its other copies, but not the row itself (theory.md §12.3).
With groups, rows to come are of new groups: they are predicted by models that did not see their group.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.base.base import ClassifierBase
from surewood.base.copies import copy_counts, with_other_copies
from surewood.mixture.model import MemberRecord, MixtureMember, MixtureModel
from surewood.mixture.plan import MixturePlan
from surewood.mixture.weights import calibrate_mixture, mixture_weights
from surewood.parallel.progress import stage
from surewood.tables import TrainingTable

_FEW_HELD_OUT = 30  # rows; with fewer, weights and calibration would be noise
_FLOOR = 1e-15
_SPARE = 0.9  # part of the time that is left which members may take; weights and calibration take some


class _Fitted(NamedTuple):
    """What the fit of a member gave besides the member."""

    held_out: Floats | None
    seconds: float
    note: str


def train(plan: MixturePlan, data: TrainingTable) -> MixtureModel:
    """Fit the members, weigh and calibrate them."""
    fitted: dict[str, _Fitted] = {}
    limit, absent = plan.time_limit, dict(plan.left_out)
    late = 0.0  # seconds that a member took beyond its part, for what does not shrink with it
    # Rows of a streamed table are not merged: each is one. Copies within a group do not come again.
    alone = data.table.stream is not None or data.groups is not None
    counts = np.ones(data.table.n_rows) if alone else copy_counts(data)
    with stage(plan.verbose, "fitting members", len(plan.members)) as advance:
        for place, (name, estimator) in enumerate(plan.members.items()):
            if fitted and limit.left <= late:
                absent[name] = "not started: no time was left"
            else:
                part = _SPARE * limit.left / (len(plan.members) - place)
                fitted[name] = _fit(estimator, data, counts, part)
                late = max(late, fitted[name].seconds - part)
            advance(1)
    model = _mixture(plan, data, fitted)
    nothing = [MemberRecord(name, 0.0, np.nan, np.nan, 0.0, reason) for name, reason in absent.items()]
    return replace(model, records=(*model.records, *nothing))


def _fit(estimator: ClassifierBase[Any], data: TrainingTable, counts: Floats, time_limit: float) -> _Fitted:
    started = time.perf_counter()
    if np.isfinite(time_limit) and "time_limit" in estimator.get_params():
        estimator.set_params(time_limit=max(time_limit, 1e-3))
    held_out = estimator._fit_table(estimator._parameters(), replace(data, is_shared=True))
    if held_out is not None and not estimator._counts_copies:
        model, n_jobs = estimator.model_, estimator.n_jobs
        held_out = with_other_copies(
            held_out,
            data.y,
            counts,
            lambda rows: model.probabilities(data.table.take(rows), n_jobs),
        )
    seconds = time.perf_counter() - started
    note = f"took its part of the time limit ({seconds:.2g} s)" if seconds >= time_limit else ""
    return _Fitted(held_out, seconds, note)


def _mixture(plan: MixturePlan, data: TrainingTable, fitted: dict[str, _Fitted]) -> MixtureModel:
    judged = {name: member.held_out for name, member in fitted.items() if member.held_out is not None}
    if not judged or data.n_classes < 2:
        return _first_alone(plan, data, fitted)
    stacked = np.stack(list(judged.values()))
    rows = np.flatnonzero(~np.isnan(stacked).any(axis=(0, 2)))
    if len(rows) < _FEW_HELD_OUT:
        return _first_alone(plan, data, fitted)
    stacked, y = stacked[:, rows], data.y[rows]
    weight = np.ones(len(rows)) if data.weight is None else data.weight[rows]
    groups = None if data.groups is None else data.groups[rows]
    weights = mixture_weights(stacked, y, weight, groups)
    mixed = np.tensordot(weights, stacked, axes=1)
    calibrator = calibrate_mixture(plan.calibration, mixed, y, weight, plan.verbose, groups)
    final = mixed if calibrator is None else calibrator.transform(mixed)
    records = []
    for name, member in fitted.items():
        if name in judged:
            k = list(judged).index(name)
            note = member.note if weights[k] > 0 else "dropped: it adds little to the others on held-out rows"
            error, log_loss = _losses(stacked[k], y, weight)
            records.append(MemberRecord(name, float(weights[k]), log_loss, error, member.seconds, note))
        else:
            note = "dropped: no held-out rows"
            records.append(MemberRecord(name, 0.0, np.nan, np.nan, member.seconds, note))
    error, log_loss = _losses(final, y, weight)
    return MixtureModel(
        members=tuple(
            MixtureMember(name, plan.members[name], float(w)) for name, w in zip(judged, weights) if w > 0
        ),
        records=tuple(records),
        calibrator=calibrator,
        classes=data.classes,
        held_out_error=error,
        held_out_log_loss=log_loss,
        n_held_out=len(y),
    )


def _first_alone(plan: MixturePlan, data: TrainingTable, fitted: dict[str, _Fitted]) -> MixtureModel:
    """Too few held-out rows to compare: the composite forest where there is one, else the first member."""
    best = "composite_forest" if "composite_forest" in fitted else next(iter(fitted))
    dropped = "dropped: too few held-out rows to compare members"
    records = (
        MemberRecord(
            name, float(name == best), np.nan, np.nan, one.seconds, one.note if name == best else dropped
        )
        for name, one in fitted.items()
    )
    return MixtureModel(
        members=(MixtureMember(best, plan.members[best], 1.0),),
        records=tuple(records),
        calibrator=None,
        classes=data.classes,
        held_out_error=np.nan,
        held_out_log_loss=np.nan,
        n_held_out=0,
    )


def _losses(probabilities: Floats, y: NDArray[np.int32], weight: Floats) -> tuple[float, float]:
    """Error and log-loss."""
    of_truth = np.maximum(probabilities[np.arange(len(y)), y], _FLOOR)
    error = float(np.average(probabilities.argmax(axis=1) != y, weights=weight))
    return error, float(np.average(-np.log(of_truth), weights=weight))
