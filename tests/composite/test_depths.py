"""Depths and sizes of leaves that a default fit considers."""

from surewood.composite.depths import affordable_leaf, default_depth, pilot_depths


def test_leaves_shrink_where_trees_are_many():
    assert affordable_leaf(1000, 100) == 2000
    assert affordable_leaf(20_000, 100) == 200
    assert pilot_depths(2000, 200)[0] == 3
    assert pilot_depths(60, 2000) == (0, 1, 2)


def test_the_default_depth_leaves_twenty_rows_per_leaf():
    assert [default_depth(n) for n in (1, 39, 40, 80, 320, 10**6)] == [0, 0, 1, 2, 4, 4]
