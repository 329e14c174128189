"""What the support vectors of an SVM guarantee: sample compression (theory.md §6.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.bounds import CompressionEvidence, probe_points
from surewood.bounds import rebuilt_alike as same_classifier
from surewood.svm import Predictor, SvmBatch
from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram

__all__ = ["compression_counts", "compression_evidence", "rebuilt_alike"]

_ALIKE = 10.0  # largest change of a decision value at a support vector, in units of the solver's tolerance


def compression_counts(svms: SvmBatch, codes: NDArray[np.int32]) -> tuple[int, int, int]:
    """Training rows, support vectors, and errors of the SVM on all other rows."""
    wrong = svms.predicted(0) != codes[svms.group_rows(0)]
    kept = np.ones(svms.gram.n_rows, dtype=bool)
    kept[svms.support(0)] = False
    rest = kept[svms.group_rows(0)]
    return len(wrong), int((~kept).sum()), int((wrong & rest).sum())


def rebuilt_alike(predictor: Predictor, C: float, options: dict[str, Any]) -> bool:
    """Whether an SVM trained on the support vectors alone is the same classifier ([D-40]).

    It must give the same labels on the support vectors and on probe points around them, and decision values
    that agree up to the solver's tolerance.
    """
    owner = np.zeros(len(predictor.support_rows), dtype=np.int32)
    owner[predictor.support] = np.repeat(predictor.classes, predictor.class_support)
    if len(predictor.classes) < 2:
        return True
    if len(owner) == 0:  # a solver so loose that it stopped before the first step
        return False
    rows = [np.arange(len(owner))]
    again = solve_many(
        Gram(predictor.support_rows), rows, owner, [int(predictor.degree[0])], [C], kernel=predictor.kernel,
        **options,
    ).predictor()  # fmt: skip
    own, probes = predictor.support_rows, probe_points(predictor.support_rows)
    before, after = ((p.predict(own), p.predict(probes), p.decisions(own)) for p in (predictor, again))
    return same_classifier(before, after, tolerance=_ALIKE * options["tol"])


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
