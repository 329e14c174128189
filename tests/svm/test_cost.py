"""Memory of SVMs before they are trained."""

import numpy as np
import pytest

from surewood.svm.cost import FORMED, gram_limit, kernel_memory
from surewood.svm.gram import DEFAULT_MAX_MEMORY, Gram


@pytest.mark.parametrize(("given", "limit"), [(None, DEFAULT_MAX_MEMORY), (1000, 500), (float("inf"), 2**61)])
def test_inner_products_get_half_of_the_memory(given, limit):
    assert gram_limit(given) == limit


def test_stored_products_are_counted_as_they_are():
    stored = Gram(np.random.default_rng(0).normal(size=(60, 3)))
    parts, notes = kernel_memory(60, 3, 3, limit=10**6)
    assert parts["inner products"] == Gram.bytes_stored(60) == stored.products.nbytes
    assert notes == ()


def test_what_does_not_fit_is_formed_as_needed():
    parts, notes = kernel_memory(10_000, 3, 3, limit=1000)
    assert parts["inner products"] == 0
    assert notes == (FORMED,)


def test_every_thread_holds_kernel_rows():
    one, two = (kernel_memory(1000, 3, 3, limit=1, n_jobs=n)[0]["kernel rows"] for n in (1, 2))
    assert two == 2 * one
