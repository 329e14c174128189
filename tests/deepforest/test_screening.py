import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from surewood.deepforest.screening import automatic_gate, stopping_points


def brute_force_gate(vectors, y, factor):
    confidence, right = vectors.max(axis=1), vectors.argmax(axis=1) == y
    required = 1 - (1 - right.mean()) / factor
    gates = [c for c in np.unique(confidence) if right[confidence >= c].mean() > required]
    return min(gates, default=np.inf)


@given(st.integers(0, 10_000), st.integers(2, 30), st.floats(1.5, 5.0))
def test_the_gate_equals_trying_every_confidence(seed, m, factor):
    rng = np.random.default_rng(seed)
    vectors = np.round(rng.dirichlet(np.ones(3), m), 1)  # ties
    y = rng.integers(0, 3, m)
    assert automatic_gate(vectors, y, factor) == brute_force_gate(vectors, y, factor)


def test_no_gate_when_nothing_is_sure_enough():
    vectors = np.array([[0.6, 0.4], [0.7, 0.3]])
    assert automatic_gate(vectors, np.array([1, 1])) == np.inf


@given(st.integers(0, 1000), st.integers(1, 4))
def test_every_class_keeps_enough_points_in_play(seed, least):
    rng = np.random.default_rng(seed)
    vectors, y = rng.dirichlet(np.ones(3), 25), rng.integers(0, 3, 25)
    stops = stopping_points(vectors, y, 0.0, least, 3)
    for code in range(3):
        assert (~stops[y == code]).sum() == min(least, (y == code).sum())
