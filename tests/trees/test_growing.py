"""The builder against its reference, node by node."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood.tables.rare_categories import row_weight
from surewood.trees import BinMapper, BinnedMatrix, TreeParams, grow_forest
from tests.trees.reference_tree import ReferenceTree, assert_same_tree, tree_key


def matrix_of(codes, is_category, scale=1.0):
    """A matrix with the given codes (n, F) and irregular representative values."""
    n_columns = codes.shape[1]
    values = np.tile(np.arange(255.0) ** 1.5 * scale, n_columns)
    mapper = BinMapper(
        np.arange(n_columns + 1, dtype=np.int64) * 255, values, values, np.array(is_category, dtype=np.uint8)
    )
    return BinnedMatrix.of(np.ascontiguousarray(codes.T), mapper)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_columns = draw(st.integers(1, 40)), draw(st.integers(1, 6))
    n_classes = draw(st.sampled_from([1, 2, 3, 5, 9, 20, 70]))
    n_codes = draw(st.sampled_from([1, 2, 4, 30, 255]))
    codes = rng.integers(0, n_codes, (n, n_columns)).astype(np.uint8)
    if draw(st.booleans()):
        codes[rng.random(codes.shape) < 0.2] = 255
    is_category = rng.random(n_columns) < draw(st.sampled_from([0.0, 0.5]))
    labels = rng.integers(0, n_classes, n)
    weight = {
        "none": None,
        "counts": rng.integers(0, 4, n).astype(float),
        "large": rng.integers(1, 10**6, n).astype(float),
    }[draw(st.sampled_from(["none", "counts", "large"]))]
    if weight is not None:
        weight[0] = 1.0
    params = TreeParams(
        splitter=draw(st.sampled_from(["best", "random", "completely_random"])),
        criterion=draw(st.sampled_from(["gini", "entropy"])),
        max_depth=draw(st.sampled_from([None, 1, 3])),
        stop_depth=draw(st.sampled_from([0, 2])),
        stop_rows=draw(st.sampled_from([0, 0, 6])),
        min_samples_split=draw(st.sampled_from([2, 5])),
        min_samples_leaf=draw(st.sampled_from([1, 1, 3])),
        min_impurity_decrease=draw(st.sampled_from([0.0, 0.02])),
        max_features=draw(st.integers(1, n_columns)),
        sampling=draw(st.sampled_from(["all", "bootstrap", "subsample", "resample"])),
        n_draws=draw(st.sampled_from([None, max(1, n // 2)])),
    )
    return codes, is_category, labels, n_classes, weight, params, draw(st.integers(0, 2**63))


@settings(max_examples=400, deadline=None)
@given(problem=problems(), fast=st.booleans(), row_copy=st.booleans())
def test_equals_the_reference_node_by_node(problem, fast, row_copy):
    codes, is_category, labels, n_classes, weight, params, seed = problem
    matrix = matrix_of(codes, is_category)
    if row_copy:
        matrix = matrix.with_row_copy()
    grown = grow_forest(
        matrix, labels, n_classes, params, n_trees=2, seed=seed, weight=weight, fast_kernels=fast
    )
    values = [np.arange(255.0) ** 1.5] * codes.shape[1]
    for tree in range(2):
        counts = grown.bag.counts(tree).astype(np.int64)
        if grown.bag.weights is not None:
            counts *= grown.bag.weights
        bagged = counts > 0
        rows = grown.bag.rows[bagged]
        reference = ReferenceTree(
            codes[rows],
            values,
            is_category,
            labels[rows],
            counts[bagged],
            n_classes,
            params,
            tree_key(seed, tree),
            row_weight(grown.bag.weights) * (2.0 if params.sampling in ("bootstrap", "resample") else 1.0),
        )
        assert_same_tree(grown.forest, tree, reference)
