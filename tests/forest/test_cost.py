"""The estimate of a forest's cost grows with the forest, and limits it."""

import pytest
from sklearn.datasets import make_classification

from surewood import BinnedForestClassifier

X, Y = make_classification(2000, 10, random_state=0)


def test_more_trees_need_more():
    few, many = (BinnedForestClassifier(n, random_state=0).estimate_cost(X, Y) for n in (10, 1000))
    assert many.parts["trees"] > 50 * few.parts["trees"]
    assert many.seconds[0] > few.seconds[0]
    assert few.parts["out-of-bag votes"] == 0
    voting = BinnedForestClassifier(10, oob_score=True).estimate_cost(X, Y)
    assert voting.parts["out-of-bag votes"] == 3 * 8 * 2000 * 2


def test_a_forest_beyond_its_memory_is_refused():
    with pytest.raises(ValueError, match=r"more than max_memory=1 MiB; use fewer or smaller trees, or raise"):
        BinnedForestClassifier(500, max_memory="1MB", random_state=0).fit(X, Y)
