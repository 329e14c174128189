import math

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from surewood.cascade import (
    TreeFamily,
)
from tests.cascade.family_samples import RNG, THREE, X


def test_trees_as_splits_count_leaves_that_go_on():
    assert TreeFamily(1).split_log_growth(50, 3, 5) == pytest.approx(math.log(150) + 2 * math.log(2))


def test_a_tree_as_arrays_predicts_as_the_tree():
    weight = RNG.random(60)
    peer = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, THREE, sample_weight=weight)
    member = TreeFamily(3).fit(X, THREE, weight, 4)
    new = RNG.normal(size=(200, 3))
    np.testing.assert_allclose(member.scores(new)[:, :3], peer.predict_proba(new))
    np.testing.assert_array_equal(member.scores(new).argmax(axis=1), peer.predict(new))
