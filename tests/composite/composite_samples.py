"""Small samples, and their preparation for the core functions."""

from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier

from surewood.composite.data import SolverOptions, prepare
from surewood.composite.growing import Setting
from surewood.tables import begin_fit


def sample(n=200, n_features=6, n_classes=3, seed=0, flip_y=0.1):
    return make_classification(
        n, n_features, n_informative=4, n_redundant=1, n_classes=n_classes, flip_y=flip_y, random_state=seed
    )


def prepared(X, y, sample_weight=None):
    return prepare(begin_fit(DummyClassifier(), X, y, sample_weight), SolverOptions())


def setting(**changes):
    base = {"max_depth": 2, "max_features": 2, "degrees": (1, 2), "C": (1.0, 1.0), "gamma_scale": 1e-4}
    return Setting(**(base | changes))
