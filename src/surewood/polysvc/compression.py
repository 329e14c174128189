"""What the support vectors of an SVM guarantee: sample compression (theory.md §6.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.bounds import CompressionEvidence
from surewood.svm import Predictor, SvmBatch
from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram

__all__ = ["compression_counts", "compression_evidence", "rebuilt_alike"]

_ALIKE = 10.0  # largest change of a decision value at a support vector, in units of the solver's tolerance


def compression_counts(machines: SvmBatch, codes: NDArray[np.int32]) -> tuple[int, int, int]:
    """Training rows, support vectors, and errors of the SVM on all other rows."""
    wrong = machines.predicted(0) != codes[machines.group_rows(0)]
    kept = np.ones(machines.gram.n_rows, dtype=bool)
    kept[machines.support(0)] = False
    rest = kept[machines.group_rows(0)]
    return len(wrong), int((~kept).sum()), int((wrong & rest).sum())


def rebuilt_alike(predictor: Predictor, C: float, options: dict[str, Any]) -> bool:
    """Whether an SVM trained on the support vectors alone decides about them as this one does.

    A solver stops within a tolerance, so the decision values agree up to it, not to the last bit.
    """
    owner = np.zeros(len(predictor.support_rows), dtype=np.int32)
    owner[predictor.support] = np.repeat(predictor.classes, predictor.class_support)
    if len(predictor.classes) < 2:
        return True
    rows = [np.arange(len(owner))]
    again = solve_many(
        Gram(predictor.support_rows), rows, owner, [int(predictor.degree[0])], [C], kernel=predictor.kernel,
        **options,
    ).predictor()  # fmt: skip
    before, after = (p.decisions(predictor.support_rows) for p in (predictor, again))
    return bool(np.abs(before - after).max(initial=0.0) <= _ALIKE * options["tol"])


def compression_evidence(
    counts: tuple[int, int, int], *, reproduces: bool, scaling_fixed: bool, unweighted: bool
) -> CompressionEvidence:
    """The evidence of one SVM whose parameters were given, not chosen on the data."""
    n_samples, n_compressed, errors = counts
    return CompressionEvidence(
        n_samples=n_samples,
        n_compressed=n_compressed,
        errors=errors,
        reproduces=reproduces,
        scaling_fixed=scaling_fixed,
        unweighted=unweighted,
    )
