"""The same model anywhere: threads, processes, Dask and Ray with 1 to 4 workers, bit by bit."""

import functools

import joblib
import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import make_classification

from surewood.certify import certify
from tests.contract.estimators import deterministic, exported
from tests.parallel.anatomy import anatomy, differences

X, Y = make_classification(150, 5, n_informative=4, n_redundant=0, n_classes=3, class_sep=0.8, random_state=4)
NEW = np.random.default_rng(0).normal(size=(60, 5))
ESTIMATORS = {cls.__name__: cls for cls in exported()}
SETTINGS = {"BinnedForestClassifier": {"oob_score": True, "n_estimators": 40}}
each_estimator = pytest.mark.parametrize("name", ESTIMATORS)
ONE_PER_FAMILY = (
    "BinnedForestClassifier",
    "DeepCascadeSVMClassifierCV",
    "MarginDeepForestClassifier",
    "RandomCompositeForestClassifierCV",
)
one_per_family = pytest.mark.parametrize("name", ONE_PER_FAMILY)
each_estimator_on_a_cluster = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in ONE_PER_FAMILY else pytest.mark.slow) for name in ESTIMATORS],
)


def fitted(name, n_jobs=None):
    cls = ESTIMATORS[name]
    changes = SETTINGS.get(name, {})
    model = deterministic(cls, **changes)
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=n_jobs)
    return model.fit(X, Y)


def evidence(name, n_jobs=None):
    """The model's insides, its answers on new rows, and what may be promised about it."""
    model = fitted(name, n_jobs)
    found = [anatomy(model)]
    if is_classifier(model):
        found.append(anatomy(model.predict(NEW)))
        found.append(anatomy(model.predict_proba(NEW) if hasattr(model, "predict_proba") else None))
        found.append(anatomy(certify(model, NEW, model.predict(NEW))))
    else:
        found.append(anatomy(model.transform(NEW)))
    return found


@functools.cache
def alone(name):
    return evidence(name, n_jobs=1)


def check(name):
    assert differences(alone(name), evidence(name)) == []


@each_estimator
def test_two_threads(name, everything_remote):
    with joblib.parallel_config("threading", n_jobs=2):
        check(name)


@each_estimator
def test_two_processes(name, everything_remote):
    with joblib.parallel_config("loky", n_jobs=2):
        check(name)


@each_estimator_on_a_cluster
def test_two_dask_workers(name, dask_client, everything_remote):
    two = list(dask_client.nthreads())[:2]
    with joblib.parallel_config("dask", client=dask_client, workers=two):
        check(name)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
@one_per_family
def test_other_numbers_of_dask_workers(workers, name, dask_client, everything_remote):
    chosen = list(dask_client.nthreads())[:workers]
    with joblib.parallel_config("dask", client=dask_client, workers=chosen):
        check(name)


@each_estimator_on_a_cluster
def test_two_ray_workers(name, ray_session, everything_remote):
    with joblib.parallel_config("ray", ray_remote_args={"num_cpus": 2}):  # of 4
        check(name)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 4])
@one_per_family
def test_other_numbers_of_ray_workers(workers, name, ray_session, everything_remote):
    with joblib.parallel_config("ray", ray_remote_args={"num_cpus": 4 // workers}):
        check(name)
