"""Trees in scikit-learn's layout and in ours."""

import numpy as np

from surewood.boosting.converting import GrownTree, flat_forest, left_codes
from surewood.trees import bin_array

NODE = np.dtype(
    [
        ("value", float), ("feature_idx", np.intp), ("num_threshold", float),
        ("missing_go_to_left", np.uint8),
        ("left", np.uint32), ("right", np.uint32), ("gain", float), ("is_leaf", np.uint8),
        ("is_categorical", np.uint8), ("bitset_idx", np.uint32),
    ]
)  # fmt: skip


def tree():
    """x0 <= 1 (missing left): 10; else x1 <= 0: 20, else 30; nodes in an order of their own."""
    nodes = np.zeros(5, dtype=NODE)
    nodes[0] = (0, 0, 1.5, 1, 4, 1, 3.0, 0, 0, 0)
    nodes[1] = (0, 1, 0.5, 0, 2, 3, 1.0, 0, 0, 0)
    for at, value in ((2, 20.0), (3, 30.0), (4, 10.0)):
        nodes[at]["value"], nodes[at]["is_leaf"], nodes[at]["num_threshold"] = value, 1, np.nan
    return GrownTree(nodes, np.zeros((0, 256), dtype=bool))


def test_children_stand_side_by_side_and_values_stay_with_their_leaves():
    matrix = bin_array(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0], [np.nan, 1.0]]))
    forest, values, gains = flat_forest([tree(), tree()], matrix.mapper, 2)
    assert forest.n_trees == 2
    found = forest.look_up(matrix, values.view(np.int32)).view(np.float32)
    np.testing.assert_array_equal(found, np.array([[10, 10, 20, 30, 10]] * 2).T)
    np.testing.assert_array_equal(gains, [6.0, 2.0])
    table = forest.table(1)
    np.testing.assert_array_equal(table["right"] - table["left"], [1, 0, 1, 0, 0])


def test_no_tree_is_an_empty_forest():
    matrix = bin_array(np.array([[0.0], [1.0]]))
    forest, values, gains = flat_forest([], matrix.mapper, 1)
    assert (forest.n_trees, len(values), gains.tolist()) == (0, 0, [0.0])


def test_numbers_of_categories_become_codes():
    bits = np.array([0b101, 0, 0, 0, 0, 0, 0, 0], dtype=np.uint32)
    left = left_codes(bits, np.array([4, 7, 9]), missing_left=False)
    assert np.flatnonzero(left).tolist() == [4, 9]
    left = left_codes(bits, np.array([4, 7, 9]), missing_left=True)
    assert np.flatnonzero(~left).tolist() == [7]
