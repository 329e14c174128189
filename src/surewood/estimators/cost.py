"""What a fit will need, before it starts: memory by count, time by probes (ESTIMATE).

Every estimator answers ``estimate_cost(X, y)`` with a :class:`CostEstimate`, and those with `max_memory`
compare it with that limit. Memory is counted from sizes, array by array. Time depends on the data, so small
fits are timed (:func:`probe_seconds`) and extrapolated; the range is wide on purpose.
"""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

_MIB = 2**20
OBJECT_BYTES = 1.5 * _MIB  # what Python and the allocator add to a fit, however small its table is
_PROBE_ROWS = 300  # of the first probes
_PROBE_SECONDS = 0.2  # of a fit that tells how time grows
_PROBE_SHARE = 0.5  # of all rows that a probe may have, beyond the first ones
_ROWS_PER_CLASS = 5  # in a probe: below, folds and pairs of classes are not those of the whole table


@dataclass(frozen=True)
class CostEstimate:
    """Memory and time of a fit (ESTIMATE).

    Examples
    --------
    >>> cost = CostEstimate(3 * 2**20, (0.5, 2.0), {"trees": 3 * 2**20})
    >>> print(cost)
    about 3 MiB (trees 3 MiB) and 0.5 to 2 s
    """

    #: Most memory of the fit, beyond the interpreter, the imports and the user's table.
    memory_bytes: int
    #: From the time of an easy case to that of a hard one, with the estimator's `n_jobs`.
    seconds: tuple[float, float]
    #: What the memory is made of, in bytes.
    parts: dict[str, int] = field(default_factory=dict)
    #: What was decided for the sake of memory.
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {mib(size)}" for name, size in self.parts.items() if size >= _MIB)
        told = f"about {mib(self.memory_bytes)}" + (f" ({parts})" if parts else "")
        told += f" and {_short(self.seconds[0])} to {_short(self.seconds[1])} s"
        return "; ".join([told, *self.notes])

    @classmethod
    def of(cls, parts: dict[str, float], seconds: tuple[float, float], *notes: str) -> CostEstimate:
        """From the parts of the memory."""
        sizes = {name: int(size) for name, size in parts.items()}
        return cls(sum(sizes.values()), seconds, sizes, notes)


def mib(size: float) -> str:
    """Bytes as words.

    Examples
    --------
    >>> mib(2**20), mib(300 * 2**20)
    ('1 MiB', '300 MiB')
    """
    return f"{max(size / _MIB, 1.0):.0f} MiB"


def _short(seconds: float) -> str:
    return f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"


def refuse_beyond(max_memory: float | None, needed: float, advice: str) -> None:
    """Raise where a fit would need more than it may have.

    Examples
    --------
    >>> refuse_beyond(2**20, 5 * 2**20, "use fewer trees")
    Traceback (most recent call last):
    ...
    ValueError: a fit needs about 5 MiB, more than max_memory=1 MiB; use fewer trees, or raise it.
    """
    if max_memory is not None and needed > max_memory:
        raise ValueError(
            f"a fit needs about {mib(needed)}, more than max_memory={mib(max_memory)}; {advice}, or raise it."
        )


def probe_seconds(estimator: Any, X: Any, y: Any) -> tuple[float, float]:
    """Time small fits of an estimator and extrapolate to all rows.

    A fit of a few milliseconds tells what happens once per fit, and nothing of how time grows: the number of
    rows is doubled until a fit takes long enough. The exponent is read off the last two times, between linear
    and cubic, and is not trusted: the range spans half a power either way.
    """
    order = probe_order(np.asarray(y), _PROBE_ROWS)
    large = min(len(order), _PROBE_ROWS)
    small = max(large // 2, 1)
    before, last = (_seconds_of(estimator, X, y, np.sort(order[:size])) for size in (small, large))
    while last < _PROBE_SECONDS and 2 * large <= _PROBE_SHARE * len(order):
        small, large = large, 2 * large
        before, last = last, _seconds_of(estimator, X, y, np.sort(order[:large]))
    growth = len(order) / large
    power = math.log(last / before) / math.log(large / small) if large > small else 1.0
    power = min(max(power, 1.0), 3.0)
    low, high = max(power - 0.5, 1.0), min(power + 0.5, 3.0)
    return last * growth**low / 3.0, 3.0 * last * growth**high


def _seconds_of(estimator: Any, X: Any, y: Any, rows: NDArray[np.int64]) -> float:
    """Time of a fit on some rows."""
    part, labels = _safe_indexing(X, rows), _safe_indexing(y, rows)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a fit has to say, it says when it is done
        clone(estimator).set_params(max_memory=None).fit(part, labels)
    return time.perf_counter() - started


def probe_order(y: NDArray[Any], n_probe: int) -> NDArray[np.int64]:
    """Rows in the order in which probes take them.

    Every beginning has about the class frequencies of the whole. With so many classes that a probe would have
    only a row or two of each, it has fewer classes instead, with all their rows: pairs of classes are what
    takes time.

    Examples
    --------
    >>> y = np.arange(12) % 6
    >>> sorted(y[probe_order(y, 4)[:4]].tolist())
    [0, 0, 1, 1]
    """
    classes, codes = np.unique(y.ravel(), return_inverse=True)
    if n_probe >= min(_ROWS_PER_CLASS * len(classes), len(codes)):
        return spread_rows(y)
    return np.asarray(np.argsort(codes, kind="stable"))


def spread_rows(y: NDArray[Any]) -> NDArray[np.int64]:
    """Rows in an order of which every beginning has about the class frequencies of the whole.

    Examples
    --------
    >>> spread_rows(np.array([0, 0, 0, 0, 1, 1])).tolist()[:3]  # two of the first class, one of the second
    [3, 5, 2]
    """
    labels = y.ravel()
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.random.default_rng(0).permutation(len(labels))
    place = np.empty(len(labels))
    for code, count in enumerate(counts):
        own = order[codes[order] == code]
        place[own] = (np.arange(len(own)) + 0.5) / count
    return np.asarray(np.lexsort((np.arange(len(labels)), place)))
