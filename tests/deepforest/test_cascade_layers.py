import numpy as np
import pytest
from sklearn.datasets import load_wine

from surewood.deepforest import CascadeForestClassifier
from surewood.deepforest.cascade_layers import CascadeLayers, side_by_side
from surewood.tables import begin_predict


def test_side_by_side_keeps_rows_together():
    vectors = np.arange(12.0).reshape(2, 3, 2)  # two forests, three rows, two classes
    np.testing.assert_array_equal(side_by_side(vectors)[0], [0, 1, 6, 7])
    assert side_by_side(vectors[:, :0]).shape == (0, 4)


@pytest.fixture(scope="module")
def fitted():
    X, y = load_wine(return_X_y=True)
    model = CascadeForestClassifier(5, screening=0.8, max_layers=3, study={"patience": 9}, random_state=0)
    return model.fit(X, y), X


def test_rows_leave_at_the_gate_and_keep_their_scores(fitted):
    model, X = fitted
    layers = model.model_.layers
    base = model.model_.reader.read(begin_predict(model, X))
    before = None
    for layer, (active, inputs, vectors, scores) in zip(layers.layers, layers.walk(base)):
        assert inputs.matrix.n_rows == len(active) == vectors.shape[1]
        np.testing.assert_allclose(scores.sum(axis=1), 1.0)
        if before is not None:
            gone = np.setdiff1d(np.arange(len(X)), active)
            np.testing.assert_array_equal(scores[gone], before[0][gone])
            assert (before[0][gone].max(axis=1) >= before[1]).all()
        before = scores, layer.gate


def test_importances_of_one_layer_are_its_own(fitted):
    model, _ = fitted
    first = CascadeLayers(model.model_.layers.layers[:1])
    np.testing.assert_array_equal(first.importances(13), model.model_.layers.layers[0].importances)
