"""TabArena's adapters, with small stand-ins of the base classes that TabArena and AutoGluon document."""

import importlib
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import surewood
from surewood.base.parameters import check_parameters
from tests.contract.messy_table import messy


class ExternalSystemModel:
    """Calls `_fit_system` with all keywords of the interface, and `cleanup` at the end."""

    def __init__(self, problem_type, **budget):
        self.problem_type, self.budget = problem_type, budget

    def fit(self, X, y):
        budget = dict.fromkeys(("num_cpus", "num_gpus", "memory_limit", "time_limit", "random_state"))
        context = {"target_name": "label", "eval_metric": None, "validation_metadata": SimpleNamespace()}
        return self._fit_system(
            X.copy(), y, problem_type=self.problem_type, **context, **{**budget, **self.budget}
        )


class AbstractModel:
    """Encoded labels, preprocessed tables, parameters with the seed."""

    def __init__(self, **params):
        self.params = params

    def preprocess(self, X, **_):
        return X

    def _get_model_params(self):
        return {self.seed_name: 0, **self.params}

    def fit(self, X, y, **budget):
        self._fit(X=X, y=y, X_val=None, y_val=None, num_gpus=0, **budget)
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(self.preprocess(X))


@pytest.fixture
def adapters(monkeypatch):
    for name, member in (
        ("tabarena.benchmark.exec_models.external", ExternalSystemModel),
        ("autogluon.core.models", AbstractModel),
    ):
        words = name.split(".")
        for stop in range(1, len(words) + 1):
            monkeypatch.setitem(sys.modules, ".".join(words[:stop]), ModuleType(".".join(words[:stop])))
        setattr(sys.modules[name], member.__name__, member)
    monkeypatch.delitem(sys.modules, "benchmarks.tabarena.adapters", raising=False)
    return importlib.import_module("benchmarks.tabarena.adapters")


def test_the_system_predicts_labels_and_passes_its_time_limit_on(adapters):
    X, y = messy()
    y = pd.Series(y, index=X.index)
    system = adapters.SurewoodSystem("binary", num_cpus=1, time_limit=20.0, random_state=3)
    assert system.fit(X, y) is system
    assert system.classifier.get_params()["time_limit"] == 18
    assert system.classifier.get_params()["random_state"] == 3
    test = X.iloc[::3]
    proba = system._predict_proba(test)
    assert proba.index.equals(test.index)
    assert sorted(proba.columns) == ["no", "yes"]
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert (system._predict(test) == proba.idxmax(axis=1)).all()
    system.cleanup()
    assert "classifier" not in vars(system)


def test_the_system_refuses_regression(adapters):
    with pytest.raises(ValueError, match="surewood is for classification"):
        adapters.SurewoodSystem("regression").fit(*messy())


@pytest.mark.parametrize("name", ["CompositeForestModel", "MarginForestModel"])
def test_models_take_parameters_and_budget(adapters, name):
    X, y = messy()
    labels = pd.Series(np.unique(y, return_inverse=True)[1], index=X.index)
    model = getattr(adapters, name)(n_estimators=2).fit(X, labels, time_limit=30.0, num_cpus=2)
    params = model.model.get_params()
    assert (params["n_estimators"], params["n_jobs"], params["random_state"]) == (2, 2, 0)
    assert 0 < params["time_limit"] <= 27
    assert model.predict_proba(X).shape == (len(X), 2)


@pytest.mark.parametrize("name", ["CompositeForestModel", "MarginForestModel"])
def test_search_spaces_of_models_are_valid_and_large_enough(adapters, name):
    """TabArena draws about 200 configurations."""
    model = getattr(adapters, name)
    assert np.prod([len(values) for values in model.search_space.values()]) >= 200
    for parameter, values in model.search_space.items():
        for value in values:
            check_parameters(getattr(surewood, model.classifier)(**{parameter: value}))


def test_modules_to_import_before_the_clock_starts_exist(adapters):
    for module in {*adapters.SurewoodSystem.warmup_modules, *adapters.CompositeForestModel.warmup_modules}:
        importlib.import_module(module)
