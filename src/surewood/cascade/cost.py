"""Memory and time of a fit before it starts, and the refusal of one that would need too much."""

from __future__ import annotations

from typing import Any

from surewood.cascade.plan import CascadeSettings, read_settings
from surewood.cascade.sample import Sample, make_sample
from surewood.estimators.cost import CostEstimate, probe_seconds, refuse_beyond
from surewood.svm import Gram, gram_limit, kernel_memory

_PATHS_HELD = 200  # subsets, distances and outcomes that a search keeps at a time
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
    parts = generic_memory(_sample_of(estimator, X, y, sample_weight))
    return CostEstimate.of(parts, probe_seconds(estimator, X, y))


def _sample_of(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Sample:
    inputs = estimator._begin_fit(X, y, sample_weight)
    return make_sample(inputs, sample_weight)


def svm_memory(settings: CascadeSettings, sample: Sample) -> tuple[dict[str, float], tuple[str, ...]]:
    """Parts of the memory of a fit in bytes, and what to note."""
    n, width = sample.design.shape
    limit = gram_limit(settings.max_memory)
    parts, notes = kernel_memory(n, width, width, limit=limit, n_jobs=settings.n_jobs)
    parts["SVMs"] = _PATHS_HELD * n * 13.0 + n * sample.n_classes * 40.0
    return parts, notes


def generic_memory(sample: Sample) -> dict[str, float]:
    """Parts of the memory; a kernel SVM of a leaf stores its inner products up to 1 GiB."""
    n, width = sample.design.shape
    parts, _ = kernel_memory(n, width, width, limit=gram_limit(None))
    parts["members"] = _MEMBERS_HELD * n * (8.0 * width + 8.0 * sample.n_classes)
    return parts


def make_gram(settings: CascadeSettings, sample: Sample) -> Gram:
    """Inner products of the sample; a fit that would need more than `max_memory` is refused."""
    parts, _ = svm_memory(settings, sample)
    refuse_beyond(settings.max_memory, sum(parts.values()), "use fewer rows")
    return Gram(sample.design, max_memory=gram_limit(settings.max_memory), n_jobs=settings.n_jobs)
