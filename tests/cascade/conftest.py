"""Fitted cascades that several tests read, and small problems without an estimator around them."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons

from surewood import DeepCascadeClassifier, DeepCascadeSVMClassifier
from surewood.base.parameters import checked_parameters
from surewood.cascade.data import prepare
from surewood.cascade.plan import make_plan
from surewood.tables import begin_fit


@pytest.fixture(scope="session")
def moons():
    return make_moons(240, noise=0.3, random_state=2)


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def model(moons):
    """A cascade of three leaves, fitted on the first 160 rows."""
    X, y = moons
    settings = {"max_leaves": 3, "n_leaves": 3, "fractions": (0.3, 0.6), "degrees": (1, 2)}
    return DeepCascadeSVMClassifier(**settings, gamma_scale=1e-3, random_state=0).fit(X[:160], y[:160])


@pytest.fixture(scope="session")
def iris_model(iris):
    """A cascade of two leaves for each of three classes."""
    return DeepCascadeSVMClassifier(max_leaves=2, n_leaves=2, degrees=(1,), random_state=0).fit(*iris)


@pytest.fixture(scope="session")
def generic_model(moons):
    X, y = moons
    return DeepCascadeClassifier(gamma_scale=1e-4, random_state=0).fit(X[:150], y[:150])


def small_problem(X=None, y=None, **changes):
    """Plan and data of a small problem."""
    if X is None:
        X, y = make_moons(90, noise=0.3, random_state=1)
    settings = {"max_leaves": 3, "fractions": (0.3, 0.6), "degrees": (1, 2), "gamma_scale": 1e-3, "C": 1.0}
    estimator = DeepCascadeSVMClassifier(**{**settings, **changes})
    sample = prepare(begin_fit(estimator, np.asarray(X), np.asarray(y)), None)
    return make_plan(checked_parameters(estimator), sample, 0), sample
