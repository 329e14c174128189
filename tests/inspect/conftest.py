"""Small fitted models of each family, and pictures that no screen shows."""

import pytest
from sklearn.datasets import make_classification, make_moons

from surewood import (
    CascadeForestClassifier,
    CompositeTreeClassifier,
    DeepCascadeClassifier,
    DeepCascadeSVMClassifier,
    MarginDeepForestClassifier,
    RandomCompositeForestClassifier,
)


@pytest.fixture(autouse=True)
def no_screen():
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="session")
def moons():
    return make_moons(160, noise=0.25, random_state=0)


@pytest.fixture(scope="session")
def three_classes():
    return make_classification(
        150, 5, n_informative=4, n_redundant=0, n_classes=3, class_sep=1.5, random_state=0
    )


@pytest.fixture(scope="session")
def tree(moons):
    return CompositeTreeClassifier(max_depth=2, C=1.0, random_state=0).fit(*moons)


@pytest.fixture(scope="session")
def forest(moons):
    return RandomCompositeForestClassifier(
        4, selection="exact", max_depth=2, C=1.0, gamma_scale=1e-3, random_state=0
    ).fit(*moons)


@pytest.fixture(scope="session")
def cascade(moons):
    return DeepCascadeSVMClassifier(
        3, n_leaves=2, degrees=(1, 2), fractions=(0.2, 0.4), C=1.0, random_state=0
    ).fit(*moons)


@pytest.fixture(scope="session")
def cascades(three_classes):
    return DeepCascadeSVMClassifier(
        2, n_leaves=2, degrees=(1, 2), fractions=(0.4,), C=1.0, random_state=0
    ).fit(*three_classes)


@pytest.fixture(scope="session")
def generic_cascade(moons):
    return DeepCascadeClassifier(("stump", "tree"), max_leaves=2, gamma_scale=1e-4, random_state=0).fit(
        *moons
    )


@pytest.fixture(scope="session")
def margin_forest(three_classes):
    return MarginDeepForestClassifier(
        4, forests=["random", "extra"], max_layers=3, study={"patience": 3}, random_state=0
    ).fit(*three_classes)


@pytest.fixture(scope="session")
def cascade_forest(three_classes):
    return CascadeForestClassifier(4, forests=["random"], max_layers=2, random_state=0).fit(*three_classes)
