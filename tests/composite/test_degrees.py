"""Degrees from counts: the leafwise minimum against brute force, ties, draws that depend on keys alone."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood.bounds import composite_theorem
from surewood.composite import degrees
from surewood.composite.degrees import LeafChoice
from surewood.composite.growing import IndexSets, TreeRange, collect_leaves, cut, grow
from tests.composite.composite_samples import prepared, sample, setting

SMALL = {"n_features": 3, "n_splitting": 3, "max_features": 2, "n_classes": 3}


@st.composite
def small_trees(draw):
    """Counts of a tree with up to five leaves and up to four degrees."""
    n_leaves, n_degrees = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    total = np.array(draw(st.lists(st.integers(1, 40), min_size=n_leaves, max_size=n_leaves)), dtype=float)
    share = draw(st.lists(st.floats(0, 1), min_size=n_leaves * n_degrees, max_size=n_leaves * n_degrees))
    correct = np.floor(np.array(share).reshape(n_leaves, n_degrees) * total[:, None])
    depth = np.array(draw(st.lists(st.integers(0, 4), min_size=n_leaves, max_size=n_leaves)))
    gamma = draw(st.sampled_from([1e-5, 1e-4, 1e-3, 1e-2, 1.0]))
    return total, correct, depth, gamma


def terms_of(total, correct, depth, gamma):
    m = total.sum()
    cost = degrees.complexities(depth, np.arange(1, correct.shape[1] + 1), m=m, **SMALL)
    return degrees.leaf_terms(correct, total, cost, m=m, n_classes=3, gamma_scale=gamma)


@settings(max_examples=60, deadline=None)
@given(small_trees())
def test_leafwise_minimum_equals_brute_force_over_all_sequences(tree):
    terms = terms_of(*tree)
    leaves = np.arange(len(terms))
    chosen = degrees.choose_exact(terms)
    best = min(
        terms[leaves, list(sequence)].sum() for sequence in product(range(terms.shape[1]), repeat=len(terms))
    )
    assert terms[leaves, chosen].sum() == pytest.approx(best, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(small_trees())
def test_the_whole_theorem_is_minimised_over_all_sequences_and_rho(tree):
    """Against Theorem 1 of every sequence at every ρ = 1/j, by its own formula."""
    total, correct, depth, _ = tree
    m, (n_leaves, n_degrees) = total.sum(), correct.shape
    cost = degrees.complexities(depth, np.arange(1, n_degrees + 1), m=m, **SMALL) / 1000  # else all is inert

    def bound(sequence):
        at = (np.arange(n_leaves), np.asarray(sequence))
        theorem = composite_theorem(
            correct[at], total - correct[at], cost[at], n_classes=3, n_families=n_leaves * 4
        )
        values = [theorem.at(rho_inverse=j, delta=0.05) for j in range(1, n_leaves + 1)]
        return min(value.value for value in values)

    charged = total[:, None] - correct + 24.0 * m * cost
    ensemble = m * degrees.composite_ensemble_terms(n_leaves, m, 4, 3)
    leaves = np.ones(n_leaves, dtype=bool)
    chosen = degrees.choose_by_theorem(charged, total, np.zeros(n_leaves, dtype=int), [ensemble], leaves)
    best = min(bound(sequence) for sequence in product(range(n_degrees), repeat=n_leaves))
    assert bound(chosen) == pytest.approx(best, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(small_trees(), st.integers(0, 1000))
def test_random_sequences_never_beat_the_exact_minimum(tree, seed):
    terms = terms_of(*tree)
    leaves, codes = np.arange(len(terms)), np.arange(2, 2 + len(terms)).astype(np.uint64)
    drawn = degrees.choose_random_sequences(terms, np.zeros(len(terms), dtype=int), codes, 10, seed)
    exact = degrees.choose_exact(terms)
    assert terms[leaves, drawn].sum() >= terms[leaves, exact].sum() - 1e-9


@settings(max_examples=60, deadline=None)
@given(small_trees())
def test_terms_never_exceed_the_leaf_and_do_not_fall_with_gamma(tree):
    total, correct, depth, gamma = tree
    terms = terms_of(total, correct, depth, gamma)
    assert (terms <= total[:, None]).all()
    assert (terms_of(total, correct, depth, 10 * gamma) >= terms - 1e-9).all()


def test_an_inert_criterion_is_exactly_one_and_the_smallest_degree_wins():
    total = np.array([30.0, 70.0])
    correct = np.array([[20.0, 25.0, 30.0], [50.0, 60.0, 70.0]])
    terms = terms_of(total, correct, np.array([1, 1]), 1.0)
    assert (terms == total[:, None]).all()
    assert terms[:, 0].sum() / total.sum() == 1.0
    assert degrees.choose_exact(terms).tolist() == [0, 0]


def test_random_sequences_are_the_first_best_of_those_drawn():
    rng = np.random.default_rng(0)
    terms = rng.integers(0, 5, size=(6, 3)).astype(float)
    tree, code = np.array([0, 0, 0, 1, 1, 1]), np.array([4, 5, 3, 2, 6, 7], dtype=np.uint64)
    chosen = degrees.choose_random_sequences(terms, tree, code, 4, seed=11)
    for t in (0, 1):
        at = np.flatnonzero(tree == t)
        drawn = [degrees.keyed_below(3, 11, s, tree, code)[at] for s in range(4)]
        scores = [terms[at, d].sum() for d in drawn]
        assert chosen[at].tolist() == drawn[int(np.argmin(scores))].tolist()


SETTING = setting(degrees=(1, 2, 3), C=(1.0, 1.0, 1.0))


@pytest.fixture(scope="module")
def choice():
    data = prepared(*sample(150))
    grove = grow(data, SETTING, TreeRange(4, 0))
    sets = IndexSets(data.y, data.weight, data.n_classes)
    leaves = collect_leaves(grove, cut(grove.topology, 2), sets)
    return LeafChoice(data, SETTING, leaves, sets, grove.sample_size(data), seed=0)


def counts(choice, seed=0):
    """Random numbers of correct points, at most the size of the set."""
    total = choice.sets.total
    return np.floor(np.random.default_rng(seed).random((len(total), 3)) * total[:, None])


def test_constant_leaves_come_first(choice):
    correct, at = counts(choice), np.arange(len(choice.leaves))
    with_constants = replace(choice, setting=replace(SETTING, constant_leaves=True))
    terms = with_constants.terms(at, correct)
    assert terms.shape == (len(at), 4)
    assert np.array_equal(terms[:, 1:], choice.terms(at, correct))
    columns = np.zeros(len(at), dtype=np.intp)
    assert with_constants.wanted(at, [columns]) == {}
    assert choice.wanted(at, [columns]) == {int(s): {0} for s in choice.leaves.set_id}


@pytest.mark.parametrize("selection", ["exact", "random_sequences", "random_degree"])
def test_the_final_column_is_among_the_candidates(choice, selection):
    correct, at = counts(choice), np.arange(len(choice.leaves))
    drawn = replace(choice, setting=replace(SETTING, selection=selection))
    columns = drawn.columns(at, correct)
    candidates = np.stack(drawn.candidates(at, correct))
    assert (candidates == columns).any(axis=0).all()
