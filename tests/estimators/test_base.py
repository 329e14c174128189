"""What a classifier gets from the base: predictions, tags, and states of older versions."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.utils import get_tags

from surewood.estimators.base import ClassifierBase
from surewood.estimators.parameters import COMMON, Switch


class Constant(ClassifierBase):
    """Always the same probabilities."""

    _parameter_rules: ClassVar = {"calibrate": COMMON["calibrate"], "remember_rows": COMMON["remember_rows"]}
    _study_switches: ClassVar = {
        "max_bins": Switch(255, COMMON["max_bins"]),
        "tol": Switch(1e-3, COMMON["tol"]),
    }
    _renamed_parameters: ClassVar = {"probability": "calibrate"}

    def __init__(self, calibrate=True, remember_rows=True, study=None):
        self.calibrate = calibrate
        self.remember_rows = remember_rows
        self.study = study

    def predict_proba(self, X):
        return np.tile([0.25, 0.375, 0.375, 0.0], (len(X), 1))

    def _explained(self, X):
        return self._explanations("toy", self.predict_proba(X), [{"depth": 3}])


@pytest.fixture
def model():
    fitted = Constant()
    fitted.classes_ = np.array(["a", "b", "c", "d"])
    return fitted


def test_predictions_follow_the_probabilities(model):
    assert model.predict(np.zeros((2, 1))).tolist() == ["b", "b"]  # the first of equal ones
    logs = model.predict_log_proba(np.zeros((1, 1)))
    assert np.exp(logs).tolist() == [[0.25, 0.375, 0.375, 0.0]]
    assert model.n_classes_ == 4


def test_tables_may_be_sparse_and_have_gaps(model):
    tags = get_tags(model)
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse


def test_explanations_begin_alike(model):
    [row] = model.explain([[0]])
    assert row == {
        "kind": "toy",
        "prediction": "b",
        "probabilities": {"a": 0.25, "b": 0.375, "c": 0.375, "d": 0.0},
        "because": None,  # no training rows to compare with
        "depth": 3,
    }


def test_a_state_of_an_older_version_gets_todays_parameters():
    model = Constant.__new__(Constant)
    model.__setstate__({"probability": False, "max_bins": 63, "tol": 1e-3, "classes_": np.array([0, 1])})
    assert model.get_params() == {"calibrate": False, "remember_rows": True, "study": {"max_bins": 63}}
    assert model.n_classes_ == 2
    assert not hasattr(model, "max_bins")
