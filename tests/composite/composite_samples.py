"""Small samples, and their preparation for the core functions."""

from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier

from surewood.composite.data import prepare
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.setting import Setting
from surewood.tables import begin_fit

OPTIONS = SolverOptions()

#: A small grid of a search.
GRID = {
    "gamma_scale": (1e-5, 1e-4, 1e-3, 1.0),
    "max_depth": (0, 1, 3),
    "max_features": (2, 6),
    "n_estimators": (3, 7),
    "degrees": (1, 2, 4),
}


def sample(n=200, n_features=6, n_classes=3, seed=0, flip_y=0.1):
    return make_classification(
        n, n_features, n_informative=4, n_redundant=1, n_classes=n_classes, flip_y=flip_y, random_state=seed
    )


def prepared(X, y, sample_weight=None):
    return prepare(begin_fit(DummyClassifier(), X, y, sample_weight), None, 1)


def setting(**changes):
    base = {"max_depth": 2, "max_features": 2, "degrees": (1, 2), "C": (1.0, 1.0), "gamma_scale": 1e-4}
    return Setting(**(base | changes))
