"""An independent reading of theory.md §4, §6, §7, as in `test_against_theory`."""

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import optimize, stats

from surewood import bounds as b

LOG2 = math.log(2)
RNG_SEEDS = range(25)


# ---------------------------------------------------------------- §4


def loss(z, theta, mu):  # (4.3)
    return (z - theta) ** 2 / theta**2 if z <= theta else mu * (z - theta) ** 2 / (1 - theta) ** 2


def literal_step(z, g, theta, mu, alpha_max):  # the loop of §4.4
    keep = g != 0
    z, g = z[keep], g[keep]
    wL, wR = 1 / theta**2, mu / (1 - theta) ** 2
    left = (z < theta) | ((z == theta) & (g < 0))
    w = np.where(left, wL, wR)
    a, c = (w * g**2).sum(), (w * g * (theta - z)).sum()
    if c <= 0:
        return 0.0
    breakpoints = (theta - z) / g
    for i in np.argsort(breakpoints, kind="stable"):
        if breakpoints[i] <= 0:
            continue
        if a * breakpoints[i] - c >= 0:
            break
        dw = wR - wL if g[i] > 0 else wL - wR
        a, c = a + dw * g[i] ** 2, c + dw * g[i] * (theta - z[i])
    return min(c / a, alpha_max)


@pytest.mark.parametrize("seed", range(200))
def test_exact_step_is_the_literal_loop(seed):
    rng = np.random.default_rng(seed)
    m, theta, mu = int(rng.integers(1, 60)), rng.choice([0.7, 0.75, 0.95]), rng.choice([0.01, 0.1, 1.0])
    z, g = rng.uniform(-1, 1.2, m), rng.uniform(-1, 1, m) + rng.choice([0, 0.5])
    if seed % 3 == 0:  # ties: at the target, zero directions, repeated breakpoints
        z, g = rng.choice([theta, 0.0, 0.5], m), rng.choice([-0.5, 0.0, 0.5, 1.0], m)
    for alpha_max in (math.inf, 1.0):
        found = b.margin_step(z, g, theta=theta, mu_loss=mu, alpha_max=alpha_max)
        assert found == pytest.approx(literal_step(z, g, theta, mu, alpha_max), rel=1e-9, abs=1e-12)
        grid = np.linspace(0, min(alpha_max, 10), 200)
        objective = [np.mean([loss(v, theta, mu) for v in z + x * g]) for x in [found, *grid[::20]]]
        assert objective[0] <= min(objective[1:]) + 1e-12
    beta = b.simplex_step(z, g, theta=theta, mu_loss=mu)
    assert beta == pytest.approx(literal_step(z, g - z, theta, mu, 1.0), rel=1e-9, abs=1e-12)


def test_margins_weights_and_diagnostics():
    rng = np.random.default_rng(0)
    scores, y = rng.dirichlet(np.ones(4), 40), rng.integers(0, 4, 40)
    z = np.array([row[k] - max(np.delete(row, k)) for row, k in zip(scores, y, strict=True)])
    assert b.margins(scores, y) == pytest.approx(z)  # (4.2)
    losses = np.array([loss(v, 0.8, 0.1) for v in z])
    assert b.margin_loss(z, theta=0.8, mu_loss=0.1) == pytest.approx(losses)
    assert b.margin_weights(z, theta=0.8, mu_loss=0.1) == pytest.approx(losses / losses.sum())  # (4.4)
    good = z + 1.0 - z.mean()
    assert b.margin_ratio(good) == pytest.approx(np.sqrt(np.mean((good - 1.0) ** 2)))  # (4.6)
    betas = [1.0, 0.3, 0.6]
    mixed = [1.0]
    for beta in betas[1:]:
        mixed = [v * (1 - beta) for v in mixed] + [beta]
    assert b.effective_alphas(betas) == pytest.approx(mixed)
    points = rng.normal(size=(40, 2))
    means = {k: points[y == k].mean(axis=0) for k in set(y)}  # (4.8)
    within = sum(((p - means[k]) ** 2).sum() for p, k in zip(points, y, strict=True))
    between = sum(sum(y == k) * ((means[k] - points.mean(axis=0)) ** 2).sum() for k in set(y))
    assert b.scatter_ratio(points, y) == pytest.approx(within / between)


@pytest.mark.parametrize("log_count", [1.0, 30.0])
def test_stated_margin_theorem(log_count):  # (4.7), [D-32]
    z = np.clip(np.random.default_rng(1).normal(0.8, 0.1, 5000), -1, 1)
    m, mean, ratio = len(z), z.mean(), z.std() / z.mean()
    values = []
    for r in [*np.arange(1, 1000) / 1000, *z[(z > 0) & (z < 1)][:300]]:
        d = 2 / (1 - mean**2 + r / 9)
        mu = math.log(m) * (LOG2 + log_count) / r**2 + math.log(2 / 0.05)
        values.append(
            (z < r).mean()
            + m**-d
            + 3 * math.sqrt(mu) / m**1.5
            + 7 * mu / (3 * m)
            + ratio * math.sqrt(3 * mu / m)
        )
    found = b.margin_theorem(z, log_count)
    assert found.value <= min(1.0, *values) + 1e-12
    assert found.value >= min(1.0, *values) - 1e-3
    assert found.status == b.Status.HEURISTIC


# ---------------------------------------------------------------- §6


