"""Margins, the exact step size and the stated theorem against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from surewood import bounds
from surewood.bounds import (
    Status,
    drawn_vote_tail,
    empirical_bernstein,
    log_forest_count,
    log_mixture_count,
    margin_gap,
    margin_of_sum_step,
    margin_ratio,
    margin_step,
    margin_theorem,
    margins,
)
from surewood.bounds.margin import log_tree_count, step_objective


def test_worked_numbers():
    loss = bounds.margin_loss([-0.5, 0.35, 0.7, 0.85, 1, 1.3], theta=0.7, mu_loss=0.05)
    assert loss == pytest.approx([2.938776, 0.25, 0, 0.0125, 0.05, 0.2], abs=1e-6)


@given(st.floats(0.01, 0.99), st.floats(0.01, 1))
def test_loss_is_one_at_zero_and_mu_at_one_and_smooth_at_the_target(theta, mu):
    assert bounds.margin_loss([0.0, theta, 1.0], theta=theta, mu_loss=mu) == pytest.approx([1, 0, mu])
    z = np.linspace(-2, 2, 401)
    values = bounds.margin_loss(z, theta=theta, mu_loss=mu)
    assert (np.diff(values, 2) >= -1e-9).all()
    step = 1e-7
    slopes = np.diff(bounds.margin_loss([theta - step, theta, theta + step], theta=theta, mu_loss=mu)) / step
    assert np.abs(slopes).max() < 1e-2


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 4))
def test_margin_of_the_sum_is_at_least_the_sum_of_margins(seed, n_classes, n_layers):
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.ones(n_classes), size=(n_layers, 30))
    y, alphas = rng.integers(0, n_classes, 30), rng.random(n_layers)
    layer = np.array([bounds.margins(s, y) for s in scores])
    assert (np.abs(layer) <= 1).all()
    whole = bounds.margins(np.tensordot(alphas, scores, 1), y)
    summed = alphas @ layer
    assert (whole >= summed - 1e-12).all()
    if n_classes == 2:
        assert whole == pytest.approx(summed, abs=1e-12)


def test_margin_is_positive_only_for_a_strict_winner():
    assert bounds.margins([[0.4, 0.3, 0.3], [0.4, 0.4, 0.2]], [0, 1]).tolist() == pytest.approx([0.1, 0.0])


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20))
def test_weights_sum_to_one_and_follow_the_loss(z):
    weights = bounds.margin_weights(z, theta=0.8, mu_loss=0.1)
    assert weights.sum() == pytest.approx(1)
    loss = bounds.margin_loss(z, theta=0.8, mu_loss=0.1)
    if loss.sum() > 0:
        assert weights * loss.sum() == pytest.approx(loss)
    assert 1 - 1e-9 <= bounds.effective_sample_size(weights) <= len(z) + 1e-9


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=20), st.floats(0.1, 10))
def test_ratio_does_not_depend_on_scale(z, scale):
    assert bounds.margin_ratio(np.array(z) * scale) == pytest.approx(bounds.margin_ratio(z), abs=1e-9)


def test_ratio_is_infinite_without_a_positive_mean():
    assert bounds.margin_ratio([0.0, 0.0]) == math.inf
    assert bounds.margin_ratio([0.5, 0.5]) == 0.0


def test_scatter_ratio_written_out():
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    within = sum(((points[labels == c] - points[labels == c].mean(0)) ** 2).sum() for c in range(3))
    total = ((points - points.mean(0)) ** 2).sum()
    assert bounds.scatter_ratio(points, labels) == pytest.approx(within / (total - within))
    assert bounds.scatter_ratio([[1.0], [1.0]], [0, 1]) == math.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.margins([[0.5, 0.5]], [2]), "y must be class codes below 2, got 2"),
        (lambda: bounds.margins([[0.5, 0.5]], [0, 1]), "y must have 1 entries, got 2"),
        (lambda: bounds.margins([[1.0]], [0]), "scores must have at least 2 columns, got 1"),
        (lambda: bounds.margins([[0.5, np.nan]], [0]), "scores must be finite"),
        (lambda: bounds.margin_loss([0.0], theta=1.0), r"theta must be in \(0, 1\), got 1.0"),
        (lambda: bounds.margin_loss([0.0], mu_loss=1.5), r"mu_loss must be in \(0, 1\], got 1.5"),
        (lambda: bounds.margin_loss([0.0], mu_loss=0.0), "mu_loss must be a finite number > 0"),
        (lambda: bounds.margin_ratio([]), "number of margins must be an integer >= 1, got 0"),
        (lambda: bounds.effective_sample_size([0.0]), "weights must have a positive sum"),
        (lambda: bounds.scatter_ratio([[1.0]], [0, 1]), r"labels must have one entry per point \(1\), got 2"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def looped_step(z, g, theta, mu, alpha_max):
    """theory.md (4.5), line by line."""
    below, above = 1 / theta**2, mu / (1 - theta) ** 2
    pairs = [(zi, gi) for zi, gi in zip(z, g) if gi != 0]
    a = b = 0.0
    for zi, gi in pairs:
        left = zi < theta or (zi == theta and gi < 0)
        w = below if left else above
        a += w * gi * gi
        b += w * gi * (theta - zi)
    if b <= 0:
        return 0.0
    for zi, gi in sorted(
        (p for p in pairs if (theta - p[0]) / p[1] > 0), key=lambda p: (theta - p[0]) / p[1]
    ):
        if a * (theta - zi) / gi - b >= 0:
            break
        change = (above - below) if gi > 0 else (below - above)
        a += change * gi * gi
        b += change * gi * (theta - zi)
    return min(b / a, alpha_max)


problems = st.integers(0, 10**6)


def random_problem(seed, m=40):
    rng = np.random.default_rng(seed)
    z = np.round(rng.uniform(-1, 1, m), int(rng.integers(1, 6)))
    g = np.round(rng.normal(0.3, 0.5, m), int(rng.integers(1, 6)))
    return z, g, float(rng.choice([0.7, 0.8, 0.95])), float(rng.choice([0.01, 0.05, 0.1]))


def test_margin_step_worked_numbers():
    alpha = margin_step(np.zeros(3), [0.8, 0.5, -0.2], theta=0.7, mu_loss=0.05)
    assert alpha == pytest.approx(0.8279570, abs=1e-7)
    assert step_objective(alpha, np.zeros(3), [0.8, 0.5, -0.2]) == pytest.approx(0.5663082, abs=1e-7)


@given(problems, st.sampled_from([0.1, 1.0, math.inf]))
def test_equals_the_loop(seed, alpha_max):
    z, g, theta, mu = random_problem(seed)
    step = margin_step(z, g, theta=theta, mu_loss=mu, alpha_max=alpha_max)
    assert step == pytest.approx(looped_step(z, g, theta, mu, alpha_max), rel=1e-9, abs=1e-12)


@settings(deadline=None)
@given(problems)
def test_no_grid_value_is_better_and_the_derivative_vanishes(seed):
    z, g, theta, mu = random_problem(seed)
    alpha = margin_step(z, g, theta=theta, mu_loss=mu, alpha_max=2.0)
    best = step_objective(alpha, z, g, theta=theta, mu_loss=mu)
    grid = [step_objective(a, z, g, theta=theta, mu_loss=mu) for a in np.linspace(0, 2, 201)]
    assert best <= min(grid) + 1e-12
    gap = theta - z - alpha * g
    weight = np.where(gap >= 0, 1 / theta**2, mu / (1 - theta) ** 2)
    derivative = -2 * np.mean(weight * gap * g)
    if alpha == 0:
        assert derivative >= -1e-9
    elif alpha == 2.0:
        assert derivative <= 1e-9
    else:
        assert derivative == pytest.approx(0, abs=1e-9)


@given(problems)
def test_first_step_is_positive_exactly_when_the_mean_margin_is(seed):
    _, g, theta, mu = random_problem(seed)
    positive = margin_step(np.zeros(g.size), g, theta=theta, mu_loss=mu) > 0
    assert positive == (math.fsum(g) > 0) or abs(math.fsum(g)) < 1e-12


@given(problems, st.floats(0.01, 100))
def test_scaling_the_direction_scales_the_step_back(seed, scale):
    z, g, theta, mu = random_problem(seed)
    step = margin_step(z, g, theta=theta, mu_loss=mu)
    assert margin_step(z, scale * g, theta=theta, mu_loss=mu) * scale == pytest.approx(
        step, rel=1e-6, abs=1e-9
    )


def test_degenerate_directions():
    assert margin_step([], []) == 0.0
    assert margin_step([0.1, 0.2], [0.0, 0.0]) == 0.0
    assert margin_step([0.1, 0.2], [-0.5, -0.1]) == 0.0
    assert margin_step([0.0], [1e-200]) == 0.0
    assert margin_step([0.0], [0.5], alpha_max=0.0) == 0.0
    assert margin_step([0.7, 0.7], [0.5, -0.5]) == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_margins_of_the_sum_reduce_to_the_exact_step_for_two_classes(seed):
    rng = np.random.default_rng(seed)
    old, new = rng.dirichlet([1, 1], 30), rng.dirichlet([1, 1], 30)
    y = rng.integers(0, 2, 30)
    searched = margin_of_sum_step(old, new, y, alpha_max=3.0)
    exact = margin_step(margins(old, y), margins(new, y), alpha_max=3.0)
    assert searched == pytest.approx(exact, abs=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: margin_step([0.0], [0.1, 0.2]), "z has 1, direction has 2"),
        (lambda: margin_step([0.0], [np.inf]), "direction must be finite"),
        (lambda: margin_step([0.0], [0.1], alpha_max=-1.0), "alpha_max must be >= 0, got -1.0"),
        (lambda: margin_step([0.0], [0.1], alpha_max=math.nan), "alpha_max must be >= 0, got nan"),
        (lambda: margin_step([0.0], [0.1], theta=0.0), r"theta must be in \(0, 1\), got 0.0"),
        (
            lambda: margin_of_sum_step(np.zeros((1, 2)), np.zeros((2, 2)), [0]),
            r"layer_scores must have the shape of scores \(1, 2\), got \(2, 2\)",
        ),
        (
            lambda: margin_of_sum_step(np.zeros((1, 2)), np.zeros((1, 2)), [0], alpha_max=0),
            "alpha_max must be a finite number > 0",
        ),
    ],
)
def test_margin_step_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_weights_count_as_repetition():
    rng = np.random.default_rng(0)
    z, g, weight = rng.uniform(-1, 1, 60), rng.uniform(-0.5, 1, 60), rng.integers(0, 4, 60)
    repeated = margin_step(np.repeat(z, weight), np.repeat(g, weight))
    assert margin_step(z, g, weight=weight) == pytest.approx(repeated)
    with pytest.raises(ValueError, match="weight must have one entry per point"):
        margin_step(z, g, weight=weight[1:])


def test_written_out_at_one_threshold():
    z, log_count, delta = np.full(10**5, 0.9), math.log(50), 0.1
    result = margin_theorem(z, log_count, delta=delta)
    m, r = z.size, result.threshold
    mu = math.log(m) * (math.log(2) + log_count) / r**2 + math.log(2 / delta)
    d = 2 / (1 - 0.81 + r / 9)
    value = m**-d + 3 * math.sqrt(mu) / m**1.5 + 7 * mu / (3 * m) + margin_ratio(z) * math.sqrt(3 * mu / m)
    assert result.value == pytest.approx(value + (r > 0.9), rel=1e-9)
    assert r == pytest.approx(0.9)


def test_is_heuristic_and_vacuous_for_forests_of_realistic_size():
    log_count = log_mixture_count([0.5, 0.5], [log_forest_count(400, 16, 561, 7352, 6)] * 2)
    assert log_count > 1e6
    rng = np.random.default_rng(0)
    result = margin_theorem(rng.uniform(0.2, 1, 7352), log_count)
    assert result.value == 1.0
    assert result.status is Status.HEURISTIC


def test_negative_mean_margin_gives_one_without_a_warning():
    assert margin_theorem([-0.5, 0.1, -0.2], 1.0).value == 1.0
    assert margin_theorem([0.5], 0.0).value == 1.0


def test_counts():
    assert log_tree_count(0, 10, 100, 3) == pytest.approx(math.log(3))
    deep = log_tree_count(60, 10, 100, 2)
    assert deep == pytest.approx(99 * math.log(4000) + 100 * math.log(2))
    assert log_forest_count(7, 3, 5, 50, 2) == pytest.approx(7 * log_tree_count(3, 5, 50, 2))
    assert log_mixture_count([0.25, 0.75], [math.log(8), math.log(4)]) == pytest.approx(math.log(5))


def test_simplified_gap():
    u = 12.0 * math.log(1000) / (0.25 * 1000)
    assert margin_gap(0.3, 0.5, 1000, 12.0) == pytest.approx(u + 0.3 * math.sqrt(u))
    assert margin_gap(math.inf, 0.5, 1000, 12.0) == math.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: margin_theorem([1.5], 1.0), r"z must be in \[-1, 1\]"),
        (lambda: margin_theorem([0.5], -3.0), "log_count must be >= -log 2, got -3.0"),
        (lambda: margin_theorem([0.5], 1.0, delta=2), r"delta must be in \(0, 1\), got 2"),
        (lambda: log_mixture_count([0.0], [1.0]), "alphas must have a positive sum"),
        (lambda: margin_gap(0.5, 1.0, 10, 1.0), r"threshold must be in \(0, 1\), got 1.0"),
        (lambda: margin_gap(-0.5, 0.5, 10, 1.0), "ratio must be >= 0, got -0.5"),
        (lambda: drawn_vote_tail(1.5, 0.1, 10), r"margin must be in \[-1, 1\]"),
        (lambda: empirical_bernstein([0.0, 2.0]), r"values must be in \[0, 1\], got 2"),
    ],
)
def test_margin_theorem_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("margin", [-0.6, 0.0, 0.5, 0.9])
@pytest.mark.parametrize("n_draws", [1, 7, 40])
def test_votes_of_drawn_members_exceed_the_whole_vote_as_rarely_as_stated(margin, n_draws):
    """Members of margin 1 and -1 have the largest variance; their number is binomial."""
    right = np.arange(n_draws + 1)
    probability = stats.binom.pmf(right, n_draws, (1.0 + margin) / 2.0)
    means = 2.0 * right / n_draws - 1.0
    for epsilon in (0.05, 0.2, 0.5, 1.0):
        exact = probability[means >= margin + epsilon - 1e-12].sum()
        assert exact <= drawn_vote_tail(margin, epsilon, n_draws) + 1e-12


@pytest.mark.parametrize("mean", [0.01, 0.1, 0.5, 0.97])
@pytest.mark.parametrize("m", [2, 20, 300])
def test_the_empirical_bernstein_limit_fails_as_rarely_as_stated(mean, m):
    """Over all numbers of ones among m coins."""
    failed = [
        stats.binom.pmf(k, m, mean)
        for k in range(m + 1)
        if empirical_bernstein(np.repeat([0.0, 1.0], [m - k, k]), delta=0.2) < mean
    ]
    assert sum(failed) <= 0.2
