"""X_train that is not the training table."""

import pytest

from surewood.certify import certify
from tests.promises.population import draw, nearest_neighbour


def test_other_columns_get_one_sentence():
    X, y = draw(100, 0)
    with pytest.raises(ValueError, match="X_train must have the columns of X, got 3 against 4 columns"):
        certify(nearest_neighbour(X, y), X, y, X_train=X[:, :3])
