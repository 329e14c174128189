"""Every worked number of theory.md, and every formula against a second evaluation."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, stats

from surewood import bounds as b
from surewood.bounds.cascade import cascade_depths
from surewood.bounds.real_leaves import real_leaf_term, real_leaf_terms

LOG2 = math.log(2)

RNG_SEEDS = range(25)

# ---------------------------------------------------------------- plain formulas


def Lambda(d, m):  # (1.1)
    if d == 0:
        return 0.0
    return m * LOG2 if d >= m else min(m * LOG2, d * math.log(math.e * m / d))


def sauer(d, m):
    return math.log(sum(math.comb(m, i) for i in range(min(d, m) + 1)))


def ceiling_root(rho, argument, log_families, m):
    count = max(1, math.ceil(4 / rho**2 * math.log(argument)))
    return math.sqrt(count * log_families / m)


def C_composite(m, families, rho, c):  # (2.4), [D-05]
    if families == 1:
        return 0.0
    log_pl = math.log(families)
    first = 2 / (c * rho) * math.sqrt(log_pl / m)
    return first + ceiling_root(rho, c**2 * rho**2 * m / (4 * log_pl), log_pl, m)


def C_cascade(m, families, rho):  # (3.3)
    if families == 1:
        return 0.0
    log_pl = math.log(families)
    return 2 / rho * math.sqrt(log_pl / m) + ceiling_root(rho, rho**2 * m / log_pl, log_pl, m)


def L_enumerated(share, charge, rho):  # the minimum of (2.2) as printed
    K = [k for k in range(len(share)) if share[k] > charge[k]]
    sums = [
        sum(share[k] - charge[k] for k in L)
        for size in range(len(K) + 1)
        if size >= len(K) - 1 / Fraction(rho)
        for L in itertools.combinations(K, size)
    ]
    return min(sums)


def random_leaves(rng, n_leaves, scale):
    points = rng.integers(0, 400, n_leaves)
    points[0] += 1
    errors = rng.binomial(points, 0.15)
    return points - errors, errors, rng.uniform(0, scale, n_leaves)


# ---------------------------------------------------------------- §1


@pytest.mark.parametrize("m", [1, 2, 3, 7, 50, 600])
def test_growth_and_dimensions(m):
    for d in [0, 1, 2, m // 2, m - 1, m, m + 1, 3 * m, 10**30]:
        if d < 0:
            continue
        assert b.log_growth(d, m) == pytest.approx(Lambda(d, m), rel=1e-12, abs=1e-12)
        assert b.log_growth(d, m, mode="sum") == pytest.approx(sauer(d, m), rel=1e-9, abs=1e-9)
        if d > m:
            with pytest.raises(ValueError, match="raw"):
                b.log_growth(d, m, mode="raw")
    for n, degree in itertools.product([1, 2, 18, 180], [1, 2, 9, 40]):
        assert b.vc_dimension(n, degree) == math.comb(n + degree, degree)
        assert b.vc_dimension(n, degree, homogeneous=True) == math.comb(n + degree - 1, degree) + 1


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_leaf_and_question_growth(seed):
    rng = np.random.default_rng(seed)
    m, n, c = int(rng.integers(1, 3000)), int(rng.integers(1, 30)), int(rng.integers(2, 12))
    for degree in range(5):
        one = LOG2 if degree == 0 else Lambda(math.comb(n + degree, degree), m)  # [D-13]
        pairs = one if degree == 0 or c == 2 else min(m * LOG2, math.log(c) + math.comb(c, 2) * one)  # [D-09]
        assert b.leaf_log_growth(degree, n, m, c) == pytest.approx(one)
        assert b.leaf_log_growth(degree, n, m, c, svm="ovo") == pytest.approx(pairs)
    r = int(rng.integers(1, n + 1))  # (1.5a), (1.5b), [D-03]
    expected = [r * math.log(math.e * n / r) + math.log(2 * m * r), math.log(2 * m * n), math.log(2 * m * r)]
    found = [b.split_log_growth(m, r, n, mode=mode) for mode in ("paper", "union", "cond")]
    assert found == pytest.approx(expected)
    assert found[2] <= found[1] <= found[0] + 1e-12


# ---------------------------------------------------------------- §2


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_l_term_is_the_printed_minimum_and_that_of_the_proof(seed):
    rng = np.random.default_rng(seed)
    n_leaves = int(rng.integers(1, 8))
    correct, errors, r = random_leaves(rng, n_leaves, 0.02)
    c, m = 3, int((correct + errors).sum())
    share, charge = correct / m, 8 * c * r
    for rho in [Fraction(1, j) for j in range(1, 9)] + [
        Fraction(2, 5),
        Fraction(3, 7),
        Fraction(3, 2),
        Fraction(5),
    ]:
        expected = L_enumerated(share, charge, rho)
        assert b.l_term(share, charge, rho_inverse=float(1 / rho)) == pytest.approx(expected, abs=1e-12)
        total = errors.sum() / m + np.minimum(share, charge).sum() + expected
        proof = min(  # alpha_k in {0, rho}, sum at most 1
            errors.sum() / m + sum(charge[k] if on[k] else share[k] for k in range(n_leaves))
            for on in itertools.product([False, True], repeat=n_leaves)
            if sum(on) * rho <= 1
        )
        assert total == pytest.approx(proof, abs=1e-12)
        if rho > 1:
            assert total == pytest.approx(1.0)


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_composite_theorem_and_its_uniform_form(seed):
    rng = np.random.default_rng(seed)
    correct, errors, r = random_leaves(rng, int(rng.integers(1, 8)), 0.01)
    m, c = int((correct + errors).sum()), int(rng.integers(2, 6))
    families, delta, J = int(rng.integers(1, 200)), 10.0 ** -rng.integers(1, 10), 9
    share, charge = correct / m, 8 * c * r

    def theorem(j, d):
        return (
            errors.sum() / m
            + sum(min(s, a) for s, a in zip(share, charge, strict=True))
            + L_enumerated(share, charge, Fraction(1, j))
            + C_composite(m, families, 1 / j, c)
            + math.sqrt(math.log(2 / d) / (2 * m))
        )

    found = b.composite_theorem(correct, errors, r, n_classes=c, n_families=families)
    for j in (1, 2, 5):
        assert found.at(rho_inverse=j, delta=delta).total == pytest.approx(theorem(j, delta))
    uniform = found.uniform(max_rho_inverse=J, delta=delta)
    assert uniform.total == pytest.approx(
        min(theorem(j, delta / (j * (j + 1))) for j in range(1, J + 1))
    )  # (2.6)
    assert uniform.value == min(1.0, uniform.total)


def test_family_counts():  # [D-08]
    for degrees, depth in itertools.product([1, 4, 9], [0, 1, 6]):
        assert b.composite_family_count(degrees, depth) == (degrees + 1) * (depth + 1)
    for degrees, leaves in itertools.product([1, 2, 4], [1, 2, 4]):
        # leaf k: degrees of nodes 1..k, and whether node k has a question of its own (the last has none)
        families = {
            (sequence, last)
            for k in range(1, leaves + 1)
            for sequence in itertools.product(range(degrees), repeat=k)
            for last in ({True, False} if k < leaves else {True})
        }
        assert b.cascade_family_count(degrees, leaves) == len(families)


@pytest.mark.parametrize(
    ("m", "families", "rho"), [(1, 2, 1.0), (1, 10**9, 0.01), (5, 7, 0.5), (10**9, 40, 0.125), (3, 2, 9.0)]
)
def test_ensemble_terms_at_their_edges(m, families, rho):
    assert b.composite_ensemble_term(m, families, rho, 3) == pytest.approx(C_composite(m, families, rho, 3))
    assert b.cascade_ensemble_term(m, families, rho) == pytest.approx(C_cascade(m, families, rho))
    assert b.composite_ensemble_term(m, 1, rho, 3) == b.cascade_ensemble_term(m, 1, rho) == 0


def test_printed_readings_of_the_cascade_term():  # [D-19]
    for m, families, rho in [(10_000, 12, 1 / 3), (500, 3, 0.5), (10**6, 1000, 0.1)]:
        log_pl = math.log(families)
        first, order = 2 / rho * math.sqrt(log_pl / m), math.log(rho**2 * m / log_pl)
        inside = first + math.sqrt(log_pl / (rho**2 * m) * order)
        outside = first + math.sqrt(log_pl / (rho**2 * m)) * order
        assert b.cascade_ensemble_term(m, families, rho, reading="print_in") == pytest.approx(inside)
        assert b.cascade_ensemble_term(m, families, rho, reading="print_out") == pytest.approx(outside)


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_composite_complexity_and_criterion(seed):
    rng = np.random.default_rng(seed)
    correct, errors, _ = random_leaves(rng, 6, 1.0)
    m, c, n, r, F = int((correct + errors).sum()), 3, 5, 2, 7
    depth, degree = rng.integers(0, 5, 6), rng.integers(0, 4, 6)
    H = [LOG2 if k == 0 else Lambda(math.comb(n + int(k), int(k)), m) for k in degree]
    Q = r * math.log(math.e * F / r) + math.log(2 * m * r)
    A = [math.sqrt(2 * d * Q / m) + math.sqrt(2 * h / m) for d, h in zip(depth, H, strict=True)]  # (2.8)
    half = [math.sqrt((h + d * Q) / (2 * m)) for d, h in zip(depth, H, strict=True)]  # §2.6
    question = b.split_log_growth(m, r, F)
    assert b.composite_complexity(depth, b.leaf_log_growth(degree, n, m, c), question, m) == pytest.approx(A)
    assert b.composite_complexity(depth, H, question, m, form="half_root") == pytest.approx(half)
    for gamma in (1e-5, 1e-3, 0.03, 1.0):  # (2.9), (2.11)
        T = [e + min(8 * c * gamma * m * a, k) for e, a, k in zip(errors, A, correct, strict=True)]
        found = b.composite_criterion_counts(correct, errors, A, m=m, n_classes=c, gamma_scale=gamma)
        assert found == pytest.approx(T)
        assert b.composite_criterion(correct, errors, A, n_classes=c, gamma_scale=gamma) == pytest.approx(
            sum(T) / m
        )
    assert b.composite_criterion(correct, errors, A, n_classes=c, gamma_scale=10.0) == 1.0  # inert: exactly 1


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_real_leaves(seed):  # (2.10)
    rng = np.random.default_rng(seed)
    leaves = [np.round(rng.uniform(-1, 1, rng.integers(0, 12)), 1) for _ in range(3)]
    leaves[0] = np.append(leaves[0], 0.5)
    m, charge = sum(map(len, leaves)), rng.uniform(0, 0.15, 3)

    def options(margins, a):  # (term, 1/theta) of every threshold worth trying, capped first
        capped = [(len(margins) / m, 0.0)]
        return capped + [(sum(margins < t) / m + a / t, 1 / t) for t in sorted(set(margins)) if t > 0]

    for margins, a in zip(leaves, charge, strict=True):
        assert real_leaf_term(margins, m, a).term == pytest.approx(min(options(margins, a))[0])
    tables = [options(margins, a) for margins, a in zip(leaves, charge, strict=True)]
    for budget in (1, 2, 4, 50):
        best = min(
            sum(t for t, _ in pick)
            for pick in itertools.product(*tables)
            if sum(w for _, w in pick) <= budget + 1e-12
        )
        result = real_leaf_terms(leaves, m, charge, rho_inverse=budget)
        assert sum(1 / result.thetas) <= budget + 1e-9
        for k, (term, theta) in enumerate(zip(result.terms, result.thetas, strict=True)):
            value = len(leaves[k]) / m if theta == np.inf else sum(leaves[k] < theta) / m + charge[k] / theta
            assert term == pytest.approx(value)
        assert result.terms.sum() >= best - 1e-12
        tail = C_composite(m, 6, 1 / budget, 2) + math.sqrt(math.log(20) / (2 * m))
        bound = b.real_composite_bound(
            leaves, charge / 16, n_classes=2, n_families=6, rho_inverse=budget, delta=0.1
        )
        assert bound.total == pytest.approx(result.terms.sum() + tail)
        if budget == 50:
            assert result.terms.sum() == pytest.approx(best)
            assert bound.l_term == pytest.approx(0.0, abs=1e-12)


# ---------------------------------------------------------------- §3


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_cascades(seed):
    rng = np.random.default_rng(seed)
    leaves = int(rng.integers(1, 6))
    correct, errors, r = random_leaves(rng, leaves, 0.05)
    m, families, delta = int((correct + errors).sum()), int(rng.integers(1, 300)), 0.01
    share, charge = correct / m, 4 * r

    def theorem(j, d):  # (3.2)
        kept = (
            errors.sum() / m + np.minimum(share, charge).sum() + L_enumerated(share, charge, Fraction(1, j))
        )
        return kept + C_cascade(m, families, 1 / j) + math.sqrt(math.log(4 / d) / (2 * m))

    found = b.cascade_theorem(correct, errors, r, n_families=families)
    assert found.at(rho_inverse=2, delta=delta).total == pytest.approx(theorem(2, delta))
    uniform = found.uniform(max_rho_inverse=6, delta=delta)
    assert uniform.total == pytest.approx(min(theorem(j, delta / (j * (j + 1))) for j in range(1, 7)))

    Lam = [Lambda(math.comb(12 + int(d), int(d)), m) for d in rng.integers(1, 5, leaves)]
    depth = [*range(1, leaves), leaves - 1]  # [D-22]
    assert cascade_depths(leaves).tolist() == depth
    root = [math.sqrt(v / m) for v in Lam]
    printed = [sum(root[:d]) + root[k] for k, d in enumerate(depth)]
    rigorous = [sum(root[:d]) + math.sqrt(2) * root[k] for k, d in enumerate(depth)]  # [D-24]
    single = [math.sqrt(2 * (2 * sum(Lam[:d]) + Lam[k]) / m) for k, d in enumerate(depth)]
    expected = {
        "printed": printed,
        "rigorous": rigorous,
        "single_root": single,
        "smaller": np.minimum(rigorous, single),
    }
    for variant, value in expected.items():
        assert b.cascade_complexity(Lam, m, variant=variant) == pytest.approx(value)
    for gamma in (1e-3, 0.02, 0.3):  # (3.8)
        T = [e + min(4 * gamma * m * a, k) for e, a, k in zip(errors, printed, correct, strict=True)]
        assert b.cascade_criterion(correct, errors, printed, gamma_scale=gamma) == pytest.approx(sum(T) / m)
        rest = (correct + errors)[1:].sum()  # (3.9) after the first leaf
        low = T[0] + min(rest, 4 * gamma * m * (root[0] + min(root)))
        if leaves > 1:
            bound = b.cascade_completion_bound(T[0], rest, root[0], min(root), m=m, gamma_scale=gamma)
            assert float(bound) == pytest.approx(low)
            assert float(bound) <= sum(T) + 1e-9


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_real_cascades(seed):  # (3.5), [D-21] and the knapsack
    rng = np.random.default_rng(seed)
    leaves = [np.round(rng.uniform(-0.3, 1, 30), 2) for _ in range(4)] + [np.array([-0.5, 0.0])]
    m, r = sum(map(len, leaves)), rng.uniform(0, 0.005, 5)
    plus = [sum(v > 0) / m for v in leaves]
    rho_k = [min(v[v > 0], default=0.0) for v in leaves]
    a = [4 * x / t if t else math.inf for x, t in zip(r, rho_k, strict=True)]
    K = [k for k in range(5) if plus[k] > a[k]]
    j = int(rng.integers(1, 120))
    best = max(
        sum(plus[k] - a[k] for k in J)
        for s in range(len(K) + 1)
        for J in itertools.combinations(K, s)
        if sum(1 / rho_k[k] for k in J) <= j
    )
    first = 1 - sum(plus) + sum(min(p, x) for p, x in zip(plus, a, strict=True))
    total = first + sum(plus[k] - a[k] for k in K) - best
    found = b.real_cascade_bound(leaves, r, n_families=6, rho_inverse=j, delta=0.1)
    tail = C_cascade(m, 6, 1 / j) + math.sqrt(math.log(40) / (2 * m))
    assert found.total == pytest.approx(total + tail)


# ---------------------------------------------------------------- §4


def loss(z, theta, mu):  # (4.3)
    return (z - theta) ** 2 / theta**2 if z <= theta else mu * (z - theta) ** 2 / (1 - theta) ** 2


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

    for factor, copies, kl_form in [(2, 1, b.pac_bayes_bound), (4, 2, b.pac_bayes_tandem_bound)]:
        K = copies * KL + math.log(2 * math.sqrt(n) * 5 / delta)
        value = kl_form(q, n, kl=KL, delta=delta, n_models=5)
        assert value == pytest.approx(min(1.0, factor * inverse(q, K / n)), rel=1e-9)
        lam = 2 / (math.sqrt(2 * n * q / K + 1) + 1)
        looser = factor * (q / (1 - lam / 2) + K / (lam * (1 - lam / 2) * n)) if lam < 2 else math.inf
        assert value <= min(1.0, looser) + 1e-12


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
