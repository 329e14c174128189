"""Scores of copies: what models would say that saw the other copies, but not the row itself."""

import numpy as np

from surewood.deepforest.copies import copied_rows, scores_of_copies


def test_rows_whose_content_occurs_again():
    assert copied_rows(None).tolist() == []
    assert copied_rows(np.array([3, 1, 3, 2])).tolist() == [0, 2]
    assert copied_rows(np.array([3, 1, 3, 1])).tolist() == []  # every content: weights that only scale


def test_a_model_that_remembers_is_judged_by_the_other_copies():
    y, content = np.array([0, 0, 1, 1, 0]), np.array([0, 0, 0, 1, 1])
    held_out = np.full((5, 2), 0.5)
    seen = np.array([[2, 1], [2, 1], [2, 1], [1.5, 1.5], [1.5, 1.5]]) / 3.0
    found = scores_of_copies(seen, held_out, y, content)
    np.testing.assert_allclose(found, [[0.5, 0.5], [0.5, 0.5], [1, 0], [1, 0], [0, 1]])


def test_a_model_that_copies_do_not_move_keeps_its_held_out_scores():
    rng = np.random.default_rng(0)
    y, content = rng.integers(0, 3, 60), np.repeat(np.arange(20), 3)
    held_out = np.repeat(rng.dirichlet(np.ones(3), 20), 3, axis=0)
    found = scores_of_copies(held_out, held_out, y, content)
    assert np.abs(found - held_out).max() < 0.07
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
