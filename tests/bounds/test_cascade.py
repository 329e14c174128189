"""Bounds and criterion of cascades against direct evaluation and enumeration."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood import bounds
from surewood.bounds import (
    cascade_completion_bound,
    cascade_complexity,
    cascade_criterion,
    leaf_log_growth,
)
from surewood.bounds.cascade import cascade_criterion_counts, cascade_depths, native_cascade_complexity
from surewood.cascade.chain import distance_of, predicted_of, settled
from surewood.svm.one_vs_one import class_scores

CORRECT, ERRORS, R = [600_000, 300_000, 50_000], [20_000, 20_000, 10_000], [1e-3, 2e-3, 4e-3]


def test_worked_numbers():
    readings = [
        bounds.cascade_ensemble_term(10_000, 12, 1 / 3, reading=r)
        for r in ("theorem", "print_in", "print_out")
    ]
    assert readings == pytest.approx([0.328393, 0.211409, 0.383191], abs=1e-6)
    assert bounds.vc_dimension(12, np.array([2, 1])).tolist() == [91, 13]
    growth = bounds.leaf_log_growth([2, 1], 12, 500)
    assert growth == pytest.approx([246.041122, 60.445564], abs=1e-6)
    assert bounds.cascade_complexity(growth, 500) == pytest.approx([1.402971, 1.049180], abs=1e-6)


def test_variants_of_the_complexity_written_out():
    growth, m = np.array([30.0, 20.0, 10.0]), 200
    q = np.sqrt(growth / m)
    printed = [q[0] + q[0], q[0] + q[1] + q[1], q[0] + q[1] + q[2]]
    assert bounds.cascade_complexity(growth, m) == pytest.approx(printed)
    leaf = np.sqrt(2) * q
    rigorous = [q[0] + leaf[0], q[0] + q[1] + leaf[1], q[0] + q[1] + leaf[2]]
    assert bounds.cascade_complexity(growth, m, variant="rigorous") == pytest.approx(rigorous)
    single = [math.sqrt(2 * s / m) for s in (60 + 30, 60 + 40 + 20, 60 + 40 + 10)]
    assert bounds.cascade_complexity(growth, m, variant="single_root") == pytest.approx(single)
    smaller = bounds.cascade_complexity(growth, m, variant="smaller")
    assert smaller == pytest.approx(np.minimum(rigorous, single))
    one_leaf = bounds.cascade_complexity([30.0], m, variant="rigorous")
    assert one_leaf == pytest.approx([math.sqrt(60 / m)])


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_every_point_reaches_exactly_one_leaf(n_leaves, seed):
    answers = np.random.default_rng(seed).integers(0, 2, size=(40, n_leaves - 1))
    leaf = bounds.cascade_leaf(answers)
    indicator = np.zeros((40, n_leaves), dtype=int)
    for k in range(n_leaves - 1):
        indicator[:, k] = answers[:, :k].prod(axis=1) * (1 - answers[:, k])
    indicator[:, -1] = answers.prod(axis=1)
    assert (indicator.sum(axis=1) == 1).all()
    assert (indicator.argmax(axis=1) == leaf).all()
    assert cascade_depths(n_leaves).tolist() == [min(k, n_leaves - 1) for k in range(1, n_leaves + 1)]


def test_uniform_bound_is_the_smallest_fixed_bound_at_its_share_of_delta():
    theorem = bounds.cascade_theorem(CORRECT, ERRORS, R, n_families=24)
    fixed = [theorem.at(rho_inverse=j, delta=0.05 / (j * (j + 1))) for j in range(1, 7)]
    uniform = theorem.uniform(max_rho_inverse=6)
    assert uniform.total == pytest.approx(min(bound.total for bound in fixed), abs=1e-12)
    m = 10**6
    assert fixed[0].confidence == pytest.approx(math.sqrt(math.log(4 * 2 / 0.05) / (2 * m)))


def test_simple_form_pays_for_its_rho():
    theorem = bounds.cascade_theorem(CORRECT, ERRORS, R, n_families=24)
    simple = theorem.simple()
    assert simple.l_term == 0
    assert simple.rho_inverse == 4
    fixed = theorem.at(rho_inverse=4, delta=0.025)
    assert simple.total == pytest.approx(fixed.total + math.sqrt(math.log(2) / 10**6))


@pytest.mark.parametrize("reading", ["print_in", "print_out"])
def test_printed_readings_are_marked_heuristic(reading):
    theorem = bounds.cascade_theorem(CORRECT, ERRORS, R, n_families=24, reading=reading)
    assert not theorem.at(rho_inverse=2).proved
    with pytest.raises(ValueError, match="rho must satisfy"):
        bounds.cascade_ensemble_term(10, 1000, 0.1, reading=reading)
    assert bounds.cascade_ensemble_term(10, 1, 0.1, reading=reading) == 0


def test_real_leaves_with_margins_of_one_are_the_binary_theorem():
    margins = [[1.0] * 700 + [-1.0] * 50, [1.0] * 200 + [-1.0] * 50]
    real = bounds.real_cascade_bound(margins, [0.01, 0.02], n_families=8, rho_inverse=1)
    theorem = bounds.cascade_theorem([700, 200], [50, 50], [0.01, 0.02], n_families=8)
    binary = theorem.at(rho_inverse=1)
    assert real.decomposition() == pytest.approx(binary.decomposition())


def test_real_leaf_without_a_correct_point_costs_only_its_errors():
    bound = bounds.real_cascade_bound([[0.5] * 90, [-0.5] * 10], [0.01, 0.01], n_families=1, rho_inverse=2)
    assert bound.training_error == pytest.approx(0.1)
    assert bound.leaf_terms == pytest.approx(4 * 0.01 / 0.5)
    assert bound.l_term == 0


def test_simple_form_of_real_leaves_needs_the_weighted_cardinality():
    margins, r = [[0.5] * 50, [0.25] * 50], [0.001, 0.001]
    fits = bounds.real_cascade_bound(margins, r, n_families=1, rho_inverse=6)
    short = bounds.real_cascade_bound(margins, r, n_families=1, rho_inverse=5)
    assert fits.l_term == 0
    assert short.l_term == pytest.approx(0.5 - 4 * 0.001 / 0.25)  # the heavier leaf stays off


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cascade_depths(0), "n_leaves must be an integer >= 1, got 0"),
        (lambda: bounds.cascade_leaf([[2]]), "answers must be a table of 0 and 1"),
        (lambda: bounds.cascade_complexity([1.0], 10, variant="best"), "variant must be one of"),
        (lambda: bounds.cascade_ensemble_term(10, 4, 0.5, reading="other"), "reading must be one of"),
        (
            lambda: bounds.cascade_theorem([1], [0], [0.1], n_families=1).at(rho_inverse=2, delta=0),
            r"delta must be in \(0, 1\), got 0",
        ),
        (lambda: bounds.cascade_theorem([1, 2], [0], [0.1], n_families=1), "same length"),
        (
            lambda: bounds.real_cascade_bound([[2.0]], [0.1], n_families=1, rho_inverse=2),
            r"margins must be in \[-1, 1\]",
        ),
        (
            lambda: bounds.real_cascade_bound([[0.5]], [0.1, 1], n_families=1, rho_inverse=2),
            "complexity must have one entry",
        ),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_worked_number():
    a = cascade_complexity(leaf_log_growth([2, 1], 12, 500), 500)
    assert cascade_criterion([380, 60], [20, 40], a, gamma_scale=0.02) == pytest.approx(0.316172, abs=1e-6)


def test_inert_scales_quoted_for_the_papers_sets():
    for n, m, expected in (
        (10, 409, 1.41),
        (24, 600, 1.67),
        (60, 600, 2.31),
        (34, 210, 2.72),
        (123, 600, 2.92),
    ):
        a = cascade_complexity(leaf_log_growth([1], n, m), m)
        assert 4 * a[0] == pytest.approx(expected, abs=0.02)


@given(st.integers(0, 10**6), st.floats(1e-6, 1), st.floats(1, 10))
def test_criterion_is_exact_when_inert_rises_with_gamma_and_stays_below_one(seed, gamma, factor):
    rng = np.random.default_rng(seed)
    correct, errors = rng.integers(0, 50, 3), rng.integers(1, 20, 3)
    a = rng.uniform(0.0, 1, 3)
    low, high = (cascade_criterion(correct, errors, a, gamma_scale=g) for g in (gamma, gamma * factor))
    assert low <= high + 1e-12
    assert high <= 1.0
    assert cascade_criterion(correct, errors, a + 1, gamma_scale=1.0) == 1.0


@settings(deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-4, 0.3))
def test_no_completion_beats_the_pruning_bound(seed, gamma):
    """Random cascades of up to four leaves: every prefix bounds the score of the whole."""
    rng = np.random.default_rng(seed)
    degrees = rng.integers(0, 3, size=rng.integers(1, 5))
    growths = np.array([4.0, 9.0, 20.0])
    n_leaves, m = degrees.size, 200
    sizes = rng.multinomial(m, rng.dirichlet(np.ones(n_leaves)))
    errors = np.array([rng.integers(0, size + 1) for size in sizes])
    a = cascade_complexity(growths[degrees], m)
    T = cascade_criterion_counts(sizes - errors, errors, a, m=m, gamma_scale=gamma)
    question = np.sqrt(growths[degrees] / m)
    for k in range(n_leaves):
        bound = cascade_completion_bound(
            T[:k].sum(),
            sizes[k:].sum(),
            question[:k].sum(),
            np.sqrt(growths.min() / m),
            m=m,
            gamma_scale=gamma,
        )
        assert bound <= T.sum() + 1e-9


@given(st.integers(0, 10**6), st.floats(1e-4, 1.0))
def test_dropping_a_node_that_passes_everything_on_never_raises_the_score(seed, gamma):
    rng = np.random.default_rng(seed)
    growth, m = rng.uniform(1, 30, 3), 100
    correct, errors = np.array([0, 40, 30]), np.array([0, 20, 10])  # node 1 keeps nothing
    long = cascade_criterion(correct, errors, cascade_complexity(growth, m), gamma_scale=gamma)
    short = cascade_criterion(correct[1:], errors[1:], cascade_complexity(growth[1:], m), gamma_scale=gamma)
    assert short <= long + 1e-12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: cascade_criterion([1], [0], [0.1], gamma_scale=-1),
            "gamma_scale must be a finite number > 0",
        ),
        (lambda: cascade_criterion([0], [0], [0.1], gamma_scale=1), "m must be a finite number > 0"),
        (
            lambda: cascade_completion_bound(-1, 1, 0.1, 0.1, m=10, gamma_scale=1),
            "partial must be >= 0, got -1",
        ),
    ],
)
def test_cascade_selection_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def signs_of_scores(decisions, n_classes, width):
    """``s_j - s_i <= width`` for all pairs by the polynomials of [D-47], from signs alone."""
    votes, sums = np.zeros(n_classes, dtype=int), np.zeros(n_classes)
    for g, (i, j) in zip(decisions, combinations(range(n_classes), 2)):
        votes[i if g > 0 else j] += 1
        sums += g * (np.arange(n_classes) == i) - g * (np.arange(n_classes) == j)
    side = np.where(sums < 0, -1, 1)
    bracket = side * sums + 1
    at_most = np.zeros((n_classes, n_classes), dtype=bool)
    for i, j in product(range(n_classes), repeat=2):
        k = votes[j] - votes[i]
        value = sums[j] * bracket[i] - sums[i] * bracket[j] + 3 * (k - width) * bracket[i] * bracket[j]
        at_most[i, j] = value <= 1e-12 * bracket[i] * bracket[j]
    return at_most


@given(st.integers(0, 10_000), st.integers(3, 5), st.sampled_from([0.0, 0.05]), st.floats(0.0, 2.0))
def test_signs_of_polynomials_decide_labels_and_gaps(seed, n_classes, width, threshold):
    rng = np.random.default_rng(seed)
    decisions = rng.integers(-3, 4, size=(1, math.comb(n_classes, 2))) * rng.choice([1.0, 0.01])
    scores = settled(class_scores(decisions, np.arange(n_classes), n_classes), width)
    within = signs_of_scores(decisions[0], n_classes, width)
    assert int(np.flatnonzero(within.all(axis=1))[0]) == predicted_of(scores)[0]
    near = signs_of_scores(decisions[0], n_classes, max(threshold, width)).T
    np.fill_diagonal(near, False)
    if abs(distance_of(scores)[0] - threshold) > 1e-9:
        assert near.any(axis=1).all() == (distance_of(scores)[0] <= threshold)


def test_no_more_labelings_than_counted():
    m, rng = 5, np.random.default_rng(0)
    points = np.column_stack([np.ones(m), np.linspace(-1, 1, m)])
    decisions = rng.normal(size=(40_000, 3, 2)) @ points.T
    scores = class_scores(decisions.transpose(0, 2, 1).reshape(-1, 3), np.arange(3), 3)
    seen = np.unique(scores.argmax(axis=1).reshape(-1, m), axis=0)
    # (3.4a) of one class; three of them tell all labels
    growth = 2 * m * native_cascade_complexity([2], m, 3)[0] ** 2
    assert math.log(len(seen)) <= 3 * growth + 1e-9
    more = native_cascade_complexity([2, 2], 10**6, 3)
    assert 0 < more[0] < more[1] < native_cascade_complexity([9, 9], 10**6, 3)[1] < math.sqrt(math.log(2) / 2)
