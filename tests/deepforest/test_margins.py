"""The margin step and the weights of the next layer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from surewood.bounds import effective_sample_size, margin_loss, margin_weights, margins
from surewood.deepforest.margins import (
    REWEIGHTING,
    StepRule,
    add_layer,
    class_margins,
    first_step,
    layer_weights,
    next_step,
)


def layers(seed, n_layers=3, m=30, n_classes=3, sharp=2.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, m).astype(np.int32)
    vectors = rng.dirichlet(np.ones(n_classes), size=(n_layers, m))
    vectors[:, np.arange(m), y] += sharp * rng.random((n_layers, m))
    return vectors / vectors.sum(axis=2, keepdims=True), y


def run(vectors, y, rule, weight=None):
    score = first_step(vectors[0], y, rule, weight)
    for layer in vectors[1:]:
        score = next_step(score, layer, y, rule, weight)
    return score


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000))
def test_simplex_keeps_weights_and_margins_where_they_belong(seed):
    vectors, y = layers(seed)
    score = run(vectors, y, StepRule("simplex"))
    assert sum(score.alphas) == pytest.approx(1.0)
    assert min(score.alphas) >= 0.0
    assert np.abs(score.z).max() <= 1.0 + 1e-12
    np.testing.assert_allclose(score.scores.sum(axis=1), 1.0)
    np.testing.assert_allclose(score.scores, np.tensordot(score.alphas, vectors, axes=1))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(["simplex", "literal", "capped"]))
def test_the_sum_of_margins_bounds_the_margin_of_the_sum(seed, mode):
    vectors, y = layers(seed)
    score = run(vectors, y, StepRule(mode))
    assert (margins(score.scores, y) >= score.z - 1e-12).all()
    two, y2 = layers(seed, n_classes=2)
    score = run(two, y2, StepRule(mode))
    np.testing.assert_allclose(margins(score.scores, y2), score.z, atol=1e-12)


@pytest.mark.parametrize("mode", ["simplex", "literal", "capped"])
@pytest.mark.parametrize("kind", ["layer", "of_sum"])
def test_no_other_step_has_a_smaller_loss(mode, kind):
    vectors, y = layers(5)
    rule = StepRule(mode, kind, theta=0.7, mu_loss=0.1)
    before = first_step(vectors[0], y, rule, None)
    after = next_step(before, vectors[1], y, rule, None)
    best = margin_loss(after.z, theta=0.7, mu_loss=0.1).mean()
    for step in np.linspace(0, 1, 101):
        keep = 1 - step if mode == "simplex" else 1.0
        z = keep * before.z + step * class_margins(vectors[1], y)
        if kind == "of_sum":
            z = margins(add_layer(before.scores, vectors[1], step, mode), y)
        assert best <= margin_loss(z, theta=0.7, mu_loss=0.1).mean() + 1e-9


def test_literal_steps_are_not_clipped_and_capped_ones_are():
    vectors, y = np.array([[[0.7, 0.3], [0.35, 0.65]]]), np.array([0, 1], dtype=np.int32)
    assert run(vectors, y, StepRule("literal")).alphas[0] > 1.0
    assert run(vectors, y, StepRule("capped")).alphas[0] == 1.0


def test_a_first_layer_without_margin_gets_weight_one_and_a_warning():
    y = np.array([0, 1], dtype=np.int32)
    wrong = np.array([[0.2, 0.8], [0.9, 0.1]])
    with pytest.warns(UserWarning, match="mean margin is not positive: its weight is set to 1"):
        assert first_step(wrong, y, StepRule("literal"), None).alphas == (1.0,)


def test_weights_count_as_repetition():
    vectors, y = layers(3)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    once = run(vectors, y, StepRule(), weight.astype(float))
    repeated = run(np.repeat(vectors, weight, axis=1), np.repeat(y, weight), StepRule())
    np.testing.assert_allclose(once.alphas, repeated.alphas)


MARGINS = hnp.arrays(float, st.integers(2, 40), elements=st.floats(-1, 1, width=32))


def weights(z, rule, own=None):
    return layer_weights(z, rule, theta=0.8, mu_loss=0.05, weight=own)


@settings(deadline=None)
@given(MARGINS, st.sampled_from(REWEIGHTING))
def test_weights_are_not_negative_and_have_mean_one(z, kind):
    found = weights(z, kind)
    if found is not None:
        assert (found >= 0).all()
        assert found.mean() == pytest.approx(1.0)


@given(MARGINS)
def test_literal_is_the_published_rule(z):
    found = weights(z, "literal")
    published = margin_weights(z, theta=0.8, mu_loss=0.05)
    np.testing.assert_allclose(np.ones(len(z)) if found is None else found, len(z) * published)


@settings(deadline=None)
@given(MARGINS)
def test_the_sample_size_has_a_floor(z):
    found = weights(z, "sample_size")
    if found is not None:
        assert effective_sample_size(found) >= 0.8 * len(z) * (1 - 1e-6)


def test_nothing_to_improve_means_uniform():
    assert weights(np.full(3, 0.8), "literal") is None
    assert weights(np.array([0.1, 0.2]), "none") is None
    own = np.array([1.5, 0.5])
    np.testing.assert_array_equal(weights(np.full(2, 0.8), "sample_size", own=own), own)


def test_own_weights_multiply():
    z, own = np.array([0.1, 0.1]), np.array([3.0, 1.0])
    for kind in ("literal", "sample_size"):
        np.testing.assert_allclose(weights(z, kind, own=own), [1.5, 0.5])
