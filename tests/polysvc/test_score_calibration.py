"""Scores of held-out rows are calibrated over all classes."""

import numpy as np

from surewood.polysvc.held_out import HeldOutRows
from surewood.polysvc.score_calibration import ScoreCoupling


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
