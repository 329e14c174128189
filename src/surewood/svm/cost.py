"""Memory of SVMs over one matrix of inner products, counted before it is made."""

from __future__ import annotations

from joblib import effective_n_jobs

from surewood.svm.gram import DEFAULT_MAX_MEMORY, Gram
from surewood.tables import reading_bytes

__all__ = ["gram_limit", "kernel_memory"]

FORMED = "inner products are formed as they are needed"


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
    n_rows: int,
    n_columns: int,
    width: int,
    *,
    limit: int,
    cache_bytes: int = 64 << 20,
    n_jobs: int | None = None,
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Parts of the memory of a fit on `n_rows` rows whose design has `width` columns, and what to note.

    `limit` is what the inner products may take; beyond it they are not stored.

    Examples
    --------
    >>> parts, notes = kernel_memory(1000, 5, 5, limit=10**9)
    >>> round(parts["inner products"]), notes
    (4000000, ())
    >>> kernel_memory(1000, 5, 5, limit=10**6)[1]
    ('inner products are formed as they are needed',)
    """
    stored = Gram.bytes_stored(n_rows) <= limit
    held = min(cache_bytes, Gram.bytes_stored(n_rows)) * effective_n_jobs(n_jobs)
    parts = {
        "table": reading_bytes(n_rows, n_columns),
        "design": 2.0 * 8.0 * n_rows * width,
        "inner products": float(Gram.bytes_stored(n_rows)) if stored else 0.0,
        "kernel rows": float(held),
    }
    return parts, () if stored else (FORMED,)
