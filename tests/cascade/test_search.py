"""Branch and bound over the tree of prefixes is exhaustive search, and trains every SVM once."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood.base.time_limit import TimeLimit
from surewood.bounds import cascade_complexity, cascade_criterion
from surewood.cascade.chain import Path
from surewood.cascade.search import PrefixTree, leaf_complexity, minimise, tie
from surewood.cascade.training import prepare_all
from tests.cascade.conftest import small_problem
from tests.cascade.reference import ToyTrainer, all_scores, first_minimiser

SHARES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1))
GAMMAS = (math.inf, 1.0, 0.3, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001, 0.0)


def tree_of(trainer, max_leaves=3, shares=SHARES):
    return PrefixTree(trainer, shares, max_leaves)


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(1, 24),
    seed=st.integers(0, 10**6),
    flat=st.booleans(),
    weighted=st.booleans(),
    accuracy=st.sampled_from([0.5, 0.8, 1.0]),
)
def test_branch_and_bound_is_exhaustive_search(n, seed, flat, weighted, accuracy):
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, n) if weighted else None
    trainer = ToyTrainer(n, 2, seed, weight, accuracy)
    complexity = np.array([0.4, 0.4] if flat else [0.3, 0.5])
    scores = all_scores(trainer, complexity, GAMMAS, SHARES, 3)
    tree = tree_of(trainer)  # one tree for every γ and number of leaves
    for k, gamma in enumerate(GAMMAS):
        best, score = first_minimiser(scores, k)
        found = minimise(tree, complexity, gamma)
        assert found.proven
        assert (found.path.choices, found.path.fractions) == best
        assert abs(found.score - score) <= 1e-9
        # A fresh tree gives the same, whatever was trained before.
        assert minimise(tree_of(trainer), complexity, gamma).path == found.path


@settings(max_examples=15, deadline=None)
@given(n=st.integers(2, 20), seed=st.integers(0, 10**6))
def test_exact_numbers_of_leaves(n, seed):
    trainer = ToyTrainer(n, 2, seed)
    complexity = np.array([0.3, 0.5])
    shares = SHARES[:-1]
    scores = all_scores(trainer, complexity, GAMMAS, shares, 3)
    tree = tree_of(trainer, shares=shares)
    for leaves in (1, 2, 3):
        for k, gamma in enumerate(GAMMAS):
            best, score = first_minimiser(scores, k, leaves)
            found = minimise(tree, complexity, gamma, n_leaves=leaves)
            assert (found is None) == (best is None)
            if best is not None:
                assert (found.path.choices, found.path.fractions) == best
                assert abs(found.score - score) <= 1e-9
    assert minimise(tree, complexity, 0.1, n_leaves=4) is None


def test_an_inert_scale_returns_the_first_plain_machine_at_once():
    trainer = ToyTrainer(40, 4, 1)
    found = minimise(tree_of(trainer, 4), np.array([0.5, 0.6, 0.7, 0.8]), 1.0)
    assert found.path.choices == (0,)
    assert found.score == 40.0  # exactly
    assert found.n_svms == trainer.n_calls == 1
    assert found.active_fraction == 0.0


def test_every_machine_is_trained_once():
    trainer = ToyTrainer(60, 3, 2)
    tree = tree_of(trainer, 3)
    minimise(tree, np.array([0.2, 0.3, 0.4]), 0.001)
    before = trainer.n_calls
    assert tree.n_svms == before
    minimise(tree, np.array([0.2, 0.3, 0.4]), 0.001)
    minimise(tree, np.array([0.2, 0.3, 0.4]), 1.0)
    assert trainer.n_calls == before
    minimise(tree, np.array([0.2, 0.3, 0.4]), 0.0)
    assert trainer.n_calls <= tree.n_cascades


@settings(max_examples=20, deadline=None)
@given(machines=st.integers(1, 60), seed=st.integers(0, 1000))
def test_a_limit_gives_a_valid_gap(machines, seed):
    trainer, complexity = ToyTrainer(30, 3, seed), np.array([0.2, 0.3, 0.4])
    exact = minimise(tree_of(trainer), complexity, 0.01)
    cut_short = minimise(tree_of(trainer), complexity, 0.01, max_svms=machines)
    assert cut_short.lower_bound <= exact.score + tie(exact.score)
    assert cut_short.score >= exact.score - tie(exact.score)
    assert cut_short.gap >= (cut_short.score - exact.score) / 30 - 1e-12
    if cut_short.proven:
        assert cut_short.path == exact.path
    out_of_time = minimise(tree_of(trainer), complexity, 0.01, limit=TimeLimit(0.0))
    assert out_of_time.lower_bound <= exact.score + tie(exact.score)


def test_counts_and_complexities_of_the_result_give_its_score():
    trainer, complexity = ToyTrainer(50, 3, 5), np.array([0.2, 0.3, 0.4])
    for gamma in (0.05, 0.005, 0.001):
        found = minimise(tree_of(trainer), complexity, gamma)
        assert found.plus.sum() + found.minus.sum() == 50
        expected = cascade_criterion(found.plus, found.minus, found.complexity, gamma_scale=gamma)
        assert found.score / 50 == pytest.approx(expected, abs=1e-12)
        intercept, slope = found.line
        assert intercept + slope * gamma == pytest.approx(found.score, abs=1e-9)


def test_leaf_complexities_are_those_of_the_bound():
    growth = np.array([246.041122, 60.445564, 100.0])
    ours = leaf_complexity(np.sqrt(growth / 500))
    np.testing.assert_allclose(ours, cascade_complexity(growth, 500))


def test_a_tree_too_large_to_number_is_refused():
    with pytest.raises(ValueError, match="more cascades than can be numbered"):
        PrefixTree(ToyTrainer(5, 9, 0), [Fraction(i, 100) for i in range(1, 100)], 12)


def test_without_a_share_below_one_there_are_plain_svms_only():
    tree = PrefixTree(ToyTrainer(20, 2, 0), [Fraction(1)], 4)
    assert minimise(tree, np.array([0.1, 0.2]), 0.0).path.n_leaves == 1


def test_subsets_are_the_nearest_points():
    (task,) = prepare_all(*small_problem())
    tree = PrefixTree(task.trainer, (Fraction(1, 2),), 2)
    for _ in range(2):  # the second time nothing is trained
        tree.train(0, np.array([0, 0]), np.array([1, 0]))
    assert tree.n_svms == 2
    tree.settle(1)
    rows = tree.rows(1, 0)
    everything = np.arange(len(task.trainer.weight), dtype=np.int32)
    outcome = task.trainer.train([everything], [1])[0][0]
    inside = np.isin(everything, rows)
    assert outcome.distance[inside].max() < outcome.distance[~inside].min()
    assert tree.path(1, 0, 0) == Path((1, 0), (0,))
    assert tree.levels[1].leaf_plus[0] == outcome.correct[~inside].sum()
