"""Weights, copies and rebuilt classifiers: when an in-sample bound may be quoted."""

import numpy as np
import pytest

from surewood.bounds import has_too_many_copies, is_unweighted, probe_points, rebuilt_alike


@pytest.mark.parametrize(
    ("sample_weight", "class_weight", "answer"),
    [
        (None, None, True),
        ([1, 1, 1], None, True),
        ([2.0, 2.0], None, True),
        ([1, 0, 1], None, False),
        ([0, 0], None, False),
        ([1, 2], None, False),
        (None, {0: 1, 1: 0}, False),
        (None, {0: 1.0, 1: 1.0}, True),
        (None, {"a": 2.0}, False),
        (None, "balanced", False),
        ([1, 1], {0: 1, 1: 3}, False),
    ],
)
def test_any_unequal_weight_counts(sample_weight, class_weight, answer):
    assert is_unweighted(sample_weight, class_weight) is answer


def test_one_percent_of_copies_is_the_limit():
    assert not has_too_many_copies(1000, 990)
    assert has_too_many_copies(1000, 989)
    assert has_too_many_copies(1_500_000, 10)
    with pytest.raises(ValueError, match="n_contents must be <= n_rows=3, got 4"):
        has_too_many_copies(3, 4)


def test_probe_points_stay_near_the_rows_and_are_repeatable():
    rows = np.random.default_rng(0).normal(size=(30, 3)) * [1, 10, 0]
    probes = probe_points(rows)
    assert probes.shape == (1000, 3)
    assert np.array_equal(probes, probe_points(rows))
    nearest = np.abs(probes[:, None] - rows).max(axis=2).min(axis=1)
    assert nearest.max() < 5.0
    assert (probes[:, 2] == 0).all()


SAME = ([0, 1, 1], [1, 0], [0.5, 0.0])


@pytest.mark.parametrize(
    ("after", "answer"),
    [
        (SAME, True),
        (([0, 1, 1], [1, 0], [0.4999, 0.0]), True),
        (([0, 1, 1], [1, 0], [0.4, 0.0]), False),
        (([0, 1, 0], [1, 0], [0.5, 0.0]), False),
        (([0, 1, 1], [0, 0], [0.5, 0.0]), False),
        (([0, 1, 1], [1, 0], [0.5]), False),
        (([0, 1, 1], [1, 0], [0.5, np.nan]), False),
    ],
)
def test_same_labels_everywhere_and_duals_within_the_tolerance(after, answer):
    assert rebuilt_alike(SAME, after, tolerance=1e-3) is answer


def test_a_huge_tolerance_still_needs_equal_labels():
    assert rebuilt_alike(SAME, ([0, 1, 1], [1, 0], [3.0, 1.0]), tolerance=5.0)
    assert not rebuilt_alike(SAME, ([0, 1, 1], [1, 1], [0.5, 0.0]), tolerance=5.0)
