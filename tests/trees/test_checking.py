"""Forged forests, bins and codes never reach the core: each kind is refused with one sentence."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from surewood import _core
from surewood.trees.binning import BinMapper, BinnedMatrix, bin_array
from surewood.trees.flat_tree import FlatForest
from surewood.trees.growing import TreeParams, grow_forest, make_bag
from tests.instruction_sets import each_instruction_set

LEAF = ((1 << 22) - 1) << 10  # core/forest/flat_tree.hpp


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(200, 3)).round(2)


def grown(X, n_classes, **options):
    y = np.random.default_rng(1).integers(0, n_classes, len(X))
    params = TreeParams(max_features=2, min_samples_leaf=4, **options)
    return grow_forest(bin_array(X), y, n_classes, params, n_trees=3, seed=0).forest


def changed(forest, name, place, value):
    array = getattr(forest, name).copy()
    array[place] = value
    return {name: array}


def first(forest, wanted):
    """The first node of the second tree whose word satisfies `wanted`."""
    nodes = forest.nodes[forest.node_start[1] : forest.node_start[2]]
    return int(forest.node_start[1] + np.flatnonzero([wanted(int(word)) for word in nodes[:, 1]])[0])


def is_split(word):
    return word < LEAF


FORGED_WHOLE = {
    "child before its parent": (lambda f: changed(f, "nodes", (first(f, is_split), 0), 0), "a child is not"),
    "child past its tree": (lambda f: changed(f, "nodes", (first(f, is_split), 0), 10**6), "a child is not"),
    "child is the last node": (
        lambda f: changed(f, "nodes", (first(f, is_split), 0), f.node_start[2] - f.node_start[1] - 1),
        "a child is not",
    ),
    "unknown feature": (lambda f: changed(f, "nodes", (first(f, is_split), 1), 3 << 10), "unknown feature"),
    "no bin on the left": (lambda f: changed(f, "nodes", (first(f, is_split), 1), 2), "no bin on its left"),
    "category without an entry": (lambda f: changed(f, "nodes", (first(f, is_split), 1), 1), "has no entry"),
    "category with a test": (lambda f: changed(f, "nodes", (first(f, is_split), 1), 5), "has a test"),
    "class of a pure leaf": (lambda f: changed(f, "nodes", -1, (3, LEAF)), "unknown class"),
    "kind of a leaf": (lambda f: changed(f, "nodes", -1, (0, LEAF + 3)), "no known kind"),
    "bits of a leaf": (lambda f: changed(f, "nodes", -1, (0, LEAF + 4)), "no known kind"),
    "probability among three classes": (lambda f: changed(f, "nodes", -1, (0, LEAF + 2)), "not two classes"),
    "offset past the pool": (lambda f: changed(f, "nodes", -1, (10**6, LEAF + 1)), "not in the pool"),
    "offset inside a vector": (lambda f: changed(f, "nodes", -1, (1, LEAF + 1)), "not in the pool"),
    "length of a leaf vector": (lambda f: changed(f, "leaf_class", 0, 60_000), "runs past its pool"),
    "empty leaf vector": (lambda f: changed(f, "leaf_class", 0, 0), "runs past its pool"),
    "class of a leaf vector": (lambda f: changed(f, "leaf_class", 1, 3), "unknown class"),
    "weight of a leaf vector": (lambda f: changed(f, "leaf_weight", 0, 0), "has no weight"),
    "weight of a class in a leaf": (lambda f: changed(f, "leaf_weight", 1, 4_000_000_000), "do not sum"),
    "weight of a leaf's classes": (lambda f: changed(f, "leaf_weight", 0, 1), "do not sum"),
    "starts that do not begin at 0": (lambda f: changed(f, "node_start", 0, 1), "must begin with 0"),
    "starts that fall": (lambda f: changed(f, "node_start", 1, f.node_start[2] + 1), "must ascend"),
    "huge start": (lambda f: changed(f, "leaf_start", 1, 2**62), "must ascend"),
    "starts that end elsewhere": (lambda f: changed(f, "leaf_start", -1, 10**6), "must end at the length"),
    "starts of too few trees": (lambda f: {"leaf_start": f.leaf_start[:-1]}, "leaf_start"),
    "shorter pool": (lambda f: {"leaf_weight": f.leaf_weight[:-1]}, "leaf_weight"),
    "other dtype": (lambda f: {"nodes": f.nodes.astype(np.int64)}, "must be an array of uint32"),
    "no array": (lambda f: {"nodes": None}, "must be an array of uint32, got NoneType"),
    "other shape": (lambda f: {"nodes": np.zeros((4, 3), dtype=np.uint32)}, "nodes"),
    "not contiguous": (lambda f: {"nodes": np.asfortranarray(f.nodes)}, "C-contiguous"),
    "no classes": (lambda f: {"n_classes": 0}, "n_classes must be an integer from 1"),
    "fewer classes": (lambda f: {"n_classes": 1}, "unknown class"),
    "fewer features": (lambda f: {"n_features": 1}, "unknown feature"),
    "features as a word": (lambda f: {"n_features": "3"}, "n_features must be an integer"),
    "whole nodes called short": (lambda f: {"word_bits": 12}, "nodes"),
}


@pytest.mark.parametrize("kind", FORGED_WHOLE)
def test_a_forged_forest_is_refused(X, kind):
    forest = grown(X, 3)
    forge, sentence = FORGED_WHOLE[kind]
    with pytest.raises(ValueError, match=sentence):
        replace(forest, **forge(forest))
    state = forest.__getstate__() | forge(forest)
    with pytest.raises(ValueError, match=sentence):
        FlatForest.__new__(FlatForest).__setstate__(state)


def test_an_honest_forest_passes_and_pickles(X):
    for n_classes in (2, 3):
        forest = grown(X, n_classes)
        for one in (forest, forest.with_short_nodes(), forest.trees(1, 3)):
            copy = pickle.loads(pickle.dumps(one))
            matrix = bin_array(X)
            np.testing.assert_array_equal(copy.predict_proba(matrix), one.predict_proba(matrix))


def test_nothing_changes_a_forest_that_was_checked(X):
    forest = grown(X, 3)
    for same in (forest, pickle.loads(pickle.dumps(forest)), forest.with_short_nodes(), forest.trees(1, 3)):
        for array in same.arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
    bins, out = _core.Bins(list(bin_array(X).blocks)), np.zeros((len(X), 3))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.predict_codes(forest.arrays, bins, 0, len(X), out)
    arrays = forest.__getstate__()
    for name, array in (("nodes", forest.nodes.tolist()), ("word_bits", None)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            _core.Forest(**arrays | {name: array})
    with pytest.raises(TypeError, match="leaf_class: expected an array of uint16"):
        _core.Forest(**arrays | {"leaf_class": forest.leaf_weight})
    with pytest.raises(TypeError, match="nodes: expected a C-contiguous array"):
        _core.Forest(**arrays | {"nodes": np.asfortranarray(forest.nodes)})


def test_splits_compare_only_with_bins_that_exist(X):
    for n_classes in (2, 3):
        forest = grown(X, n_classes)
        _, word = forest.read_nodes(np.arange(len(forest.nodes)))
        word = word[word < LEAF]
        sizes = np.zeros(forest.n_features, dtype=np.int64)
        np.maximum.at(sizes, word >> 10, (word >> 2 & 255) - (word >> 1 & 1) + 1)
        assert sizes.max() > 10
        for same in (forest, forest.with_short_nodes()):
            for fewer in (None, *range(forest.n_features)):
                offset = np.r_[0, np.cumsum(sizes - (np.arange(forest.n_features) == fewer))]
                for _ in each_instruction_set():
                    assert _core.splits_fit(same.in_core, offset) == (fewer is None)
    with pytest.raises(TypeError, match="offset"):
        _core.splits_fit(forest.in_core, offset[:-1])


def test_a_flaw_is_found_wherever_it_stands(X):
    forest = grown(X, 3)
    for same in (forest, forest.with_short_nodes()):
        _, word = same.read_nodes(np.arange(len(same.nodes)))
        for at in np.flatnonzero(word < LEAF):
            bad = same.nodes[at].copy()
            if same.word_bits:
                bad &= np.uint32((1 << same.word_bits) - 1)  # the distance to its child is 0: it is its own
            else:
                bad[0] = at - same.node_start[np.searchsorted(same.node_start, at, side="right") - 1]
            for _ in each_instruction_set():
                with pytest.raises(ValueError, match="a child is not"):
                    replace(same, **changed(same, "nodes", at, bad))


def test_probabilities_are_checked(X):
    forest = grown(X, 2)
    at = int(np.flatnonzero(forest.nodes[:, 1] == LEAF + 2)[0])
    for value in (np.nan, np.inf, -0.5, 1.5):
        bits = int(np.array([value], dtype=np.float32).view(np.uint32)[0])
        with pytest.raises(ValueError, match=r"not in 0\.\.1"):
            replace(forest, **changed(forest, "nodes", (at, 0), bits))
    short = forest.with_short_nodes()
    with pytest.raises(ValueError, match=r"not in 0\.\.1"):
        replace(short, **changed(short, "leaf_weight", 0, 0x7FC00000))


@pytest.mark.parametrize(
    ("forge", "sentence"),
    [
        (lambda f: changed(f, "nodes", 0, f.nodes[0] & ((1 << f.word_bits) - 1)), "a child is not"),
        (
            lambda f: changed(f, "nodes", 0, f.nodes[0] | 0xFF000000),
            "a child is not",
        ),
        (lambda f: changed(f, "nodes", -1, 0xFFFFFFFF), "no known kind"),
        (lambda f: {"word_bits": 10}, "word_bits"),
        (lambda f: {"word_bits": 11}, "word_bits does not fit"),
        (lambda f: {"word_bits": 40}, "word_bits must be an integer"),
        (lambda f: {"word_bits": 0}, "nodes"),
    ],
)
def test_forged_short_nodes_are_refused(X, forge, sentence):
    short = grown(X, 3).with_short_nodes()
    with pytest.raises(ValueError, match=sentence):
        replace(short, **forge(short))


def test_category_entries_are_checked():
    codes = np.random.default_rng(2).integers(0, 6, size=(1, 300)).astype(np.uint8)
    values = np.arange(6.0)
    mapper = BinMapper(np.array([0, 6]), values, values, np.ones(1, dtype=np.uint8))
    y = np.isin(codes[0], [0, 3, 5]).astype(int)
    forest = grow_forest(BinnedMatrix.of(codes, mapper), y, 2, TreeParams(), n_trees=1, seed=0).forest
    assert len(forest.category_left)
    with pytest.raises(ValueError, match="a child is not"):
        replace(forest, **changed(forest, "category_left", 0, 10**6))
    with pytest.raises(ValueError, match="category_set"):
        replace(forest, category_set=forest.category_set[:-1])
    with pytest.raises(ValueError, match="category splits need codes"):
        forest.predict_proba_raw(np.zeros((4, 1)), mapper)


FORGED_BINS = {
    "offset past the edges": ({"offset": np.array([0, 2, 9])}, "offset must ascend"),
    "offset that falls": ({"offset": np.array([0, 5, 4])}, "offset must ascend"),
    "empty column": ({"offset": np.array([0, 4, 4])}, "offset must ascend"),
    "columns": ({"offset": np.array([0, 4])}, "one entry per column"),
    "lengths": ({"values": np.zeros(3)}, "one entry per column"),
    "threshold not a number": ({"edges": np.array([0.0, np.nan, 1.0, np.inf])}, "must be finite"),
    "infinite threshold": ({"edges": np.array([np.inf, np.inf, 1.0, np.inf])}, "must be finite"),
    "thresholds that fall": ({"edges": np.array([2.0, np.inf, 1.0, -np.inf])}, "must ascend"),
    "value": ({"values": np.array([0.0, np.nan, 1.0, 2.0])}, "must be finite"),
    "dtype": ({"edges": np.zeros(4, dtype=np.float32)}, "edges must be an array of float64"),
    "category bins of a number": ({"category_bins": {0: np.zeros(3, dtype=np.uint8)}}, "category_bins"),
    "category bins of no column": ({"category_bins": {7: np.zeros(3, dtype=np.uint8)}}, "category_bins"),
}


@pytest.mark.parametrize("kind", FORGED_BINS)
def test_forged_bins_are_refused(kind):
    honest = BinMapper(
        np.array([0, 2, 4]), np.arange(4.0), np.array([0.5, np.inf, 2.5, np.inf]), np.zeros(2, dtype=np.uint8)
    )
    forged, sentence = FORGED_BINS[kind]
    with pytest.raises(ValueError, match=sentence):
        replace(honest, **forged)
    with pytest.raises(ValueError, match=sentence):
        BinMapper.__new__(BinMapper).__setstate__(honest.__dict__ | forged)
    assert pickle.loads(pickle.dumps(honest)).n_columns == 2


def test_raw_numbers_need_the_bins_that_splits_compare_with(X):
    forest = grown(X, 2)
    few = bin_array(X[:3]).mapper
    with pytest.raises(ValueError, match="compares with a bin that its column does not have"):
        forest.predict_proba_raw(X, few)
    with pytest.raises(ValueError, match="grown on 3 columns, got bins of 2"):
        forest.predict_proba_raw(X[:, :2], bin_array(X[:, :2]).mapper)
    with pytest.raises(ValueError, match="grown on 3 columns, got 2"):
        forest.predict_proba(bin_array(X[:, :2]))


def test_codes_beyond_the_bins_are_refused(X):
    matrix = bin_array(X)
    codes = matrix.blocks[0].copy()
    codes[1, 7] = 254
    with pytest.raises(ValueError, match="a code is no bin of its column"):
        grow_forest(replace(matrix, blocks=(codes,)), np.zeros(len(X)), 1, TreeParams(), n_trees=1, seed=0)
    codes[1, 7] = 255  # missing, which the matrix denies
    with pytest.raises(ValueError, match="a code is no bin of its column"):
        grow_forest(replace(matrix, blocks=(codes,)), np.zeros(len(X)), 1, TreeParams(), n_trees=1, seed=0)


def test_unknown_words_are_refused(X):
    matrix, y = bin_array(X), np.zeros(len(X), dtype=int)
    for wrong in ({"splitter": "worst"}, {"criterion": "ginny"}, {"sampling": "some"}):
        (name,) = wrong
        with pytest.raises(ValueError, match=f"{name} must be one of 'a?.*, got '"):
            grow_forest(matrix, y, 1, TreeParams(**wrong), n_trees=1, seed=0)
    with pytest.raises(ValueError, match="max_features must be from 1"):
        grow_forest(matrix, y, 1, TreeParams(max_features=0), n_trees=1, seed=0)
    with pytest.raises(ValueError, match="a label is not below n_classes"):
        grow_forest(matrix, y + 1, 1, TreeParams(), n_trees=1, seed=0)


def test_rows_that_do_not_fit_are_refused(X):
    many = np.broadcast_to(np.zeros((1, 1), dtype=np.uint8), (1, 2**32))
    with pytest.raises(ValueError, match="at most 4294967294 rows have a number of 32 bits, got 4294967296"):
        _core.Bins([many])
    huge = replace(bin_array(X[:, :1]), blocks=(many,))
    with pytest.raises(ValueError, match="at most 4294967294 rows"):
        make_bag(huge, np.zeros(1), "all", None, 0)
    with pytest.raises(ValueError, match="past the last row"):
        make_bag(bin_array(X), np.zeros(len(X)), "all", None, 0, rows=np.array([-1]))
