"""The closed minimum over leaves, against enumeration of all subsets and of all weights of the proof."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood.bounds import RiskBound, l_term
from surewood.bounds.risk_bound import active_leaves, leaf_terms

CORRECT, CHARGE = [0.30, 0.25, 0.20, 0.05], [0.10, 0.15, 0.18, 0.09]

leaves = st.lists(st.tuples(st.floats(0, 0.1), st.floats(0, 0.1)), min_size=1, max_size=6)


def enumerated_l_term(correct, charge, rho):
    active = [k for k in range(len(correct)) if correct[k] > charge[k]]
    smallest = len(active) - 1.0 / rho - 1e-9
    return min(
        sum(correct[k] - charge[k] for k in chosen)
        for size in range(len(active) + 1)
        if size >= smallest
        for chosen in combinations(active, size)
    )


def test_worked_numbers():
    assert active_leaves(CORRECT, CHARGE).tolist() == [True, True, True, False]
    for rho in (0.5, 0.4):
        assert l_term(CORRECT, CHARGE, rho_inverse=1 / rho) == pytest.approx(0.02, abs=1e-12)
    assert l_term(CORRECT, CHARGE, rho_inverse=1) == pytest.approx(0.12, abs=1e-12)


@given(leaves, st.floats(0.1, 2.0))
def test_closed_form_equals_enumeration_of_subsets(pairs, rho):
    correct, charge = map(list, zip(*pairs))
    assert l_term(correct, charge, rho_inverse=1 / rho) == pytest.approx(
        enumerated_l_term(correct, charge, rho), abs=1e-12
    )


@settings(deadline=None)
@given(leaves, st.integers(1, 7))
def test_bound_equals_the_minimum_over_the_weights_of_the_proof(pairs, j):
    correct, charge = map(list, zip(*pairs))
    training_error = 0.1
    objective = min(
        training_error + sum(charge[k] if on[k] else correct[k] for k in range(len(correct)))
        for on in product((0, 1), repeat=len(correct))
        if sum(on) <= j
    )
    closed = training_error + leaf_terms(correct, charge).sum() + l_term(correct, charge, rho_inverse=j)
    assert closed == pytest.approx(objective, abs=1e-12)


@given(leaves, st.integers(1, 7), st.randoms())
def test_order_of_leaves_does_not_matter(pairs, j, random):
    shuffled = list(pairs)
    random.shuffle(shuffled)
    values = [l_term(*zip(*order), rho_inverse=j) for order in (pairs, shuffled)]
    assert values[0] == pytest.approx(values[1], abs=1e-15)


def test_float_inverse_of_an_integer_counts_as_that_integer():
    correct, charge = np.full(60, 0.01), np.linspace(0, 0.009, 60)
    for j in (3, 7, 49):
        assert l_term(correct, charge, rho_inverse=1.0 / (1.0 / j)) == l_term(correct, charge, rho_inverse=j)


def test_rho_above_one_drops_nothing_and_the_parts_sum_to_one():
    correct, charge, training_error = [0.5, 0.3], [0.1, 0.4], 0.2
    total = training_error + leaf_terms(correct, charge).sum() + l_term(correct, charge, rho_inverse=1 / 1.5)
    assert total == pytest.approx(1.0)


def test_risk_bound_is_the_sum_of_its_parts_capped():
    bound = RiskBound(0.5, 0.4, 0.3, 0.2, 0.1, rho_inverse=1.0, delta=0.05)
    assert bound.total == pytest.approx(1.5)
    assert bound.value == 1.0
    assert sum(bound.decomposition().values()) == pytest.approx(bound.total)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: l_term([0.5], [0.1], rho_inverse=0), "rho_inverse must be a finite number > 0, got 0"),
        (lambda: l_term([0.5], [0.1], rho_inverse=-1.0), "rho_inverse must be a finite number > 0"),
        (lambda: l_term([0.5], [0.1], rho_inverse=np.inf), "rho_inverse must be a finite number > 0"),
        (lambda: l_term([1.5], [0.1], rho_inverse=1), r"correct must be in \[0, 1\], got 1.5"),
        (lambda: l_term([0.5], [-0.1], rho_inverse=1), "charge must be >= 0 and not NaN"),
        (lambda: leaf_terms([0.5, 0.1], [0.1]), "same length: correct has 2, charge has 1"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
