"""A clean fit loses nothing to all these rules."""

import pytest

from surewood.bounds import clopper_pearson
from surewood.certify import certify
from tests.promises.population import draw, is_true, memorising_forest, nearest_neighbour


@pytest.mark.parametrize("fit", [memorising_forest, nearest_neighbour])
@pytest.mark.parametrize("n", [40, 1000])
def test_same_number_of_rows_and_same_value_as_the_plain_limit(fit, n):
    model = fit(*draw(300, 0))
    X, y = draw(n, 1)
    certificate = certify(model, X, y)
    assert certificate.best.n == n
    assert certificate.best.value == clopper_pearson(int((model.predict(X) != y).sum()), n)
    assert is_true(certificate)
