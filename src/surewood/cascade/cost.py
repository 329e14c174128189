"""Memory and time of a fit before it starts, and the refusal of one that would need too much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from surewood.cascade.families import Family
from surewood.cascade.kernel_families import KernelFamily, LinearFamily
from surewood.cascade.plan import CALIBRATION_FOLDS, CascadeSettings, read_settings
from surewood.cascade.sample import Sample, make_sample
from surewood.estimators.cost import OBJECT_BYTES, CostEstimate, probe_seconds, refuse_beyond
from surewood.svm import Gram, SvmGroups, gram_limit, kernel_memory, useful_limit
from surewood.svm.support_probe import expected_support

_PATHS_HELD = 100  # subsets, distances and outcomes that a search keeps, about
_PATH_BYTES = 13.0  # of a row: its place by distance, whether it is classified correctly, its number
_SUPPORT = 0.6  # of the rows that are support vectors on all rows, with the C of the fit
_SCORE_BYTES = 80.0  # of a row and a class: ten arrays while probabilities are calibrated
_MEMBERS_HELD = 10  # fitted classifiers of families that a generic search keeps at a time


def estimate_cost(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> CostEstimate:
    """Memory by count and a range of time from two small fits of an SVM cascade (ESTIMATE).

    How many cascades a search must look at depends on the data: the range is wide.
    """
    settings = read_settings(estimator)
    parts, notes = svm_memory(settings, _sample_of(estimator, X, y, sample_weight))
    return CostEstimate.of(parts, probe_seconds(estimator, X, y), *notes)


def estimate_generic_cost(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> CostEstimate:
    """The same for a cascade of any families."""
    leaves, splits = estimator._families()
    parts = generic_memory((*leaves, *splits), _sample_of(estimator, X, y, sample_weight))
    return CostEstimate.of(parts, probe_seconds(estimator, X, y))


def _sample_of(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Sample:
    inputs = estimator._begin_fit(X, y, sample_weight)
    return make_sample(inputs, sample_weight)


def svm_memory(settings: CascadeSettings, sample: Sample) -> tuple[dict[str, float], tuple[str, ...]]:
    """Parts of the memory of a fit in bytes, and what to note."""
    n, width = sample.design.shape
    parts, notes = kernel_memory(n, width, width, limit=gram_limit(settings.max_memory))
    whole = _groups(settings, sample, 1.0, 1, 1, _SUPPORT)
    calls = [whole.scratch(settings.n_jobs) + whole.results()]
    if settings.C is None:
        folds = _groups(
            settings, sample, 1.0 - 1.0 / CALIBRATION_FOLDS, CALIBRATION_FOLDS, len(settings.C_grid)
        )
        calls.append(folds.scratch(settings.n_jobs) + folds.results())
    parts["SVMs"] = max(calls)
    parts["paths"] = _paths(settings, sample) * n * _PATH_BYTES
    parts["probabilities"] = _SCORE_BYTES * n * sample.n_classes
    parts["objects"] = OBJECT_BYTES
    return parts, notes


def _paths(settings: CascadeSettings, sample: Sample) -> float:
    """Cascades that the searches of all problems keep: few where a class has few rows, hence few errors."""
    counts = np.bincount(sample.codes, minlength=2)
    if sample.n_classes <= 2 or settings.multiclass == "native":
        return float(min(_PATHS_HELD, len(sample.codes) - counts.max()))
    return float(np.minimum(_PATHS_HELD, np.minimum(counts, len(sample.codes) - counts)).sum())


def _groups(
    settings: CascadeSettings, sample: Sample, part: float, n_groups: int, n_C: int, support: float = 1.0
) -> SvmGroups:
    """SVMs of all degrees on a part of the rows, or on several such parts."""
    n, width = sample.design.shape
    rest = settings.multiclass == "one_vs_rest"  # every class against the rest: two classes
    counts = np.sort(np.bincount(sample.codes, minlength=2))
    return SvmGroups(
        largest=part * n,
        points=n_groups * part * n,
        n_groups=n_groups,
        n_classes=2 if rest else sample.n_classes,
        pair=part * (n if rest else float(counts[-2:].sum())),
        width=width,
        per_group=len(settings.degrees) * n_C,
        n_degrees=len(settings.degrees),
        support=support,
    )


def generic_memory(families: Sequence[Family], sample: Sample) -> dict[str, float]:
    """Parts of the memory of a cascade of families; of its kernel SVMs one is trained at a time."""
    n, width = sample.design.shape
    parts, _ = kernel_memory(n, width, width, limit=gram_limit(None))
    trained = [0.0]
    for one in _kernel_svms(families, width):
        kernel = one.spec(width)
        support = expected_support(sample.design.__getitem__, sample.codes, kernel, one.degree, one.C)
        pair = float(np.sort(np.bincount(sample.codes))[-2:].sum())
        svm = SvmGroups(n, n, 1, sample.n_classes, pair, width, support=support)
        trained.append(svm.scratch(1) + svm.results())
    parts["SVMs"] = max(trained)
    if len(trained) == 1:
        parts["inner products"] = 0.0
    parts["members"] = _MEMBERS_HELD * n * (8.0 * width + 8.0 * sample.n_classes)
    parts["probabilities"] = _SCORE_BYTES * n * sample.n_classes
    parts["objects"] = OBJECT_BYTES
    return parts


def _kernel_svms(families: Sequence[Family], width: int) -> list[KernelFamily]:
    """The kernel SVMs among families."""
    linear = [one for one in families if isinstance(one, LinearFamily) and one.loss == "hinge"]
    kernels = [one for one in families if isinstance(one, KernelFamily)]
    return [*kernels, *(one.as_kernel(width) for one in linear)]


def make_gram(settings: CascadeSettings, sample: Sample) -> Gram:
    """Inner products of the sample; a fit that would need more than `max_memory` is refused."""
    parts, _ = svm_memory(settings, sample)
    refuse_beyond(settings.max_memory, sum(parts.values()), "use fewer rows")
    n, width = sample.design.shape
    limit = useful_limit(n, width, gram_limit(settings.max_memory))
    return Gram(sample.design, max_memory=limit, n_jobs=settings.n_jobs)