@pytest.mark.parametrize(("n", "delta"), [(1, 0.05), (20, 0.5), (400, 0.01), (10**6, 1e-9), (50, 1e-300)])
def test_holdout(n, delta):  # (6.1)
    for k in {0, 1, n // 3, n - 1, n}:
        if k > n:
            continue
        p = b.clopper_pearson(k, n, delta=delta, n_models=3)
        if k == n:
            assert p == 1.0
        elif k == 0:
            assert p == pytest.approx(-math.expm1(math.log(delta / 3) / n))
        elif p < 1 - 1e-9:
            assert math.log(stats.binom.cdf(k, n, p)) == pytest.approx(math.log(delta / 3), abs=1e-5)


def kl(q, p):
    return sum(u * math.log(u / v) for u, v in ((q, p), (1 - q, 1 - p)) if u > 0)


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_votes(seed):  # §6.2, (6.2), (6.3) and their lambda forms
    rng = np.random.default_rng(seed)
    n, delta, KL = int(rng.integers(1, 5000)), 10.0 ** -rng.integers(1, 12), rng.choice([0.0, 2.0])
    q = rng.choice([0.0, rng.uniform(0, 0.5), 1.0])

    def inverse(q, eps):
        return (
            1.0
            if q == 1
            else optimize.brentq(lambda p: kl(q, p) - eps, q, 1 - 1e-16)
            if kl(q, 1 - 1e-16) > eps
            else 1.0
        )

    for factor, copies, kl_form, lam_form in [
        (2, 1, b.pac_bayes_bound, b.pac_bayes_lambda_bound),
        (4, 2, b.pac_bayes_tandem_bound, partial(b.pac_bayes_lambda_bound, tandem=True)),
    ]:
        K = copies * KL + math.log(2 * math.sqrt(n) * 5 / delta)
        value = kl_form(q, n, kl=KL, delta=delta, n_models=5)
        assert value == pytest.approx(min(1.0, factor * inverse(q, K / n)), rel=1e-9)
        lam = 2 / (math.sqrt(2 * n * q / K + 1) + 1)
        looser = factor * (q / (1 - lam / 2) + K / (lam * (1 - lam / 2) * n)) if lam < 2 else math.inf
        found = lam_form(q, n, kl=KL, delta=delta, n_models=5)
        assert found == pytest.approx(min(1.0, looser))
        assert value <= found + 1e-12


def test_out_of_bag_statistics():
    rng = np.random.default_rng(3)
    y, in_bag = rng.integers(0, 3, 60), rng.integers(0, 2, (5, 60))
    votes = np.where(rng.random((5, 60)) < 0.6, y, rng.integers(0, 3, (5, 60)))
    single, pairs = b.out_of_bag_errors(votes, in_bag, y), b.tandem_losses(votes, in_bag, y)
    for h, k in itertools.product(range(5), repeat=2):
        free = [i for i in range(60) if not in_bag[h, i] and not in_bag[k, i]]
        both = [i for i in free if votes[h, i] != y[i] and votes[k, i] != y[i]]
        assert (pairs.sizes[h, k], pairs.errors[h, k]) == (len(free), len(both))
        if h == k:
            assert (single.sizes[h], single.errors[h]) == (len(free), len(both))


@pytest.mark.parametrize(
    ("m", "d", "k", "models"),
    [(1000, 60, 0, 1), (1000, 60, 3, 54), (30, 0, 2, 1), (30, 29, 0, 7), (30, 29, 1, 1), (30, 30, 0, 1)],
)
def test_compression(m, d, k, models):  # (6.4)
    level = Fraction(1, 20) / (models * (m + 1) * math.comb(m, d))
    p = b.compression_bound(m, d, k, n_models=models)
    if k == m - d:
        assert p == 1.0
    elif k == 0:
        assert p == pytest.approx(-math.expm1(math.log(level) / (m - d)), rel=1e-9)
    else:
        tail = sum(
            math.comb(m - d, i) * Fraction(p) ** i * (1 - Fraction(p)) ** (m - d - i) for i in range(k + 1)
        )
        assert float(tail / level) == pytest.approx(1.0, rel=1e-6)


# ---------------------------------------------------------------- §7


def test_statistics():
    rng = np.random.default_rng(4)
    e, f = rng.uniform(0.1, 0.3, 5), rng.uniform(0.1, 0.3, 5)
    d = e - f
    t = d.mean() / (d.std(ddof=1) / math.sqrt(5))
    assert b.paired_t_test(e, f) == pytest.approx((t, stats.t.sf(t, 4), 4))
    t = d.mean() / (d.std(ddof=1) * math.sqrt(1 / 5 + 0.25))
    assert b.corrected_paired_t_test(e, f, n_train=400, n_test=100) == pytest.approx((t, stats.t.sf(t, 4), 4))
    assert b.paired_t_test(e, e)[:2] == (0.0, 0.5)
    assert b.paired_t_test([0.5, 0.5], [0.25, 0.25])[:2] == (math.inf, 0.0)
    assert b.paired_t_test([0.25, 0.25], [0.5, 0.5])[:2] == (-math.inf, 1.0)
    assert b.average_ranks([[0.3, 0.1, 0.1, 0.2]], higher_is_better=False) == pytest.approx([4, 1.5, 1.5, 3])
    first, second, y = [0, 1, 2, 2, 1, 0, 1], [0, 2, 1, 1, 1, 0, 0], [0, 1, 1, 0, 1, 1, 1]
    result = b.mcnemar_test(first, second, y)
    assert (result.only_first_correct, result.only_second_correct, result.differing) == (2, 1, 4)
    assert result.p_value == pytest.approx(stats.binomtest(2, 3, 0.5).pvalue)
