"""A model that was saved and loaded before it was certified on its training rows."""

import pickle

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_the_memory_is_saved_with_the_model():
    X, y = draw(300, 0)
    model = pickle.loads(pickle.dumps(memorising_forest(X, y)))
    assert certify(model, X, y).guarantees == ()
