"""The exact step size against the loop of the theory, grids and its own derivative."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood.bounds import (
    effective_alphas,
    margin_of_sum_step,
    margin_step,
    margins,
    simplex_step,
    step_objective,
)


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


def test_worked_numbers():
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


@given(problems)
def test_simplex_steps_keep_margins_in_range_and_weights_on_the_simplex(seed):
    rng = np.random.default_rng(seed)
    layers = rng.uniform(-1, 1, size=(4, 30))
    z, betas = layers[0], [1.0]
    for layer in layers[1:]:
        beta = simplex_step(z, layer, theta=0.8, mu_loss=0.05)
        assert 0 <= beta <= 1
        z = (1 - beta) * z + beta * layer
        betas.append(beta)
    alphas = effective_alphas(betas)
    assert alphas.sum() == pytest.approx(1)
    assert alphas @ layers == pytest.approx(z, abs=1e-12)
    assert np.abs(z).max() <= 1


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
        (lambda: effective_alphas([1.5]), r"betas must be in \[0, 1\], got 1.5"),
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
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_weights_count_as_repetition():
    rng = np.random.default_rng(0)
    z, g, weight = rng.uniform(-1, 1, 60), rng.uniform(-0.5, 1, 60), rng.integers(0, 4, 60)
    repeated = margin_step(np.repeat(z, weight), np.repeat(g, weight))
    assert margin_step(z, g, weight=weight) == pytest.approx(repeated)
    with pytest.raises(ValueError, match="weight must have one entry per point"):
        margin_step(z, g, weight=weight[1:])
