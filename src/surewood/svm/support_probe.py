"""How many support vectors an SVM will have, about, from two small ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram, KernelSpec

__all__ = ["expected_support"]

_PROBES = (300, 600)  # rows


def expected_support(
    design: Callable[[NDArray[np.int64]], Floats],
    codes: NDArray[np.int32],
    kernel: KernelSpec | Callable[[Floats], KernelSpec],
    degree: int,
    C: float,
    **options: Any,
) -> float:
    """Fraction of the rows that will be support vectors of an SVM on all of them, 1 where nobody knows.

    A solver asks for the kernel rows of support vectors, and their fraction falls with the number of rows: it
    is counted on 300 and on 600 random rows, and extrapolated. `design` gives the design of some rows,
    `kernel` is the kernel, or gives that of a design; `options` are those of `solve_many`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> y = (X[:, 0] > 0).astype(np.int32)
    >>> 0.0 < expected_support(lambda rows: X[rows], y, KernelSpec(), 1, 100.0) < 0.1
    True
    """
    order, found = np.random.default_rng(0).permutation(len(codes)), []
    for size in _PROBES:
        rows = np.sort(order[:size])
        own = design(rows)
        if own.shape[1] == 0 or len(np.unique(codes[rows])) < 2:
            return 1.0
        svm = solve_many(
            Gram(own, max_memory=0), [np.arange(len(rows))], codes[rows], [degree], [C],
            kernel=kernel if isinstance(kernel, KernelSpec) else kernel(own), **options,
        )  # fmt: skip
        found.append(max(1.0, float(svm.n_support.sum())) / len(rows))
    power = min(math.log(found[1] / found[0]) / math.log(_PROBES[1] / _PROBES[0]), 0.0)
    return float(found[0] * max(1.0, len(codes) / _PROBES[0]) ** power)
