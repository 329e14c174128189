import json

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons

from surewood import DeepCascadeClassifier


def test_paths_are_those_of_the_prediction(model, moons):
    X, _ = moons
    leaf, predicted, decision = model.decision_path(X), model.predict(X), model.decision_function(X)
    for row, told in enumerate(model.explain(X[:30])):
        (path,) = told["cascades"]
        assert told["prediction"] == predicted[row]
        assert path["leaf"] == leaf[row]
        assert [node["goes_on"] for node in path["nodes"]] == [True] * leaf[row] + [False]
        assert path["nodes"][-1]["decision"] == pytest.approx(decision[row])
        assert len(path["path"]) == min(leaf[row] + 1, 2)  # the last of three nodes has no threshold
        assert path["support"][0]["distance"] <= path["support"][-1]["distance"]
    json.dumps(model.explain(X[:3]), allow_nan=False)


def test_every_class_has_its_own_path(iris_model):
    X, _ = load_iris(return_X_y=True)
    told = iris_model.explain(X[:2])
    assert [one["class"] for one in told[0]["cascades"]] == [0, 1, 2]
    assert set(told[0]["votes"]) == {0, 1, 2} or set(told[0]["votes"]) == {"0", "1", "2"}


def test_generic_cascades_name_their_families():
    X, y = make_moons(150, noise=0.3, random_state=1)
    model = DeepCascadeClassifier(gamma_scale=1e-4, random_state=0).fit(X, y)
    leaf = model.decision_path(X)
    for row, told in enumerate(model.explain(X[:20])):
        (path,) = told["cascades"]
        assert path["leaf"] == leaf[row]
        assert path["family"] == type(model.leaf_families_[leaf[row]]).__name__
        assert all(node["split"] == "LinearFamily" for node in path["nodes"])
        assert np.isclose(sum(told["probabilities"].values()), 1.0)
