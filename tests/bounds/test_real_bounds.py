"""Leaves with real values: what they share with two-valued leaves, and what they refuse."""

import numpy as np
import pytest

from surewood.bounds import (
    cascade_theorem,
    composite_theorem,
    real_cascade_bound,
    real_composite_bound,
)

CORRECT, ERRORS, COMPLEXITY = [900, 600, 40], [50, 10, 5], [0.004, 0.003, 0.01]
SHARED = {"n_families": 12, "delta": 0.02}
LEAVES = CORRECT, ERRORS, COMPLEXITY


def signed(correct, errors, level=1.0):
    return [np.repeat([level, -level], pair) for pair in zip(correct, errors)]


@pytest.mark.parametrize("rho_inverse", [3, 2, 1])
def test_leaves_with_margins_of_one_are_the_two_valued_ones(rho_inverse):
    arguments = SHARED | {"rho_inverse": rho_inverse}
    margins = signed(CORRECT, ERRORS)
    place = {"rho_inverse": rho_inverse, "delta": 0.02}
    plain = composite_theorem(*LEAVES, n_classes=2, n_families=12).at(**place)
    real = real_composite_bound(margins, COMPLEXITY, n_classes=2, **arguments)
    assert real.decomposition() == pytest.approx(plain.decomposition())
    assert real.proved
    plain = cascade_theorem(*LEAVES, n_families=12).at(**place)
    for thresholds in ("smallest", "any"):
        real = real_cascade_bound(margins, COMPLEXITY, thresholds=thresholds, **arguments)
        assert real.decomposition() == pytest.approx(plain.decomposition())


def test_any_threshold_is_sharper_than_the_smallest_margin():
    leaf = np.concatenate([np.full(990, 0.9), np.full(10, 0.01)])  # ten doubtful points spoil the smallest
    arguments = {"n_families": 2, "rho_inverse": 200}
    smallest = real_cascade_bound([leaf], [0.001], **arguments)
    any_threshold = real_cascade_bound([leaf], [0.001], thresholds="any", **arguments)
    assert smallest.leaf_terms == pytest.approx(0.4)
    assert any_threshold.leaf_terms == pytest.approx(0.01 + 0.004 / 0.9)


def test_more_than_twenty_active_leaves_need_any_threshold():
    margins = signed([100] * 30, [1] * 30)
    with pytest.raises(ValueError, match="at most 20 positive entries"):
        real_cascade_bound(margins, [1e-4] * 30, n_families=2, rho_inverse=9)
    bound = real_cascade_bound(margins, [1e-4] * 30, n_families=2, rho_inverse=9, thresholds="any")
    assert bound.l_term == pytest.approx(21 * (100 / 3030 - 4e-4))


@pytest.mark.parametrize(
    ("margins", "complexity", "change", "message"),
    [
        ([[1.5]], [0.1], {}, r"margins must be in \[-1, 1\]"),
        ([[-1.5]], [0.1], {}, "margins must be >= -1"),
        ([[0.5], [0.5]], [0.1], {}, r"complexity must have one entry per leaf \(2\), got 1"),
        ([[]], [0.1], {}, "number of margins must be an integer >= 1"),
        ([[0.5]], [-0.1], {}, "complexity must be >= 0"),
        ([[0.5]], [0.1], {"delta": 0.0}, "delta must be in"),
        ([[0.5]], [0.1], {"rho_inverse": 0}, "rho_inverse must be a finite number > 0"),
    ],
)
def test_bad_arguments(margins, complexity, change, message):
    arguments = {"n_families": 2, "rho_inverse": 1} | change
    with pytest.raises(ValueError, match=message):
        real_composite_bound(margins, complexity, n_classes=2, **arguments)
    with pytest.raises(ValueError, match=message):
        real_cascade_bound(margins, complexity, **arguments)
