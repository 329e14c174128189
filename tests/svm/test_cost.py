"""Memory of SVMs before they are trained."""

import numpy as np
import pytest

from surewood.svm import SvmGroups, solve_many
from surewood.svm.cost import FORMED, gram_limit, kernel_memory
from surewood.svm.gram import DEFAULT_MAX_MEMORY, Gram


@pytest.mark.parametrize(("given", "limit"), [(None, DEFAULT_MAX_MEMORY), (1000, 500), (float("inf"), 2**61)])
def test_inner_products_get_half_of_the_memory(given, limit):
    assert gram_limit(given) == limit


def test_stored_products_are_counted_as_they_are():
    stored = Gram(np.random.default_rng(0).normal(size=(60, 30)))
    parts, notes = kernel_memory(60, 3, 30, limit=10**6)
    assert parts["inner products"] == Gram.bytes_stored(60) == stored.products.nbytes
    assert notes == ()


def test_what_does_not_fit_is_formed_as_needed():
    parts, notes = kernel_memory(10_000, 3, 100, limit=1000)
    assert parts["inner products"] == 0
    assert notes == (FORMED,)


def test_narrow_products_are_not_stored_and_that_is_no_lack_of_memory():
    parts, notes = kernel_memory(1000, 3, 3, limit=10**9)
    assert parts["inner products"] == 0
    assert notes == ()


def groups(**changes):
    usual = {"largest": 1000, "points": 1000, "n_groups": 1, "n_classes": 2, "pair": 1000, "width": 3}
    return SvmGroups(**(usual | changes))


def test_every_thread_holds_kernel_rows():
    many = groups(n_groups=4)
    assert many.scratch(2) == 2 * many.scratch(1)
    assert groups().scratch(2) == groups().scratch(1)  # one group is not divided


def test_kernel_rows_are_those_of_support_vectors_within_the_cache():
    assert groups(pair=5000, largest=5000, cache_bytes=10**6).scratch(1) < 2 * 10**6
    kernel = 4 * 5000**2
    half, whole = (groups(pair=5000, largest=5000, support=s, cache_bytes=10**9).scratch(1) for s in (0.5, 1))
    assert whole - half == 0.5 * kernel


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_results_are_counted_as_the_solver_returns_them(n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(210, 4)), (np.arange(210) % n_classes).astype(np.int32)
    rows = [np.arange(210), np.arange(140)]
    batch = solve_many(
        Gram(X), rows, y, [1, 2], [1e-3, 1e-2]
    )  # so small a C that all rows are support vectors
    assert (batch.n_support[0] > 0.97 * 210).all()
    names = set(batch.arrays) - {"n_classes", "n_support", "n_correct", "scale", "classes", "class_support"}
    size = sum(batch.arrays[name].nbytes for name in names)
    own = groups(points=350, n_groups=2, n_classes=n_classes, per_group=4, n_degrees=2)
    assert own.results() == pytest.approx(size, rel=0.05)
