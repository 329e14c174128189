"""Tails, kl inverse, votes, cross-fitting, compression and sample facts against slow references."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from surewood import bounds
from surewood.bounds import (
    binary_kl,
    clopper_pearson,
    compression_bound,
    cross_fit_bound,
    kl_inverse,
    pac_bayes_bound,
)
from surewood.bounds.holdout import _log_tail_bisection, binomial_tail_inverse
from surewood.bounds.without_holdout import (
    out_of_bag_counts,
    probe_points,
    rebuilt_alike,
    tandem_counts,
)


def test_worked_numbers():
    assert clopper_pearson(12, 400, delta=0.05) == pytest.approx(0.0481539, abs=1e-7)
    assert compression_bound(1000, 60, 0) == pytest.approx(0.220317, abs=1e-6)
    assert compression_bound(1000, 60, 3, n_models=54) == pytest.approx(0.236096, abs=1e-6)


@given(st.integers(1, 3000), st.data(), st.floats(1e-9, 0.5))
def test_limit_has_exactly_the_stated_tail(n, data, delta):
    k = data.draw(st.integers(0, n - 1))
    p = clopper_pearson(k, n, delta=delta)
    assert stats.binom.cdf(k, n, p) == pytest.approx(delta, rel=1e-6)
    assert k / n <= p <= 1 or delta > 0.5


def test_edges():
    assert clopper_pearson(5, 5) == 1.0
    assert clopper_pearson(0, 50, delta=0.1) == pytest.approx(1 - 0.1 ** (1 / 50))
    assert clopper_pearson(3, 50, delta=0.1, n_models=4) == pytest.approx(clopper_pearson(3, 50, delta=0.025))
    assert binomial_tail_inverse(0, 0, -1.0) == 1.0


def test_truncated_tails_err_upwards_and_hardly(monkeypatch):
    exact = binomial_tail_inverse(3000, 10_000, -400.0)
    monkeypatch.setattr("surewood.bounds.holdout._TAIL_TERMS", 64)
    truncated = binomial_tail_inverse(3000, 10_000, -400.0)
    assert exact <= truncated <= exact * (1 + 1e-4)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 400), st.data(), st.floats(-30, -0.7))
def test_logarithmic_route_agrees_with_the_beta_function(n, data, log_delta):
    k = data.draw(st.integers(1, n - 1))
    assert _log_tail_bisection(k, n, log_delta) == pytest.approx(
        binomial_tail_inverse(k, n, log_delta), rel=1e-9
    )


@given(st.integers(1, 10**4), st.data(), st.floats(-5000, -1))
def test_inversion_is_a_number_for_every_tail(n, data, log_delta):
    k = data.draw(st.integers(0, n))
    assert k / n <= binomial_tail_inverse(k, n, log_delta) <= 1


def test_tails_below_the_floating_range():
    p = binomial_tail_inverse(10, 5000, -3000.0)
    i = np.arange(11)
    tail = np.logaddexp.reduce(
        [math.log(math.comb(5000, int(k))) + k * math.log(p) + (5000 - k) * math.log1p(-p) for k in i]
    )
    assert tail == pytest.approx(-3000.0, rel=1e-9)


@given(st.floats(0, 1), st.floats(0, 5))
def test_kl_inverse_inverts(q, epsilon):
    upper = kl_inverse(q, epsilon)
    assert q <= upper
    if upper < 1 - 1e-6 and q > 1e-9:  # nearer to the ends one ulp of p moves the divergence visibly
        assert binary_kl(q, upper) == pytest.approx(epsilon, abs=1e-6)


def test_kl_works_on_arrays_and_at_the_ends():
    expected = [1 - math.exp(-0.1), 0.5 + 0.5 * math.sqrt(1 - math.exp(-0.2)), 1.0]
    assert kl_inverse([0.0, 0.5, 1.0], 0.1) == pytest.approx(expected, abs=1e-9)
    assert binary_kl([0.0, 1.0, 0.0], [0.0, 1.0, 1.0]).tolist() == [0.0, 0.0, math.inf]


@given(st.integers(1, 500), st.data(), st.floats(1e-6, 0.5))
def test_compression_is_monotone_and_never_below_the_error_rate(m, data, delta):
    d = data.draw(st.integers(0, m))
    k = data.draw(st.integers(0, m - d))
    value = compression_bound(m, d, k, delta=delta)
    assert 0 <= value <= 1
    assert compression_bound(m, d, k, delta=delta / 2) >= value - 1e-12
    assert compression_bound(m, d, k, delta=delta, n_models=3) >= value - 1e-12
    if d < m:
        assert value >= k / (m - d)
    else:
        assert value == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: clopper_pearson(5, 4), "errors must be <= n=4, got 5"),
        (lambda: clopper_pearson(0, -1), "n must be an integer >= 0, got -1"),
        (lambda: clopper_pearson(0, 5, delta=1.0), r"delta must be in \(0, 1\), got 1.0"),
        (lambda: clopper_pearson(0, 5, n_models=0), "n_models must be an integer >= 1, got 0"),
        (lambda: clopper_pearson(-1, 5), "errors must be an integer >= 0, got -1"),
        (lambda: binomial_tail_inverse(1, 5, 0.5), "log_delta must be < 0, got 0.5"),
        (lambda: binary_kl(1.5, 0.5), r"q must be in \[0, 1\], got 1.5"),
        (lambda: kl_inverse(0.5, -1.0), "epsilon must be >= 0, got -1"),
        (lambda: compression_bound(10, 11, 0), "n_compressed must be <= m=10, got 11"),
        (lambda: compression_bound(10, 8, 3), "errors must be <= n=2, got 3"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def exact_kl(q, p):
    """The divergence in sixty decimal digits."""
    with localcontext() as context:
        context.prec = 60
        a, b = Decimal(q), Decimal(p)
        first = a * (a / b).ln() if a else Decimal(0)
        return first + ((1 - a) * ((1 - a) / (1 - b)).ln() if a < 1 else 0)


@pytest.mark.parametrize("q", [0.0, 1e-12, 1e-4, 0.08, 0.5, 0.999, 1 - 1e-12])
@pytest.mark.parametrize("epsilon", [1e-30, 1e-20, 1e-15, 1e-12, 1e-10, 1e-6, 1e-2, 2.0])
def test_kl_inverse_is_never_below_the_exact_one(q, epsilon):
    p = kl_inverse(q, epsilon)
    assert p == 1.0 or exact_kl(q, p) >= Decimal(epsilon)
    assert p - q <= 1.001 * max(np.spacing(q), float(kl_inverse(q, epsilon * (1 + 1e-6)) - q))


def test_kl_inverse_of_a_tiny_budget_is_the_square_root_law():
    for epsilon in (1e-10, 1e-14, 1e-18):
        wide = math.sqrt(2 * 0.3 * 0.7 * epsilon)
        assert kl_inverse(0.3, epsilon) - 0.3 == pytest.approx(wide, rel=1e-4)
    assert kl_inverse(0.3, 0.0) == 0.3


PROBABILITY = st.one_of(st.just(0.0), st.floats(1e-20, 1))


@given(PROBABILITY, PROBABILITY)
def test_divergence_is_exact_to_the_last_digits(q, p):
    value = binary_kl(q, p)
    if (p == 0 and q > 0) or (p == 1 and q < 1):
        assert value == math.inf
    elif 0 < p < 1:
        assert value == pytest.approx(float(exact_kl(q, p)), rel=1e-13, abs=1e-300)


def test_pac_bayes_worked_numbers():
    assert bounds.pac_bayes_bound(0.08, 900) == pytest.approx(0.236891, abs=1e-6)
    assert bounds.pac_bayes_tandem_bound(0.02, 330) == pytest.approx(0.246149, abs=1e-6)


def random_votes(seed, members=5, m=60):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, m)
    predictions = np.where(rng.random((members, m)) < 0.6, y, rng.integers(0, 3, (members, m)))
    in_bag = rng.random((members, m)) < 0.4
    in_bag[:, :2] = False
    return predictions, in_bag, y


@settings(deadline=None)
@given(st.integers(0, 10**6))
def test_statistics_equal_loops(seed):
    predictions, in_bag, y = random_votes(seed)
    single, pairs = (
        out_of_bag_counts(predictions, in_bag, y),
        tandem_counts(predictions, in_bag, y),
    )
    for a in range(5):
        free = ~in_bag[a]
        assert single.sizes[a] == free.sum()
        assert single.errors[a] == (predictions[a] != y)[free].sum()
        for b in range(5):
            both = free & ~in_bag[b]
            assert pairs.sizes[a, b] == both.sum()
            assert pairs.errors[a, b] == ((predictions[a] != y) & (predictions[b] != y))[both].sum()
    assert np.diag(pairs.rates) == pytest.approx(single.rates)
    assert pairs.loss() == pytest.approx(pairs.rates.sum() / 25)


def test_blocks_do_not_change_the_counts(monkeypatch):
    votes = random_votes(3, members=4, m=500)
    whole = tandem_counts(*votes)
    monkeypatch.setattr("surewood.bounds.without_holdout._BLOCK", 37)
    pieces = tandem_counts(*votes)
    assert (whole.errors == pieces.errors).all()
    assert (whole.sizes == pieces.sizes).all()


def test_labels_of_any_kind_and_counts_as_masks():
    predictions = np.array([["a", "b"], ["b", "b"]])
    result = out_of_bag_counts(predictions, [[2, 0], [0, 3]], ["a", "a"])
    assert result.errors.tolist() == [1, 1]


losses = st.floats(0, 1)


@given(losses, st.integers(10, 10**6), st.floats(1e-6, 0.5))
def test_bounds_are_monotone_and_at_least_the_loss(loss, n, delta):
    for bound, factor in ((bounds.pac_bayes_bound, 2), (bounds.pac_bayes_tandem_bound, 4)):
        value = bound(loss, n, delta=delta)
        assert min(1, factor * loss) <= value <= 1
        assert bound(loss, 2 * n, delta=delta) <= value + 1e-12
        assert bound(loss, n, delta=delta / 2) >= value - 1e-12
        assert bound(loss, n, delta=delta, kl=1.0) >= value - 1e-12
        assert bound(loss, n, delta=delta, n_models=7) == pytest.approx(bound(loss, n, delta=delta / 7))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: out_of_bag_counts([0, 1], [0, 0], [0, 1]),
            r"predictions must have shape \(n_members, m\)",
        ),
        (
            lambda: out_of_bag_counts([[0, 1]], [[0]], [0, 1]),
            "in_bag must have the shape of predictions",
        ),
        (lambda: out_of_bag_counts([[0, 1]], [[0, 0]], [0]), r"y must have shape \(2,\), got \(1,\)"),
        (lambda: bounds.pac_bayes_bound(1.2, 10), r"loss must be in \[0, 1\], got 1.2"),
        (lambda: bounds.pac_bayes_bound(0.2, 0), "n must be an integer >= 1, got 0"),
        (lambda: bounds.pac_bayes_bound(0.2, 10, kl=-1), "kl must be >= 0, got -1"),
        (lambda: bounds.pac_bayes_tandem_bound(0.2, 10, delta=0), r"delta must be in \(0, 1\), got 0"),
    ],
)
def test_pac_bayes_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_inverts_the_stated_inequality():
    limit = cross_fit_bound(0.1, 400, delta=0.02)
    assert binary_kl(0.1, limit) == pytest.approx(math.log(2 * math.sqrt(400) / 0.02) / 400)


def test_half_of_the_bound_for_votes_of_as_many_rows():
    assert cross_fit_bound(0.1, 400) == pytest.approx(pac_bayes_bound(0.1, 400) / 2)
    assert cross_fit_bound(0.1, 400, n_models=4) == cross_fit_bound(0.1, 400, delta=0.0125)


def test_folds_of_fewer_than_eight_rows_are_refused():
    with pytest.raises(ValueError, match="fold_size must be an integer >= 8, got 7"):
        cross_fit_bound(0.1, 7)


def test_probe_points_stay_near_the_rows_and_are_repeatable():
    rows = np.random.default_rng(0).normal(size=(30, 3)) * [1, 10, 0]
    probes = probe_points(rows)
    assert probes.shape == (1000, 3)
    assert np.array_equal(probes, probe_points(rows))
    nearest = np.abs(probes[:, None] - rows).max(axis=2).min(axis=1)
    assert nearest.max() < 5.0
    assert (probes[:, 2] == 0).all()


SAME = ([0, 1, 1], [1, 0], [0.5, 0.0])


@pytest.mark.parametrize(
    ("after", "answer"),
    [
        (SAME, True),
        (([0, 1, 1], [1, 0], [0.4999, 0.0]), True),
        (([0, 1, 1], [1, 0], [0.4, 0.0]), False),
        (([0, 1, 0], [1, 0], [0.5, 0.0]), False),
        (([0, 1, 1], [0, 0], [0.5, 0.0]), False),
        (([0, 1, 1], [1, 0], [0.5]), False),
        (([0, 1, 1], [1, 0], [0.5, np.nan]), False),
    ],
)
def test_same_labels_everywhere_and_duals_within_the_tolerance(after, answer):
    assert rebuilt_alike(SAME, after, tolerance=1e-3) is answer


def test_a_huge_tolerance_still_needs_equal_labels():
    assert rebuilt_alike(SAME, ([0, 1, 1], [1, 0], [3.0, 1.0]), tolerance=5.0)
    assert not rebuilt_alike(SAME, ([0, 1, 1], [1, 1], [0.5, 0.0]), tolerance=5.0)
