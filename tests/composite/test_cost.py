"""Cost is known beforehand."""

import numpy as np
import pytest

from surewood import CompositeTreeClassifier, RandomCompositeForestClassifierCV
from surewood import RandomCompositeForestClassifier as Forest


def test_cost_is_told_beforehand(problem):
    X, y = problem
    cost = Forest().estimate_cost(X, y)
    assert cost.memory_bytes > X.nbytes
    assert 0 < cost.seconds[0] < cost.seconds[1]
    assert cost.parts["inner products"] == 0  # few columns: each is formed sooner than read
    wide = np.tile(X, (1, 40))
    assert Forest().estimate_cost(wide, y).parts["inner products"] == 4 * len(X) ** 2
    formed = Forest(max_memory=10_000).estimate_cost(wide, y)
    assert formed.parts["inner products"] == 0
    assert "formed as they are needed" in str(formed)
    with pytest.raises(ValueError, match=r"a fit needs about \d+ MiB, more than max_memory=1 MiB; use fewer"):
        Forest(max_memory=10_000).fit(X, y)
    single = CompositeTreeClassifier(max_depth=2, C=1.0).estimate_cost(X, y)
    grid = RandomCompositeForestClassifierCV.paper().estimate_cost(X, y)
    assert single.seconds[1] < cost.seconds[1] < grid.seconds[1]
