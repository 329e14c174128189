"""Two models compared on the training rows of one of them."""

import pytest

from surewood.certify import compare_models
from tests.promises.population import draw, memorising_forest


@pytest.mark.parametrize("swapped", [False, True])
def test_rows_that_one_of_them_knows_do_not_count(swapped):
    first, second = draw(300, 0), draw(300, 1)
    models = [memorising_forest(*first), memorising_forest(*second)]
    a, b = models[::-1] if swapped else models
    assert compare_models(a, b, *first).guarantees == ()
    assert compare_models(a, b, *second).guarantees == ()
