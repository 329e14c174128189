import numpy as np

from surewood.cascade.families import ConstantFamily, ConstantMember
from surewood.cascade.generic_model import GenericCascade, complexity_factor
from surewood.cascade.generic_search import SplitRule
from surewood.cascade.threshold_families import StumpMember


def test_rows_go_on_up_to_the_threshold():
    rule = SplitRule(StumpMember(0, 0.0, 0, 1, 2, by_value=True), 1.5)
    leaves = (ConstantMember(np.array([1.0, 0.0])), ConstantMember(np.array([0.0, 1.0])))
    found = GenericCascade((rule,), leaves, 2).evaluate(np.array([[1.0], [1.5], [2.0]]))
    assert found.leaf.tolist() == [1, 1, 0]
    assert found.scores.argmax(axis=1).tolist() == [1, 1, 0]


def test_the_factor_of_the_complexity():
    assert complexity_factor(2) == 4.0
    assert complexity_factor(3) == 24.0
    assert ConstantFamily().can_order is False
