"""Baselines: what they see and how the perceptron is chosen."""

import builtins

import numpy as np
import pandas as pd
import pytest

from surewood.experiments.errors import ExperimentError
from surewood.experiments.mddf.baselines import as_numbers, perceptron, random_forest, xgboost


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = (rng.normal(size=(90, 4)) + 3 * y[:, None]).astype(np.float32)
    return X, y


def test_numbers_are_standardised_by_the_training_part_and_complete():
    train = pd.DataFrame({"age": [20.0, 40.0, None], "job": ["clerk", "baker", "clerk"]})
    test = pd.DataFrame({"age": [30.0], "job": ["pilot"]})
    numbers, other = as_numbers(train, test)
    assert numbers.dtype == np.float32
    assert np.isfinite(numbers).all()
    assert np.isfinite(other).all()
    assert other.shape[1] == numbers.shape[1]
    assert other[0, 0] == 0.0  # the mean of the training part


def test_the_best_architecture_is_retrained(blobs):
    X, y = blobs
    fitted = perceptron(X, y, X, [[1], [64]], epochs=100, seed=0)
    assert fitted.chosen["architecture"] == "64"
    assert (fitted.predictions == y).mean() > 0.6
    assert 0 < fitted.metrics["validation_accuracy"] <= 100


def test_trees_are_counted(blobs):
    X, y = blobs
    assert random_forest(X, y, X, 7, 0, 1).metrics["trees"] == 7
    assert xgboost(X, y, X, 2, 0, 1).metrics["trees"] == 6  # three classes, two rounds
    assert xgboost(X, (y > 0).astype(int), X, 2, 0, 1).metrics["trees"] == 2


def test_without_xgboost_one_sentence_says_what_to_install(blobs, monkeypatch):
    real = builtins.__import__

    def absent(name, *args, **kwargs):
        if name == "xgboost":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ExperimentError, match=r"pip install 'surewood\[peers\]'"):
        xgboost(*blobs, blobs[0], 2, 0, 1)
