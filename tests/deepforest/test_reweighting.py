import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from surewood.bounds import effective_sample_size, margin_weights
from surewood.deepforest.reweighting import STRENGTHS, WeightRule, layer_weights

MARGINS = hnp.arrays(float, st.integers(2, 40), elements=st.floats(-1, 1, width=32))


def weights(z, kind, strength=None, own=None):
    rule = WeightRule(kind, STRENGTHS[kind] if strength is None else strength)
    return layer_weights(z, rule, theta=0.8, mu_loss=0.05, weight=own)


@settings(deadline=None)
@given(MARGINS, st.sampled_from(sorted(STRENGTHS)))
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


def test_tempering_goes_from_uniform_to_literal():
    z = np.array([-0.5, 0.2, 0.7])
    np.testing.assert_allclose(weights(z, "tempered", 0.0), 1.0)
    np.testing.assert_allclose(weights(z, "tempered", 1.0), weights(z, "literal"))
    sizes = [effective_sample_size(weights(z, "tempered", t)) for t in (0.0, 0.25, 0.5, 1.0)]
    assert sizes == sorted(sizes, reverse=True)


@settings(deadline=None)
@given(MARGINS, st.floats(0.05, 1.0))
def test_the_sample_size_has_a_floor(z, share):
    found = weights(z, "sample_size", share)
    if found is not None:
        assert effective_sample_size(found) >= share * len(z) * (1 - 1e-6)


def test_below_target_and_mixed():
    z = np.array([0.5, 0.9, -0.2])
    below = weights(z, "below_target")
    assert below[1] == 0.0
    assert below[2] > below[0] > 0
    mixed = weights(z, "mixed", 0.25)
    np.testing.assert_allclose(mixed, 0.75 * weights(z, "literal") + 0.25)


def test_nothing_to_improve_means_uniform():
    assert weights(np.full(3, 0.8), "literal") is None
    assert weights(np.array([0.1, 0.2]), "none") is None
    own = np.array([1.5, 0.5])
    np.testing.assert_array_equal(weights(np.full(2, 0.8), "tempered", own=own), own)


def test_own_weights_multiply():
    z, own = np.array([0.1, 0.1]), np.array([3.0, 1.0])
    for kind in ("literal", "tempered", "below_target", "mixed", "sample_size"):
        np.testing.assert_allclose(weights(z, kind, own=own), [1.5, 0.5])
