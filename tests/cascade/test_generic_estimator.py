import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import LogisticRegression

import surewood
from surewood import DeepCascadeClassifier
from surewood.cascade import ConstantFamily, EstimatorFamily, StumpFamily
from surewood.certify import certify


@pytest.fixture(scope="module")
def moons():
    return make_moons(150, noise=0.3, random_state=1)


def test_leaves_hold_the_points_of_the_search(moons):
    X, y = moons
    model = DeepCascadeClassifier(gamma_scale=1e-4, random_state=0).fit(X, y)
    found = model.search_
    assert found.path.n_leaves > 1
    leaf, right = model.decision_path(X), model.predict(X) == y
    for k in range(found.path.n_leaves):
        assert right[leaf == k].sum() == found.plus[k]
        assert (~right)[leaf == k].sum() == found.minus[k]
    ledger = model.ledger()
    assert len(ledger) == found.path.n_leaves
    terms = np.minimum(ledger["complexity_term"], ledger["sample_term"]).sum()
    assert found.score / 150 == pytest.approx(found.minus.sum() / 150 + terms)


def test_a_large_scale_gives_the_first_family():
    X, y = load_iris(return_X_y=True)
    model = DeepCascadeClassifier(gamma_scale=10.0).fit(X, y)
    assert isinstance(model.leaf_families_[0], ConstantFamily)
    assert model.split_families_ == ()


def test_families_as_objects_and_names(moons):
    wrapped = EstimatorFamily(LogisticRegression(), complexity=0.1)
    model = DeepCascadeClassifier(leaves=["stump", wrapped], splits=[wrapped], gamma_scale=1e-3)
    model = clone(model).fit(*moons)
    assert model.score(*moons) > 0.8
    assert model.decision_function(moons[0]).shape == (150,)
    no_questions = DeepCascadeClassifier(leaves=StumpFamily(), splits=[]).fit(*moons)
    assert no_questions.search_.path.n_leaves == 1


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    model = DeepCascadeClassifier(gamma_scale=1e-4, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
    assert model.decision_function(X).shape == (150, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"splits": ["constant"]}, "ConstantFamily cannot order points, so it cannot split"),
        ({"leaves": []}, "leaves is empty"),
        ({"max_leaves": 0}, "max_leaves must be an integer of at least 1, got 0"),
        ({"fractions": [2.0]}, r"fractions must be a list of numbers in \(0, 1\], got \[2.0\]"),
        ({"gamma_scale": "small"}, "gamma_scale must be 'auto' or a number of at least 0, got 'small'"),
        ({"leaves": [LogisticRegression()]}, "Wrap a scikit-learn classifier as EstimatorFamily"),
    ],
)
def test_bad_settings_are_named(moons, changes, message):
    with pytest.raises(ValueError, match=message):
        DeepCascadeClassifier(**changes).fit(*moons)


def test_evidence_is_an_estimate_only(moons):
    model = DeepCascadeClassifier(random_state=0).fit(*moons)
    (estimate,) = model.__certificate_evidence__()
    assert 0 < estimate.value < 0.5
    assert "ESTIMATE" in str(certify(model, *moons, sample="training"))


@pytest.mark.parametrize("name", ["stump", "tree", "logistic", "linear_svm", "quadratic", "rbf"])
def test_models_are_saved_and_loaded(moons, tmp_path, name):
    model = DeepCascadeClassifier(leaves=[name], splits=[name], gamma_scale=1e-4, random_state=0).fit(*moons)
    again = surewood.load(surewood.save(model, tmp_path / "model.surewood"))
    np.testing.assert_array_equal(again.predict_proba(moons[0]), model.predict_proba(moons[0]))
