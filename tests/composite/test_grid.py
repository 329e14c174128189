"""The grid in one pass: bit for bit what fitting every point alone gives."""

import numpy as np
import pytest

from surewood import RandomCompositeForestClassifier as Forest
from surewood import RandomCompositeForestClassifierCV as Search
from surewood.composite import grid
from tests.composite.composite_samples import GRID, sample


def holdout(n, seed=0):
    order = np.random.default_rng(seed).permutation(n)
    return [(np.sort(order[n // 3 :]), np.sort(order[: n // 3]))]


def alone(search, X, y, rows, held, params, weight=None):
    """Held-out accuracy of one point of the grid, fitted by itself."""
    params = dict(params)
    if "degree" in params:
        degree = params.pop("degree")
        params |= {"degrees": degree, "C": search.C_[degree]}
    else:
        params |= {"degrees": tuple(search.C_), "C": tuple(search.C_.values())}
    forest = Forest.paper(
        **params,
        selection="exact" if search.selection == "common_degree" else search.selection,
        study={"constant_leaves": bool((search.study or {}).get("constant_leaves"))},
        class_weight=search.class_weight,
        random_state=search.random_state,
    )
    forest.fit(X[rows], y[rows], None if weight is None else weight[rows])
    right = forest.predict(X[held]) == y[held]
    return np.average(right, weights=None if weight is None else weight[held])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"study": {"constant_leaves": True}},
        {"selection": "random_sequences"},
        {"selection": "common_degree"},
        {"selection": "random_degree"},
    ],
)
def test_every_point_equals_its_own_fit(changes):
    X, y = sample(150, seed=4)
    splits = holdout(150)
    search = Search(**GRID, C=(0.1, 1.0, 10.0), cv=splits, random_state=5, calibrate=False, **changes).fit(
        X, y
    )
    results = search.cv_results_
    for k, params in enumerate(results["params"]):
        assert results["mean_test_score"][k] == pytest.approx(
            alone(search, X, y, *splits[0], params), abs=1e-12
        )


def test_weights_enter_counts_svms_and_errors():
    X, y = sample(120, seed=6)
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.0], len(y))
    splits = holdout(120)
    small = GRID | {"max_features": (2,), "max_depth": (1, 2)}
    search = Search(**small, C=1.0, cv=splits, random_state=5, calibrate=False).fit(
        X, y, sample_weight=weight
    )
    for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
        assert score == pytest.approx(alone(search, X, y, *splits[0], params, weight))


def test_batches_of_trees_change_nothing(monkeypatch):
    X, y = sample(120, seed=7)
    search = Search(**GRID, C=1.0, cv=3, random_state=1, calibrate=False)
    whole = search.fit(X, y).cv_results_["mean_test_score"]
    monkeypatch.setattr(grid, "TREES_PER_BATCH", 2)
    assert np.array_equal(search.fit(X, y).cv_results_["mean_test_score"], whole)
