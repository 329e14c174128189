"""Words that mean the same in every estimator: searches, limits, memory, remembered rows."""

import numpy as np
import pytest

from tests.contract.estimators import classifiers, deterministic, exported

X = np.random.default_rng(0).normal(size=(60, 4))
Y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
OLD_NAMES = {
    "probability",
    "time_budget",
    "max_seconds",
    "n_folds",
    "plain_share",
    "max_machines",
    "questions",
}


def searches():
    return [cls for cls in classifiers() if cls.__name__.endswith("CV")]


def with_parameter(name):
    return [cls for cls in exported() if name in cls().get_params()]


def ids(cls):
    return cls.__name__


@pytest.mark.parametrize("cls", searches(), ids=ids)
def test_searches_report_alike(cls):
    model = deterministic(cls).fit(X, Y)
    results = model.cv_results_
    assert len({len(values) for values in results.values()}) == 1
    assert {"params", "mean_test_score", "rank_test_score"} <= set(results)
    # Not always the first of rank 1: ties, and rules that prefer the simplest within a standard error.
    place = list(results["params"]).index(model.best_params_)
    assert model.best_score_ == pytest.approx(results["mean_test_score"][place])
    assert 0.0 <= model.best_score_ <= 1.0
    assert cls().get_params()["refit"] is True


@pytest.mark.parametrize("cls", classifiers(), ids=ids)
def test_training_rows_are_remembered(cls):
    model = deterministic(cls).fit(X, Y)
    assert model.remembered_rows_.contains(X).all()
    assert not model.remembered_rows_.contains(X + 1.0).any()
    assert deterministic(cls, remember_rows=False).fit(X, Y).remembered_rows_ is None


@pytest.mark.parametrize("cls", with_parameter("max_memory"), ids=ids)
def test_memory_may_be_text(cls):
    one, two = (deterministic(cls, max_memory=size).fit(X, Y) for size in ("4GB", 4 * 10**9))
    if hasattr(one, "predict"):
        np.testing.assert_array_equal(one.predict(X), two.predict(X))
