"""Estimates before a fit: sums, words, limits, rows of a probe."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surewood import BinnedForestClassifier
from surewood.estimators import cost as cost_module
from surewood.estimators.cost import CostEstimate, mib, probe_order, probe_seconds, refuse_beyond, spread_rows


def test_memory_is_the_sum_of_its_parts():
    cost = CostEstimate.of({"trees": 5.0 * 2**20, "bins": 3.0 * 2**20}, (1.0, 20.0), "layers on disk")
    assert cost.memory_bytes == 8 * 2**20
    assert str(cost) == "about 8 MiB (trees 5 MiB, bins 3 MiB) and 1 to 20 s; layers on disk"


def test_small_sizes_are_one_mebibyte():
    assert mib(10) == "1 MiB"


@pytest.mark.parametrize(("limit", "needed"), [(None, 1e18), (10, 10)])
def test_what_fits_is_not_refused(limit, needed):
    refuse_beyond(limit, needed, "use fewer rows")


def test_every_beginning_has_the_class_frequencies():
    y = np.repeat([0, 1, 2], [600, 300, 100])
    order = spread_rows(y)
    assert sorted(order) == list(range(1000))
    for n in (50, 100, 500):
        np.testing.assert_allclose(np.bincount(y[order[:n]]) / n, [0.6, 0.3, 0.1], atol=0.03)


def test_a_probe_gives_a_range_that_grows_with_the_table():
    X, y = load_iris(return_X_y=True)
    model = BinnedForestClassifier(3, random_state=0)
    low, high = probe_seconds(model, X, y)
    assert 0 < low < high
    larger = probe_seconds(model, np.tile(X, (40, 1)), np.tile(y, 40))
    assert larger[1] > high


@pytest.mark.parametrize(
    ("n_rows", "once", "per_row", "power", "probes"),
    [
        (3000, 0.015, 3e-10, 3.0, [150, 300, 600, 1200]),  # what happens once hides how time grows
        (20_000, 0.01, 1e-6, 1.2, [150, 300, 600, 1200, 2400, 4800, 9600]),
        (100_000, 0.1, 1e-3, 1.0, [150, 300]),  # the first probes take long enough
        (500, 0.01, 1e-5, 1.0, [150, 300]),  # there are few rows
        (200, 0.01, 1e-5, 1.0, [100, 200]),
    ],
)
def test_probes_have_more_rows_until_they_tell_how_time_grows(
    monkeypatch, n_rows, once, per_row, power, probes
):
    tried = []

    def seconds(estimator, X, y, rows):
        tried.append(len(rows))
        return once + per_row * len(rows) ** power

    monkeypatch.setattr(cost_module, "_seconds_of", seconds)
    low, high = probe_seconds(None, np.zeros((n_rows, 1)), np.arange(n_rows) % 2)
    assert tried == probes
    assert low <= once + per_row * n_rows**power <= high


def test_probes_of_many_classes_have_whole_classes():
    y = np.random.default_rng(0).permutation(np.arange(1000) % 500)
    order = probe_order(y, 300)
    assert sorted(order) == list(range(1000))
    assert len(np.unique(y[order[:300]])) == 150
    few = np.repeat([0, 1, 2], [600, 300, 100])
    np.testing.assert_array_equal(probe_order(few, 300), spread_rows(few))
