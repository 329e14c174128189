"""Decisions of held-out rows are the same, kept or formed block by block."""

import numpy as np

from surewood import PolySVC
from surewood.polysvc import held_out as module
from surewood.polysvc.held_out import HeldOutRows, decision_bytes, held_out_error
from tests.svm.reference import blobs


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
    assert held.is_known
    assert not HeldOutRows.of(np.zeros(0, dtype=int), np.arange(2), np.zeros((0, 1))).is_known
