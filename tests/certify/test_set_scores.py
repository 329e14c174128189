"""Scores of labels against loops over the definition."""

import numpy as np
import pytest

from surewood.certify.set_scores import label_scores, true_scores


def slow_adaptive(row, u):
    order = sorted(range(len(row)), key=lambda k: (-row[k], k))
    scores, before = [0.0] * len(row), 0.0
    for k in order:
        scores[k] = 1 - before - u * row[k]
        before += row[k]
    return scores


def test_adaptive_scores_equal_the_loop():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(5), 40)
    p[:5] = 0.2
    u = rng.random(40)
    expected = [slow_adaptive(row, one) for row, one in zip(p.tolist(), u)]
    assert label_scores(p, "adaptive", u) == pytest.approx(np.array(expected))
    codes = rng.integers(0, 5, 40)
    assert true_scores(p, codes, "adaptive", u) == pytest.approx([row[c] for row, c in zip(expected, codes)])


def test_an_unknown_label_scores_below_all_others():
    p = np.array([[1.0, 0.0]])
    assert true_scores(p, np.array([-1]), "threshold")[0] < label_scores(p, "threshold").min()
