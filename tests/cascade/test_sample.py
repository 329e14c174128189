"""Samples without a usable column: the majority class is all there is."""

import numpy as np
import pandas as pd
import pytest

from surewood import DeepCascadeClassifier, DeepCascadeSVMClassifier, DeepCascadeSVMClassifierCV
from surewood.cascade.sample import varies

LABELS = {
    "binary": np.array(["a"] * 4 + ["b"] * 9),
    "no class above one half": np.array(["a"] * 3 + ["b"] * 7 + ["c"] * 5),
}
TABLES = {
    "equal rows": lambda n: pd.DataFrame({"x": np.full(n, 2.5), "y": np.full(n, -1.0)}),
    "empty categories": lambda n: pd.DataFrame({"x": pd.Categorical([None] * n, categories=["p", "q"])}),
    "missing numbers": lambda n: pd.DataFrame({"x": np.full(n, np.nan)}),
}
MODELS = {
    "one_vs_rest": DeepCascadeSVMClassifier(random_state=0),
    "native": DeepCascadeSVMClassifier(multiclass="native", kernel="homogeneous", random_state=0),
    "cv": DeepCascadeSVMClassifierCV(cv=2, max_leaves=2, random_state=0),
    "generic": DeepCascadeClassifier(leaves=["linear_svm", "stump"], random_state=0),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_the_majority_class_is_predicted(model, labels, table):
    X = table(len(labels))
    model.fit(X, labels)
    assert set(model.predict(X)) == {"b"}
    proba = model.predict_proba(X)
    assert set(model.classes_[proba.argmax(axis=1)]) == {"b"}
    assert np.isfinite(proba).all()


def test_weights_decide_the_majority():
    X, y = np.zeros((6, 1)), np.array([0, 0, 0, 0, 1, 1])
    model = DeepCascadeSVMClassifier(random_state=0).fit(X, y, sample_weight=[1, 1, 1, 1, 4, 4])
    assert set(model.predict(X)) == {1}
    assert model.ledger().correct.tolist() == [8.0]


def test_varies():
    assert varies(np.array([[1.0, 2.0], [1.0, 3.0]]))
    assert not varies(np.array([[1.0, 2.0]] * 4))
