"""The γ path: every place where the best cascade changes, as exhaustive search finds it."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood.cascade.gamma_path import gamma_path, inner_point
from surewood.cascade.search import PrefixTree, minimise
from tests.cascade.reference import ToyTrainer, all_scores, first_minimiser

SHARES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
COMPLEXITY = np.array([0.3, 0.45])


@settings(max_examples=20, deadline=None)
@given(n=st.integers(2, 22), seed=st.integers(0, 10**6), accuracy=st.sampled_from([0.4, 0.7, 0.9]))
def test_the_path_is_that_of_exhaustive_search(n, seed, accuracy):
    trainer = ToyTrainer(n, 2, seed, accuracy=accuracy)
    pieces = gamma_path(PrefixTree(trainer, SHARES, 3), COMPLEXITY)
    assert pieces[0].high == math.inf
    assert pieces[-1].low == 0.0
    for before, after in pairwise(pieces):
        assert before.low == after.high
        assert before.path != after.path
    inside = []
    for piece in pieces:
        top = piece.high if math.isfinite(piece.high) else 2 * piece.low + 1.0
        inside += [(piece, piece.low + share * (top - piece.low)) for share in (0.01, 0.3, 0.5, 0.9, 0.99)]
    scores = all_scores(trainer, COMPLEXITY, [gamma for _, gamma in inside], SHARES, 3)
    for k, (piece, _) in enumerate(inside):
        best, _ = first_minimiser(scores, k)
        assert (piece.path.choices, piece.path.fractions) == best


def test_the_path_begins_with_the_tie_rule_and_gets_no_shorter_in_error():
    trainer = ToyTrainer(60, 2, 3)
    pieces = gamma_path(PrefixTree(trainer, SHARES, 3), COMPLEXITY)
    assert pieces[0].path.choices == (0,)
    errors = [piece.result.minus.sum() for piece in pieces]
    assert all(b <= a for a, b in pairwise(errors))


def test_the_path_may_end_early():
    tree = PrefixTree(ToyTrainer(60, 2, 3), SHARES, 3)
    whole = gamma_path(tree, COMPLEXITY)
    part = gamma_path(PrefixTree(ToyTrainer(60, 2, 3), SHARES, 3), COMPLEXITY, gamma_min=0.01)
    assert part[-1].low == 0.01
    same = [piece.path for piece in whole if piece.high > 0.01]
    assert [piece.path for piece in part] == same
    only = gamma_path(tree, COMPLEXITY, gamma_min=5.0)
    assert [(piece.low, piece.path.n_leaves) for piece in only] == [(5.0, 1)]


def test_a_limit_is_shared_by_the_searches_and_owned_up_to():
    tree = PrefixTree(ToyTrainer(60, 2, 0, accuracy=0.6), SHARES, 3)
    pieces = gamma_path(tree, COMPLEXITY, max_svms=10)
    assert tree.n_svms < 20
    assert not any(piece.proven for piece in pieces)
    whole = gamma_path(tree, COMPLEXITY)
    assert all(piece.proven for piece in whole)
    exact = minimise(tree, COMPLEXITY, pieces[-1].result.gamma)
    assert pieces[-1].result.lower_bound <= exact.score <= pieces[-1].result.score


def test_inner_points():
    assert inner_point(1.0, 4.0) == 2.0
    assert inner_point(0.0, 4.0) == 2.0
    assert inner_point(1.0, math.inf) == 2.0
    assert inner_point(0.0, math.inf) == 1.0
