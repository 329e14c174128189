"""Betting limits: against a slow loop, the peers they must not lose to, and their validity."""

import math

import numpy as np
import pytest

from surewood.bounds import betting, betting_lower_limit, betting_upper_limit, binomial_tail_inverse


def slow_capital(values, u, cell, target):
    """Largest log-capital against u, one row at a time, with the bets of the cell's lower end."""
    n = len(values)
    start = max(cell, 0.5e-4)
    low, high = 0.0, start
    for _ in range(200):
        p = (low + high) / 2
        kl = p * math.log(p / start) + (1 - p) * math.log((1 - p) / (1 - start))
        low, high = (p, high) if kl > target / n else (low, p)
    p = 0.0 if -math.log1p(-start) <= target / n else low
    total, squares, capital, best = 0.0, 0.0, 0.0, -math.inf
    for i, z in enumerate(values):
        variance = (math.sqrt(n) * start * (1 - start) + squares) / (i + math.sqrt(n))
        bet = 1.1 * (start - p) / (start * (1 - start)) * math.sqrt(start * (1 - start) / variance)
        bet = min(bet, min(max(0.6, 1 - p / start), 0.999) / (1 - cell))
        capital += math.log1p(bet * (u - z))
        best = max(best, capital)
        total += z
        squares += (z - (math.sqrt(n) * start + total) / (i + 1 + math.sqrt(n))) ** 2
    return best


def slow_limit(values, delta):
    """The largest cell that is not rejected, then a fine search within it."""
    target, cells = math.log(1 / delta), [*betting._cells(), 1.0]
    kept = max(j for j, u in enumerate(cells[:-1]) if slow_capital(values, u, u, target) < target)
    low, high = cells[kept], cells[kept + 1]
    for _ in range(40):
        u = (low + high) / 2
        rejected = slow_capital(values, u, cells[kept], target) >= target
        low, high = (low, u) if rejected else (u, high)
    return high


@pytest.mark.parametrize("n", [1, 7, 60])
@pytest.mark.parametrize("draw", ["bernoulli", "beta"])
def test_equals_the_slow_loop(n, draw):
    rng = np.random.default_rng(n)
    values = rng.random(n) < 0.2 if draw == "bernoulli" else rng.beta(2, 8, n)
    assert betting_upper_limit(values, delta=0.05) == pytest.approx(
        slow_limit(np.asarray(values, float), 0.05), abs=1e-9
    )


def hoeffding(z, delta):
    return min(1.0, z.mean() + math.sqrt(math.log(1 / delta) / (2 * z.size)))


def bernstein(z, delta):
    log = math.log(2 / delta)
    return min(1.0, z.mean() + math.sqrt(2 * z.var(ddof=1) * log / z.size) + 7 * log / (3 * (z.size - 1)))


def bentkus(z, delta):
    return binomial_tail_inverse(math.ceil(z.sum() - 1e-9), z.size, math.log(delta) - 1.0)


LAWS = {
    "bernoulli 0.02": lambda rng, n: (rng.random(n) < 0.02).astype(float),
    "bernoulli 0.2": lambda rng, n: (rng.random(n) < 0.2).astype(float),
    "bernoulli 0.9": lambda rng, n: (rng.random(n) < 0.9).astype(float),
    "beta(1, 1)": lambda rng, n: rng.random(n),
    "beta(1, 9)": lambda rng, n: rng.beta(1, 9, n),
    "beta(10, 30)": lambda rng, n: rng.beta(10, 30, n),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n", "draws"), [(100, 120), (1000, 40)])
def test_at_most_five_percent_wider_than_the_best_peer(law, n, draws):
    rng = np.random.default_rng(0)
    samples = [LAWS[law](rng, n) for _ in range(draws)]
    ours = np.mean([betting_upper_limit(z) - z.mean() for z in samples])
    peers = [np.mean([peer(z, 0.05) - z.mean() for z in samples]) for peer in (hoeffding, bernstein, bentkus)]
    assert ours <= 1.05 * min(peers)


@pytest.mark.parametrize("law", ["bernoulli 0.2", "beta(1, 9)"])
def test_the_limit_fails_at_most_as_often_as_it_says(law):
    rng = np.random.default_rng(1)
    mean = {"bernoulli 0.2": 0.2, "beta(1, 9)": 0.1}[law]
    failures = sum(betting_upper_limit(LAWS[law](rng, 50), delta=0.2) < mean for _ in range(300))
    assert failures <= 300 * 0.2 + 3 * math.sqrt(300 * 0.2 * 0.8)
    if law.startswith("bernoulli"):
        assert failures > 0, "a limit that never fails at delta=0.2 is not tight enough to test"


def test_lower_limit_is_the_mirror_and_extremes_are_kept():
    values = np.random.default_rng(2).beta(3, 2, 80)
    assert betting_lower_limit(values) == 1.0 - betting_upper_limit(1.0 - values)
    assert betting_upper_limit(np.ones(50)) == 1.0
    assert betting_upper_limit(np.zeros(300)) < 0.012
    assert betting_upper_limit([0.4], n_models=3) > betting_upper_limit([0.4]) - 1e-12


def test_bad_values_are_named():
    with pytest.raises(ValueError, match="number of values must be an integer >= 1, got 0"):
        betting_upper_limit([])
    with pytest.raises(ValueError, match=r"values must be in \[0, 1\]"):
        betting_upper_limit([0.5, 1.5])
