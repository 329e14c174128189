"""Out-of-bag statistics against loops, bounds against worked numbers and each other."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood import bounds


def test_worked_numbers():
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
        bounds.out_of_bag_errors(predictions, in_bag, y),
        bounds.tandem_losses(predictions, in_bag, y),
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
    weights = np.arange(1.0, 6)
    assert pairs.loss(weights) == pytest.approx(weights @ pairs.rates @ weights / 225)


def test_blocks_do_not_change_the_counts(monkeypatch):
    votes = random_votes(3, members=4, m=500)
    whole = bounds.tandem_losses(*votes)
    monkeypatch.setattr("surewood.bounds.pac_bayes._BLOCK", 37)
    pieces = bounds.tandem_losses(*votes)
    assert (whole.errors == pieces.errors).all()
    assert (whole.sizes == pieces.sizes).all()


def test_labels_of_any_kind_and_counts_as_masks():
    predictions = np.array([["a", "b"], ["b", "b"]])
    result = bounds.out_of_bag_errors(predictions, [[2, 0], [0, 3]], ["a", "a"])
    assert result.errors.tolist() == [1, 1]


losses = st.floats(0, 1)


@given(losses, st.integers(1, 10**6), st.floats(0, 10), st.floats(1e-6, 0.5), st.floats(0.01, 1.99))
def test_kl_forms_are_at_most_the_lambda_forms(loss, n, kl, delta, lam):
    shared = {"kl": kl, "delta": delta}
    assert (
        bounds.pac_bayes_bound(loss, n, **shared) <= bounds.pac_bayes_lambda_bound(loss, n, **shared) + 1e-9
    )
    assert (
        bounds.pac_bayes_tandem_bound(loss, n, **shared)
        <= bounds.pac_bayes_lambda_bound(loss, n, tandem=True, **shared) + 1e-9
    )
    assert (
        bounds.pac_bayes_lambda_bound(loss, n, **shared)
        <= bounds.pac_bayes_lambda_bound(loss, n, lam=lam, **shared) + 1e-9
    )


@given(losses, st.integers(10, 10**6), st.floats(1e-6, 0.5))
def test_bounds_are_monotone_and_at_least_the_loss(loss, n, delta):
    for bound, factor in ((bounds.pac_bayes_bound, 2), (bounds.pac_bayes_tandem_bound, 4)):
        value = bound(loss, n, delta=delta)
        assert min(1, factor * loss) <= value <= 1
        assert bound(loss, 2 * n, delta=delta) <= value + 1e-12
        assert bound(loss, n, delta=delta / 2) >= value - 1e-12
        assert bound(loss, n, delta=delta, kl=1.0) >= value - 1e-12
        assert bound(loss, n, delta=delta, n_models=7) == pytest.approx(bound(loss, n, delta=delta / 7))


@given(st.floats(0, 1), st.integers(1, 10**5), st.floats(0.1, 50))
def test_optimal_lambda_is_optimal(loss, n, K):
    value, lam = bounds.lambda_form(loss, n, K)
    assert 0 < lam <= 1
    assert value <= min(bounds.lambda_form(loss, n, K, lam=x)[0] for x in np.linspace(0.05, 1.95, 39)) + 1e-9


def test_optimised_weights_lower_the_bound_and_favour_the_better():
    rates = np.array([0.05, 0.06, 0.3, 0.5])
    result = bounds.optimise_posterior(rates, 2000)
    assert result.weights.sum() == pytest.approx(1)
    assert (np.diff(result.weights) <= 0).all()
    assert result.bound < bounds.pac_bayes_bound(rates.mean(), 2000)
    same = bounds.optimise_posterior([0.1, 0.1], 500)
    assert same.weights == pytest.approx([0.5, 0.5])


def test_divergence_from_the_prior():
    assert bounds.posterior_kl([0.25, 0.75]) == pytest.approx(0.25 * math.log(0.5) + 0.75 * math.log(1.5))
    assert bounds.posterior_kl([1, 0], [0, 1]) == math.inf
    assert bounds.posterior_kl([1, 0], [1, 1]) == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.out_of_bag_errors([[0, 1]], [[1, 1]], [0, 1]), "member 0 used them all"),
        (
            lambda: bounds.tandem_losses([[0, 1], [0, 1]], [[1, 0], [0, 1]], [0, 1]),
            "members 0 and 1 have none",
        ),
        (
            lambda: bounds.out_of_bag_errors([0, 1], [0, 0], [0, 1]),
            r"predictions must have shape \(n_members, m\)",
        ),
        (
            lambda: bounds.out_of_bag_errors([[0, 1]], [[0]], [0, 1]),
            "in_bag must have the shape of predictions",
        ),
        (lambda: bounds.out_of_bag_errors([[0, 1]], [[0, 0]], [0]), r"y must have shape \(2,\), got \(1,\)"),
        (lambda: bounds.pac_bayes_bound(1.2, 10), r"loss must be in \[0, 1\], got 1.2"),
        (lambda: bounds.pac_bayes_bound(0.2, 0), "n must be an integer >= 1, got 0"),
        (lambda: bounds.pac_bayes_bound(0.2, 10, kl=-1), "kl must be >= 0, got -1"),
        (lambda: bounds.pac_bayes_tandem_bound(0.2, 10, delta=0), r"delta must be in \(0, 1\), got 0"),
        (lambda: bounds.lambda_form(0.2, 10, 1.0, lam=2.0), r"lam must be in \(0, 2\), got 2.0"),
        (lambda: bounds.posterior_kl([0.0, 0.0]), "posterior must have a positive sum"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
