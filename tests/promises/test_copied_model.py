"""A shallow copy of a model with another predict."""

import copy

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_a_copy_remembers_too():
    X, y = draw(300, 0)
    judged = copy.copy(memorising_forest(X, y))
    judged.predict = lambda X: y
    assert certify(judged, X, y).guarantees == ()
