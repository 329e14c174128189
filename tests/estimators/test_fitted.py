"""Attributes that are read from the fitted model."""

from types import SimpleNamespace

import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from surewood.estimators.fitted import Fitted


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
