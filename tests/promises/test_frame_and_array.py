"""Training rows given as a frame to the fit and as an array to certify."""

import pandas as pd
import pytest

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest, nearest_neighbour


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_the_container_does_not_matter():
    X, y = draw(300, 0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert certify(nearest_neighbour(X, y), X, y, X_train=frame).guarantees == ()
    assert certify(memorising_forest(X, y), X.astype("float32"), y).guarantees == ()
