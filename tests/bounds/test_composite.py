"""Bounds and criterion of composite trees against direct evaluation and enumeration."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood import bounds
from surewood.bounds import (
    composite_complexity,
    composite_criterion,
    composite_criterion_counts,
    leaf_log_growth,
    select_degrees,
    split_log_growth,
)

TREE = {"correct": [400_000, 300_000, 200_000, 50_000], "errors": [20_000, 10_000, 15_000, 5_000]}

COMPLEXITY = [2e-3, 1e-3, 3e-3, 5e-3]


def test_worked_numbers():
    leaf, question = bounds.leaf_log_growth(2, 16, 600), bounds.split_log_growth(600, 4, 16)
    assert bounds.composite_complexity(2, 0.0, question, 600) == pytest.approx(0.346617, abs=1e-6)
    assert bounds.composite_complexity(0, leaf, question, 600) == pytest.approx(1.098595, abs=1e-6)
    assert bounds.composite_complexity(2, leaf, question, 600) == pytest.approx(1.445212, abs=1e-6)
    single = bounds.composite_complexity(2, leaf, question, 600, form="single_root")
    assert single == pytest.approx(1.151978, abs=1e-6)
    assert bounds.composite_complexity(2, leaf, question, 600, form="half_root") == pytest.approx(single / 2)
    assert bounds.composite_ensemble_term(10_000, 36, 0.5, 3) == pytest.approx(0.230875, abs=1e-6)
    first = 2 / (3 * 0.5) * math.sqrt(math.log(36) / 10_000)
    assert first == pytest.approx(0.025240, abs=1e-6)
    ceiling = (bounds.composite_ensemble_term(10_000, 36, 0.5, 3) - first) ** 2 * 10_000 / math.log(36)
    assert ceiling == pytest.approx(118, abs=1e-6)


@pytest.mark.parametrize(("rho", "expected"), [(1.0, (0.37, 0.14, 0.05)), (0.25, (1.12, 0.45, 0.17))])
def test_ensemble_terms_quoted_for_the_certificates(rho, expected):
    values = [bounds.composite_ensemble_term(m, 72, rho, 2) for m in (10**3, 10**4, 10**5)]
    assert values == pytest.approx(expected, abs=5e-3)


def test_edge_rules_of_the_ensemble_term():
    assert bounds.composite_ensemble_term(100, 1, 0.5, 2) == 0.0
    tiny = bounds.composite_ensemble_term(
        2, 1000, 0.1, 2
    )  # inner logarithm below 1: the ceiling is 1, the first term above 1
    assert tiny > 1
    assert tiny == pytest.approx(2 / 0.2 * math.sqrt(math.log(1000) / 2) + math.sqrt(math.log(1000) / 2))


@given(st.integers(0, 8), st.floats(0, 500), st.integers(1, 10**5), st.floats(0, 50))
def test_forms_of_the_complexity_are_ordered(depth, leaf, m, question):
    two, one, half = (
        bounds.composite_complexity(depth, leaf, question, m, form=f)
        for f in ("two_roots", "single_root", "half_root")
    )
    assert half <= one <= two + 1e-12


def test_uniform_bound_is_the_smallest_fixed_bound_at_its_share_of_delta():
    theorem = bounds.composite_theorem(**TREE, complexity=COMPLEXITY, n_classes=3, n_families=40)
    fixed = [theorem.at(rho_inverse=j, delta=0.05 / (j * (j + 1))) for j in range(1, 9)]
    uniform = theorem.uniform(max_rho_inverse=8, delta=0.05)
    assert uniform.total == pytest.approx(min(bound.total for bound in fixed), abs=1e-12)
    assert uniform.proved
    assert uniform.training_error == pytest.approx(0.05)


def test_simple_form_has_no_l_term_and_pays_for_its_rho():
    theorem = bounds.composite_theorem(**TREE, complexity=COMPLEXITY, n_classes=3, n_families=40)
    simple = theorem.simple()
    assert simple.l_term == 0.0
    assert simple.rho_inverse == 4.0
    fixed = theorem.at(rho_inverse=4, delta=0.025)
    assert simple.total == pytest.approx(fixed.total + math.sqrt(math.log(2) / 10**6))


counts = st.lists(
    st.tuples(st.integers(0, 500), st.integers(0, 50), st.floats(0, 0.05)), min_size=1, max_size=8
)


@given(counts, st.floats(1e-6, 0.5), st.integers(1, 10), st.integers(1, 100))
def test_bounds_fall_with_delta_and_rise_with_complexity(rows, delta, j, families):
    correct, errors, r = map(np.array, zip(*rows))
    correct[0] += 1

    def total(scale=1.0, delta=delta):
        theorem = bounds.composite_theorem(correct, errors, scale * r, n_classes=2, n_families=families)
        return theorem.uniform(max_rho_inverse=j, delta=delta).total

    assert math.isfinite(total())
    assert total(delta=delta / 2) >= total() - 1e-12
    assert total(scale=2.0) >= total() - 1e-12


@given(st.integers(1, 200), st.integers(10**5, 10**8), st.integers(1, 10))
def test_ensemble_term_rises_with_families_and_falls_with_the_sample(families, m, j):
    term = bounds.composite_ensemble_term(m, families, 1 / j, 2)
    assert bounds.composite_ensemble_term(m, 2 * families, 1 / j, 2) > term
    assert bounds.composite_ensemble_term(2 * m, families, 1 / j, 2) <= term


@given(counts, st.randoms())
def test_order_of_leaves_does_not_matter(rows, random):
    rows[0] = (rows[0][0] + 1, *rows[0][1:])
    shuffled = list(rows)
    random.shuffle(shuffled)
    totals = [
        bounds.composite_theorem(*zip(*order), n_classes=3, n_families=9).uniform(max_rho_inverse=6).total
        for order in (rows, shuffled)
    ]
    assert totals[0] == pytest.approx(totals[1], rel=1e-12)


def test_more_points_of_the_same_kind_tighten_the_bound():
    r = np.array(COMPLEXITY)
    totals = [
        bounds.composite_theorem(
            k * np.array(TREE["correct"]),
            k * np.array(TREE["errors"]),
            r / math.sqrt(k),
            n_classes=3,
            n_families=40,
        )
        .uniform(max_rho_inverse=8)
        .total
        for k in (1, 2, 4, 8)
    ]
    assert all(np.diff(totals) < 0)


def theorem(correct=(1,), complexity=(0.1,), n_families=1):
    return bounds.composite_theorem(correct, [0], complexity, n_classes=2, n_families=n_families)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theorem().at(rho_inverse=2, delta=1.0), "delta must be in"),
        (lambda: theorem().at(rho_inverse=0.0), "rho_inverse must be a finite number > 0"),
        (lambda: theorem(n_families=0).at(rho_inverse=2), "n_families must be"),
        (lambda: theorem(correct=[0]), "m must be an integer >= 1"),
        (lambda: theorem(correct=[1.5]), "correct must be integers"),
        (lambda: theorem(complexity=[-0.1]), "complexity must be >= 0"),
        (lambda: theorem().uniform(max_rho_inverse=0), "max_rho_inverse must be an integer >= 1"),
        (lambda: bounds.composite_complexity(-1, 1.0, 1.0, 10), "depth must be >= 0, got -1"),
        (lambda: bounds.composite_complexity(1, 1.0, 1.0, 10, form="third"), "form must be one of"),
        (lambda: bounds.composite_ensemble_term(10, 4, -0.5, 2), "rho must be a finite number > 0, got -0.5"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


tables = st.integers(0, 10**6)


def random_table(seed, n_leaves=3, n_degrees=3):
    rng = np.random.default_rng(seed)
    points = rng.integers(1, 60, size=n_leaves)
    errors = rng.integers(0, points[:, None] + 1, size=(n_leaves, n_degrees))
    return (
        points[:, None] - errors,
        errors,
        np.sort(rng.uniform(0, 2, (n_leaves, n_degrees)), axis=1),
        points.sum(),
    )


@settings(deadline=None)
@given(tables, st.sampled_from([1e-4, 1e-3, 1e-2, 0.1]))
def test_leafwise_selection_equals_the_minimum_over_all_sequences(seed, gamma):
    correct, errors, A, m = random_table(seed)
    T = composite_criterion_counts(correct, errors, A, m=m, n_classes=3, gamma_scale=gamma)
    rows = np.arange(3)
    chosen = T[rows, select_degrees(T)].sum()
    sequences = [T[rows, list(sequence)].sum() for sequence in product(range(3), repeat=3)]
    assert chosen == pytest.approx(min(sequences), abs=1e-9)
    picks = np.random.default_rng(seed).integers(0, 27, size=10)
    assert min(np.array(sequences)[picks]) >= chosen - 1e-9


@given(tables)
def test_inert_criterion_is_exactly_one_and_ties_go_to_the_smallest_degree(seed):
    correct, errors, A, m = random_table(seed)
    T = composite_criterion_counts(correct, errors, A + 1.0, m=m, n_classes=2, gamma_scale=1.0)
    assert ((correct + errors) == T).all()
    assert (select_degrees(T) == 0).all()
    assert composite_criterion(correct[:, 0], errors[:, 0], A[:, 0] + 1, n_classes=2, gamma_scale=1.0) == 1.0


@given(tables, st.floats(1e-6, 1.0), st.floats(1.0, 10.0))
def test_criterion_rises_with_gamma_and_never_exceeds_one(seed, gamma, factor):
    correct, errors, A, _ = random_table(seed)
    low, high = (
        composite_criterion(correct[:, 0], errors[:, 0], A[:, 0], n_classes=2, gamma_scale=g)
        for g in (gamma, gamma * factor)
    )
    assert errors[:, 0].sum() / (correct[:, 0].sum() + errors[:, 0].sum()) <= low + 1e-12
    assert low <= high + 1e-12
    assert high <= 1.0


def test_fractional_counts_of_weighted_samples_are_taken():
    T = composite_criterion_counts([1.5], [0.25], [0.0], m=1.75, n_classes=2, gamma_scale=1.0)
    assert T.tolist() == [0.25]


@pytest.mark.parametrize(
    ("m", "n", "c", "r", "expected", "gamma"),
    [
        (508, 18, 4, 4, (30.3, 49.8, 49.8), 0.0083),
        (4496, 16, 10, 4, (28.5, 54.4, 104.9), 0.0088),
        (600, 24, 2, 5, (15.5, 24.9, 24.9), 0.0161),
        (90, 4, 3, 2, (31.2, 38.6, 43.7), 0.0080),
        (125, 60, 2, 8, (35.0, 35.0, 35.0), 0.0072),
    ],
)
def test_published_scales_are_inert_as_tabulated(m, n, c, r, expected, gamma):
    growth = leaf_log_growth([1, 2, 9], n, m, c)
    A = composite_complexity(2, growth, split_log_growth(m, r, n), m)
    assert 8 * c * A == pytest.approx(expected, abs=0.06)
    assert 0.25 / (8 * c * A[0]) == pytest.approx(gamma, abs=6e-5)  # the largest γ with an effect


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: select_degrees([1.0]), "criterion_counts must have 2 dimension"),
        (lambda: select_degrees(np.zeros((2, 0))), "criterion_counts must have at least one column"),
        (
            lambda: composite_criterion([1], [0], [0.1], n_classes=2, gamma_scale=0),
            "gamma_scale must be a finite",
        ),
        (
            lambda: composite_criterion([0], [0], [0.1], n_classes=2, gamma_scale=1),
            "m must be a finite number > 0",
        ),
    ],
)
def test_composite_selection_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
