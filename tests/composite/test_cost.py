"""Cost is known beforehand."""

import pytest

from surewood import CompositeTreeClassifier, RandomCompositeForestClassifierCV
from surewood import RandomCompositeForestClassifier as Forest
from tests.composite.composite_samples import sample


@pytest.fixture(scope="module")
def problem():
    return sample(150, seed=2)


@pytest.fixture(scope="module")
def fitted(problem):
    return Forest(n_estimators=24, degrees=(1, 2), random_state=0).fit(*problem)


@pytest.fixture(scope="module")
def paper(problem):
    return Forest.paper(n_estimators=15, max_depth=3, C=1.0, random_state=0).fit(*problem)


def test_cost_is_told_beforehand(problem):
    X, y = problem
    cost = Forest().estimate_cost(X, y)
    assert cost.memory_bytes > X.nbytes
    assert 0 < cost.seconds[0] < cost.seconds[1]
    assert cost.parts["inner products"] == 4 * len(X) ** 2
    formed = Forest(max_memory=10_000).estimate_cost(X, y)
    assert formed.parts["inner products"] == 0
    assert "formed as they are needed" in str(formed)
    with pytest.raises(ValueError, match=r"a fit needs about \d+ MiB, more than max_memory=1 MiB; use fewer"):
        Forest(max_memory=10_000).fit(X, y)
    single = CompositeTreeClassifier(max_depth=2, C=1.0).estimate_cost(X, y)
    grid = RandomCompositeForestClassifierCV.paper().estimate_cost(X, y)
    assert single.seconds[1] < cost.seconds[1] < grid.seconds[1]
