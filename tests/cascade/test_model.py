"""The frozen model: evidence is what fit recorded."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons

from surewood import DeepCascadeClassifier, DeepCascadeSVMClassifier, DeepCascadeSVMClassifierCV

SETTINGS = {"max_leaves": 3, "fractions": (0.3, 0.6), "degrees": (1, 2, 3), "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    return make_moons(110, noise=0.3, random_state=1)


@pytest.mark.parametrize("cls", [DeepCascadeSVMClassifier, DeepCascadeSVMClassifierCV])
def test_parameters_set_after_the_fit_change_no_evidence(moons, cls):
    model = cls(**SETTINGS).fit(*moons)
    counts, estimate = model.__certificate_evidence__()
    ledger = model.ledger().to_frame()
    model.set_params(max_leaves=1, degrees=(1,), kernel="rbf", study={"growth": "sum"})
    later, later_estimate = model.__certificate_evidence__()
    assert (later.n_families, later.max_leaves) == (counts.n_families, 3)
    np.testing.assert_array_equal(later.complexity, counts.complexity)
    assert later_estimate.value == estimate.value
    pd.testing.assert_frame_equal(model.ledger().to_frame(), ledger)


def test_a_generic_ledger_keeps_the_gamma_of_the_fit(moons):
    model = DeepCascadeClassifier(gamma_scale=1e-3, random_state=0).fit(*moons)
    ledger = model.ledger()
    model.set_params(gamma_scale=1.0)
    pd.testing.assert_frame_equal(model.ledger(), ledger)
    assert model.gamma_scale_ == 1e-3


def fixed_features(X, y):
    evidence = DeepCascadeSVMClassifier(max_leaves=1, C=1.0, random_state=0).fit(X, y).model_.evidence()[0]
    held = {condition.text: condition.holds for condition in evidence.conditions()}
    return evidence.affine_features, held["leaf classes do not change with the scaling of the features"]


def test_representations_learned_from_the_sample_break_the_fixed_features(moons):
    X, y = moons
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert fixed_features(frame, y) == (True, True)
    missing = frame.copy()
    missing.loc[3, "a"] = np.nan  # imputed with a mean, and an indicator column
    assert fixed_features(missing, y) == (False, False)
    category = frame.assign(c=pd.Categorical(np.where(X[:, 0] > 0, "left", "right")))  # one-hot columns
    assert fixed_features(category, y) == (False, False)


def test_the_model_is_frozen_and_everything_is_in_it(moons):
    model = DeepCascadeSVMClassifier(**SETTINGS).fit(*moons)
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.model_.max_leaves = 9
    assert not [name for name in vars(model) if name.startswith("_")]


def test_without_calibration_there_are_no_probabilities(moons):
    model = DeepCascadeSVMClassifier(**SETTINGS, calibrate=False).fit(*moons)
    model.set_params(calibrate=True)
    with pytest.raises(AttributeError, match="fitted with calibrate=False"):
        model.predict_proba(moons[0])
    assert model.explain(moons[0][:1])[0]["probabilities"] is None
