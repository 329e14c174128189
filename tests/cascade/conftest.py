"""Fitted cascades that several tests read."""

import pytest
from sklearn.datasets import load_iris, make_moons

from surewood import DeepCascadeSVMClassifier


@pytest.fixture(scope="module")
def moons():
    return make_moons(240, noise=0.3, random_state=2)


@pytest.fixture(scope="module")
def model(moons):
    X, y = moons
    settings = {"max_leaves": 3, "n_leaves": 3, "fractions": (0.3, 0.6), "degrees": (1, 2)}
    return DeepCascadeSVMClassifier(**settings, gamma_scale=1e-3, random_state=0).fit(X[:160], y[:160])


@pytest.fixture(scope="module")
def iris_model():
    X, y = load_iris(return_X_y=True)
    return DeepCascadeSVMClassifier(max_leaves=2, n_leaves=2, degrees=(1,), random_state=0).fit(X, y)
