"""Probabilities from pairs: logistic curves found on held-out points, coupled as Wu, Lin and Weng do."""

import numpy as np
import pytest

from surewood.polysvc.coupling import PairCoupling, couple, mean_wins
from surewood.polysvc.held_out import HeldOutRows


def test_two_classes_are_one_logistic_curve():
    decisions = np.linspace(-3, 3, 13)[:, None]
    coupling = PairCoupling(2, np.array([1.5]), np.array([0.2]), sharpness=1.0)
    proba = coupling.probabilities(decisions, np.array([0, 1]))
    np.testing.assert_allclose(proba[:, 0], 1 / (1 + np.exp(-1.5 * decisions[:, 0] - 0.2)))


def test_slope_and_offset_of_simulated_decisions_are_found():
    rng = np.random.default_rng(0)
    decisions = rng.normal(size=(4000, 1))
    codes = (rng.random(4000) > 1 / (1 + np.exp(-2.0 * decisions[:, 0] - 0.7))).astype(int)
    held_out = [HeldOutRows.of(np.arange(4000), np.array([0, 1]), decisions)]
    coupling = PairCoupling.fit(held_out, codes, np.ones(4000), 2)
    assert coupling.slope[0] * coupling.sharpness == pytest.approx(2.0, rel=0.1)
    assert coupling.offset[0] * coupling.sharpness == pytest.approx(0.7, rel=0.2)


def test_coupling_minimises_the_quadratic_form():
    rng = np.random.default_rng(1)
    ahead = rng.uniform(0.05, 0.95, size=(5, 6))
    proba = couple(ahead, 4)

    def form(p, row):
        value = 0.0
        for k, (a, b) in enumerate(zip(*np.triu_indices(4, 1))):
            value += ((1 - row[k]) * p[a] - row[k] * p[b]) ** 2
        return value

    for p, row in zip(proba, ahead):
        others = rng.dirichlet(200 * p, size=200)
        assert all(form(p, row) <= form(q, row) + 1e-12 for q in others)


def test_classes_without_a_machine_in_a_fold():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, 90)
    known = np.array([0, 2])
    rows = np.flatnonzero(codes != 1)
    decisions = np.where(codes[rows] == 0, 1.0, -1.0)[:, None] + rng.normal(size=(len(rows), 1))
    coupling = PairCoupling.fit([HeldOutRows.of(rows, known, decisions)], codes, np.ones(90), 3)
    proba = coupling.probabilities(rng.normal(size=(4, 3)), np.arange(3))
    assert proba.shape == (4, 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert coupling.offset[0] == 0.0  # no row of the pair (0, 1) was seen


def test_nothing_to_learn_from_leaves_the_start():
    start = PairCoupling.fit([], np.array([0]), np.ones(1), 2)
    assert (start.slope, start.offset, start.sharpness) == ([1.0], [0.0], 1.0)
    one = PairCoupling.fit([], np.array([0]), np.ones(1), 3).probabilities(np.zeros((2, 0)), np.array([1]))
    assert one.argmax(axis=1).tolist() == [1, 1]
    np.testing.assert_allclose(one.sum(axis=1), 1.0)


def test_mean_wins_are_summed_pair_by_pair():
    ahead = np.random.default_rng(3).uniform(size=(7, 45 * 44 // 2))
    wins = np.zeros((7, 45))
    for pair, (a, b) in enumerate(zip(*np.triu_indices(45, 1))):
        wins[:, a] += ahead[:, pair]
        wins[:, b] += 1.0 - ahead[:, pair]
    assert (mean_wins(ahead, 45) == wins / wins.sum(axis=1, keepdims=True)).all()  # to the bit
