from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine

from surewood.deepforest import MarginDeepForestClassifier
from surewood.deepforest.margin_layers import MarginLayers
from surewood.tables import begin_predict


@pytest.fixture(scope="module")
def fitted():
    X, y = load_wine(return_X_y=True)
    study = {"patience": 9, "step": "literal", "monitor": "neg_log_loss"}
    model = MarginDeepForestClassifier(3, forests=["random"], max_layers=3, study=study, random_state=0)
    return model.fit(X, y), model.model_.reader.read(begin_predict(model, X))


def with_steps(layers, steps, mode):
    changed = [replace(layer, step=step) for layer, step in zip(layers.layers, steps)]
    return MarginLayers(changed, mode, layers.layer_inputs)


def test_weights_of_the_layers():
    class Layer:
        def __init__(self, step):
            self.step = step

    steps = [Layer(1.0), Layer(0.5), Layer(0.2)]
    assert MarginLayers(steps, "simplex", "both").alphas() == pytest.approx((0.4, 0.4, 0.2))
    assert MarginLayers(steps, "literal", "both").alphas() == (1.0, 0.5, 0.2)


def test_scores_are_the_weighted_mean_of_the_layers_vectors(fitted):
    model, base = fitted
    layers = model.model_.layers
    walked = list(layers.walk(base))
    alphas = np.array(layers.alphas())
    vectors = np.array([members.mean(axis=0) for _, members, _ in walked])
    expected = np.einsum("t,tij->ij", alphas / alphas.sum(), vectors)
    np.testing.assert_allclose(walked[-1][2], expected)
    np.testing.assert_allclose(list(layers.staged_scores(base))[-1], expected)


def test_later_layers_read_the_scores_of_earlier_ones(fitted):
    model, base = fitted
    for number, (inputs, _, _) in enumerate(model.model_.layers.walk(base)):
        assert inputs.matrix.n_columns == (13 if number == 0 else 13 + 3)


def test_importances_sum_to_one_whatever_the_scale_of_the_steps(fitted):
    model, _ = fitted
    layers = model.model_.layers
    small, large = (with_steps(layers, [s] * len(layers), "literal") for s in (0.1, 10.0))
    np.testing.assert_allclose(small.importances(13), large.importances(13))
    assert small.importances(13).sum() == pytest.approx(1.0)
