from fractions import Fraction

import numpy as np

from surewood.cascade import ConstantFamily, LinearFamily, StumpFamily
from surewood.cascade.generic_training import build_generic
from tests.cascade.small_tasks import small_problem


def test_a_chain_ends_early_where_no_split_divides_the_points():
    _, sample = small_problem(np.repeat([[0.0], [1.0]], 5, axis=0), [0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
    built = build_generic(
        sample, [ConstantFamily(), StumpFamily()], [LinearFamily("hinge")], Fraction(1, 100), np.arange(2)
    )
    assert len(built.leaves) == len(built.splits) + 1


def test_a_chain_has_the_chosen_families():
    _, sample = small_problem()
    built = build_generic(
        sample, [StumpFamily(), StumpFamily()], [LinearFamily("hinge")], Fraction(1, 2), np.arange(90)
    )
    assert len(built.splits) == 1
    leaf = built.evaluate(sample.design).leaf
    assert 40 <= (leaf == 1).sum() <= 50
