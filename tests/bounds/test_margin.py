"""Margins, loss, weights, ratios."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surewood import bounds


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
    summed = bounds.summed_margins(layer, alphas)
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
        (lambda: bounds.summed_margins([[0.5]], [-1.0]), "alphas must be >= 0, got -1"),
        (
            lambda: bounds.summed_margins([[0.5]], [1.0, 1.0]),
            r"alphas must have one entry per layer \(1\), got 2",
        ),
        (lambda: bounds.effective_sample_size([0.0]), "weights must have a positive sum"),
        (lambda: bounds.scatter_ratio([[1.0]], [0, 1]), r"labels must have one entry per point \(1\), got 2"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
