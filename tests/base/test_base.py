"""Importances sum to 1, or are all 0.

Attributes that are read from the fitted model.

What a classifier gets from the base: predictions and tags.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from surewood.base.base import ClassifierBase, Fitted, normalized
from surewood.base.parameters import COMMON, Switch


def test_sums():
    assert normalized(np.array([2.0, 6.0])).tolist() == [0.25, 0.75]
    assert normalized(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


class Forest(BaseEstimator):
    seed_ = Fitted[int]("seed", "What the trees were drawn with.")
    rows_ = Fitted[int]("sample.n_rows", "Training rows.")

    def fit(self):
        self.model_ = SimpleNamespace(seed=7, sample=SimpleNamespace(n_rows=20))
        return self


def test_values_are_read_from_the_model_and_its_parts():
    assert (Forest().fit().seed_, Forest().fit().rows_) == (7, 20)


def test_without_a_fit_the_error_says_so_and_the_attribute_is_absent():
    with pytest.raises(NotFittedError, match="This Forest instance is not fitted yet"):
        _ = Forest().seed_
    assert not hasattr(Forest(), "rows_")


def test_it_is_a_documented_property_that_nobody_sets():
    assert isinstance(Forest.seed_, property)
    assert Forest.seed_.__doc__ == "What the trees were drawn with."
    with pytest.raises(AttributeError):
        Forest().fit().seed_ = 8


class Constant(ClassifierBase):
    """Always the same probabilities."""

    _parameter_rules: ClassVar = {"calibrate": COMMON["calibrate"], "remember_rows": COMMON["remember_rows"]}
    _study_switches: ClassVar = {
        "max_bins": Switch(255, COMMON["max_bins"]),
        "tol": Switch(1e-3, COMMON["tol"]),
    }

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


def test_tables_may_be_sparse_and_have_gaps_text_and_categories(model):
    tags = get_tags(model).input_tags
    assert tags.allow_nan
    assert tags.sparse
    assert tags.categorical
    assert tags.string


def test_explanations_begin_alike(model):
    [row] = model.explain([[0]])
    assert row == {
        "kind": "toy",
        "prediction": "b",
        "probabilities": {"a": 0.25, "b": 0.375, "c": 0.375, "d": 0.0},
        "because": None,  # no training rows to compare with
        "depth": 3,
    }
