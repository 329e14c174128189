"""Memory of SVMs, counted before they are trained: what the solver holds, array by array."""

from __future__ import annotations

from dataclasses import dataclass

from joblib import effective_n_jobs

from surewood.svm.gram import DEFAULT_MAX_MEMORY, Gram, formed_sooner, useful_limit
from surewood.tables import reading_bytes

__all__ = ["SvmGroups", "gram_limit", "kernel_memory"]

FORMED = "inner products are formed as they are needed"
CACHE_BYTES = 64 << 20  # of kernel rows that a thread may hold, unless a caller has its own

_KEPT_POINTS = 1024  # of a group up to which its inner products are kept for all pairs and degrees
_HELD_COEFFICIENTS = 64_000_000.0  # bytes up to which the SVMs of a group are assembled together
_SIDE_BY_SIDE = (256, 3)  # points up to which so many problems have their kernel at a time
_PAIR_BYTES = 36.0  # bias, objective, gap, iterations and status of a pair of classes
_OUTCOME_BYTES = 48.0  # the same while the SVM is in the solver
_POINT_BYTES = 8.0  # label of a point, and its number where it is a support vector


def gram_limit(max_memory: float | None) -> int:
    """Bytes that the matrix of inner products may take: half of `max_memory`, or the default.

    Examples
    --------
    >>> from surewood.svm import gram_limit
    >>> gram_limit(1_000_000)
    500000
    """
    return DEFAULT_MAX_MEMORY if max_memory is None else int(min(max_memory, 2.0**62)) // 2


def kernel_memory(
    n_rows: int, n_columns: int, width: int, *, limit: int
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Parts of the memory before any SVM: table, design of `width` columns, inner products; what to note.

    `limit` is what the inner products may take; beyond it they are not stored, nor where solvers would form
    them anew all the same.

    Examples
    --------
    >>> parts, notes = kernel_memory(1000, 5, 50, limit=10**9)
    >>> round(parts["inner products"]), notes
    (4000000, ())
    >>> kernel_memory(1000, 5, 50, limit=10**6)[1]
    ('inner products are formed as they are needed',)
    >>> kernel_memory(1000, 5, 5, limit=10**9)[0]["inner products"]
    0.0
    """
    fits = Gram.bytes_stored(n_rows) <= limit
    stored = fits and useful_limit(n_rows, width, limit) > 0
    parts = {
        "table": reading_bytes(n_rows, n_columns),
        "design": 2.0 * 8.0 * n_rows * width,
        "inner products": float(Gram.bytes_stored(n_rows)) if stored else 0.0,
    }
    return parts, () if fits else (FORMED,)


@dataclass(frozen=True)
class SvmGroups:
    """SVMs that are trained in one call: groups of rows, each with SVMs of some degrees and values of C.

    Examples
    --------
    >>> one = SvmGroups(largest=1000, points=1000.0, n_groups=1.0, n_classes=2, pair=1000, width=5)
    >>> round(one.scratch(n_jobs=1) / 1000**2)  # little more than a kernel of float32
    4
    """

    #: Rows of the largest group.
    largest: float
    #: Rows of all groups.
    points: float
    n_groups: float
    #: Classes of a group.
    n_classes: float
    #: Rows of the two classes of the largest group that have most.
    pair: float
    #: Columns of the design.
    width: int
    #: SVMs of each group, and how many degrees they have.
    per_group: int = 1
    n_degrees: int = 1
    #: Fraction of the rows that are support vectors.
    support: float = 1.0
    cache_bytes: float = CACHE_BYTES

    @property
    def n_pairs(self) -> float:
        """Number of pairs of classes."""
        return self.n_classes * (self.n_classes - 1.0) / 2.0

    @property
    def _coefficient_bytes(self) -> float:
        """Of a point that is a support vector, in one SVM."""
        return 8.0 * max(self.n_classes - 1.0, 1.0)

    def scratch(self, n_jobs: int | None) -> float:
        """Bytes that the solver holds while it works: every thread has its own."""
        limit, together = _SIDE_BY_SIDE
        problems = together if self.pair <= limit else 1
        kernel = min(float(self.cache_bytes), problems * 4.0 * self.pair**2 * self.support)
        products = 4.0 * self.largest**2 if self.n_classes > 2 and self.largest <= _KEPT_POINTS else 0.0
        kept = 4.0 * self.pair**2 if self.n_degrees > 1 and self.pair <= _KEPT_POINTS else 0.0
        packed = 8.0 * self.largest * self.width if formed_sooner(int(self.largest), self.width) else 0.0
        one_degree = self.per_group / self.n_degrees * self.largest * self._coefficient_bytes
        held = max(one_degree, min(_HELD_COEFFICIENTS, self.n_degrees * one_degree))
        outcomes = self.per_group * self.n_pairs * _OUTCOME_BYTES
        at_once = min(effective_n_jobs(n_jobs), max(self.n_groups * self.n_degrees, 1.0))
        return float(at_once * (kernel + products + kept + packed + held + outcomes))

    def results(self) -> float:
        """Bytes of the trained SVMs, as the solver gives them back."""
        per_point = _POINT_BYTES + self.support * self._coefficient_bytes
        return self.per_group * (self.points * per_point + self.n_groups * self.n_pairs * _PAIR_BYTES)
