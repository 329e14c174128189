"""Probabilities from held-out decisions: pairs coupled, scores calibrated."""

import numpy as np
import pytest

from surewood import PolySVC
from surewood.svm import coupling as module
from surewood.svm.coupling import (
    HeldOutRows,
    PairCoupling,
    ScoreCoupling,
    couple,
    decision_bytes,
    held_out_error,
    mean_wins,
)
from tests.svm.reference import blobs


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


def test_a_fit_does_not_depend_on_the_size_of_the_blocks(monkeypatch):
    X, y = blobs(150, 4, 6, 1)
    whole = PolySVC().fit(X, y).predict_proba(X)
    monkeypatch.setattr(module, "BLOCK_BYTES", 7 * decision_bytes(1, 6))
    assert (PolySVC().fit(X, y).predict_proba(X) == whole).all()  # to the bit


def test_blocks_are_all_rows_in_their_order(monkeypatch):
    rows, decisions = np.array([4, 7, 9, 11, 12]), np.arange(15.0).reshape(5, 3)
    monkeypatch.setattr(module, "BLOCK_BYTES", 2 * decision_bytes(1, 3))
    parts = list(HeldOutRows.of(rows, np.arange(3), decisions).blocks())
    assert [len(part) for part, _ in parts] == [2, 2, 1]
    assert np.concatenate([part for part, _ in parts]).tolist() == rows.tolist()
    assert (np.concatenate([part for _, part in parts]) == decisions).all()


def test_the_error_is_that_of_the_votes():
    held = HeldOutRows.of(np.array([0, 2]), np.array([0, 1]), np.array([[1.0], [1.0]]))
    assert held_out_error([held], np.array([0, 0, 1]), np.array([3.0, 9.0, 1.0])) == (0.25, 2)
    assert held.is_usable
    assert not HeldOutRows.of(np.zeros(0, dtype=int), np.arange(2), np.zeros((0, 1))).is_usable


def test_confident_decisions_get_large_probabilities():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 400)
    decisions = np.where(codes == 0, 1.0, -1.0)[:, None] + rng.normal(size=(400, 1))
    held_out = [HeldOutRows.of(np.arange(400), np.array([0, 1]), decisions)]
    coupling = ScoreCoupling.fit("temperature", held_out, codes, np.ones(400), 2)
    proba = coupling.probabilities(np.array([[-5.0], [5.0]]), np.array([0, 1]))
    assert proba[1, 0] > 0.7 > 0.3 > proba[0, 0]
    assert coupling.n_held_out == 400
    assert 0.1 < coupling.held_out_error < 0.25


def test_nothing_held_out_is_no_error():
    coupling = ScoreCoupling.fit("temperature", [], np.zeros(0, dtype=int), np.zeros(0), 3)
    assert coupling.n_held_out == 0
    np.testing.assert_allclose(coupling.probabilities(np.zeros((1, 3)), np.arange(3)).sum(), 1.0)
