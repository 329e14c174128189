"""How often rows occur, and what is predicted for one whose copies were seen."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from surewood.base.copies import (
    copied_rows,
    copy_counts,
    labels_by_content,
    with_other_copies,
    without_one_copy,
)
from surewood.tables import begin_fit

X = np.arange(8.0).reshape(8, 1)
Y = np.array([0, 1] * 4)


def copied_values(X, y, weight=None, class_weight=None):
    inputs = begin_fit(DummyClassifier(), X, y, weight, class_weight=class_weight)
    return sorted(inputs.table.column(0)[copy_counts(inputs) > 1].tolist())


def test_rows_that_came_twice_and_weight_two_are_the_same():
    twice = np.r_[X, X[:2]], np.r_[Y, Y[:2]]
    assert copied_values(*twice) == [0.0, 1.0]
    assert copied_values(X, Y, np.r_[2.0, 2.0, np.ones(6)]) == [0.0, 1.0]
    assert copied_values(*twice, class_weight="balanced") == [0.0, 1.0]


def test_values_with_two_labels_are_two_rows():
    assert copied_values(np.r_[X, X[:1]], np.r_[Y, 1 - Y[:1]]) == []


@pytest.mark.parametrize(
    "weight", [None, np.full(8, 3.0), np.linspace(0.3, 1.7, 8), np.arange(2.0, 10.0)], ids=str
)
def test_scales_and_importances_are_no_copies(weight):
    assert copied_values(X, Y, weight) == []


def test_a_model_that_learns_labels_by_heart_is_judged_as_leaving_one_row_out_judges_it():
    """The majority label among the rows with the same values; without any, a coin."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 60, 200)
    labels = (rng.random(200) < 0.7).astype(int)
    cells, counts = np.unique(np.c_[values, labels], axis=0, return_counts=True)

    def majority(table):
        shares = np.full((len(cells), 2), 0.5)
        for row, (value, _) in enumerate(cells):
            votes = [table.get((value, label), 0) for label in (0, 1)]
            if sum(votes):
                shares[row] = np.array(votes) / sum(votes)
        return shares

    table = {tuple(cell): count for cell, count in zip(cells, counts)}
    whole = majority(table)
    held_out, exact = np.empty((2, len(cells), 2))
    for row, cell in enumerate(map(tuple, cells)):
        held_out[row] = majority({**table, cell: 0})[row]
        exact[row] = majority({**table, cell: table[cell] - 1})[row]
    judged = with_other_copies(held_out, cells[:, 1], counts.astype(float), lambda rows: whole[rows])
    alone = ~np.isclose(held_out.max(axis=1), 0.5)  # a coin is no vote that copies could be weighed against
    np.testing.assert_allclose(judged[alone], exact[alone])

    def error(p):
        right = p[np.arange(len(cells)), cells[:, 1]].round(9)
        return np.average(np.where(right == 0.5, 0.5, right < 0.5), weights=counts)

    assert abs(error(judged) - error(exact)) < 0.02
    assert error(whole) < error(exact) - 0.05


def test_rows_that_no_model_left_out_are_judged_by_the_whole_model():
    held_out = np.array([[np.nan, np.nan], [0.5, 0.5]])
    y = np.array([1, 0])
    judged = with_other_copies(held_out, y, np.array([3.0, 1.0]), lambda rows: np.array([[0.0, 1.0]]))
    assert judged.tolist() == [[0.0, 1.0], [0.5, 0.5]]
    assert with_other_copies(held_out, y, np.ones(2), None) is held_out


def test_rows_whose_content_occurs_again():
    assert copied_rows(None).tolist() == []
    assert copied_rows(np.array([3, 1, 3, 2])).tolist() == [0, 2]
    assert copied_rows(np.array([3, 1, 3, 1])).tolist() == []  # every content: weights that only scale


def test_copies_with_different_labels():
    """Two contents, held out whatever their labels; the second one's own labels cancel."""
    y, content = np.array([0, 0, 1, 1, 0]), np.array([0, 0, 0, 1, 1])
    seen = np.array([[2, 1], [2, 1], [2, 1], [1.5, 1.5], [1.5, 1.5]]) / 3.0
    found = without_one_copy(np.full((5, 2), 0.5), seen, y, labels_by_content(y, content, 2), np.ones(5))
    np.testing.assert_allclose(found, [[0.5, 0.5], [0.5, 0.5], [1, 0], [1, 0], [0, 1]])


def test_a_model_that_copies_do_not_move_keeps_its_held_out_predictions():
    rng = np.random.default_rng(0)
    y, content = rng.integers(0, 3, 60), np.repeat(np.arange(20), 3)
    held_out = np.repeat(rng.dirichlet(np.ones(3), 20), 3, axis=0)
    found = without_one_copy(held_out, held_out, y, labels_by_content(y, content, 3), np.ones(60))
    np.testing.assert_allclose(found, held_out)


def test_a_row_of_weight_three_is_three_rows():
    rng = np.random.default_rng(1)
    y, counts = rng.integers(0, 3, 30), rng.integers(2, 5, 30)
    held_out, seen = rng.dirichlet(np.ones(3), (2, 30))
    copies = counts[:, None] * np.eye(3)[y]
    merged = without_one_copy(held_out, seen, y, copies, counts.astype(float))
    each = np.repeat(np.arange(30), counts)
    rows = without_one_copy(held_out[each], seen[each], y[each], copies[each], np.ones(len(each)))
    np.testing.assert_allclose(rows, merged[each])


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_the_strength_of_the_copies_is_found(noise):
    """c votes of the copies beside s of everything else, s of each row; labels of copies may differ."""
    rng = np.random.default_rng(2)
    content = np.repeat(np.arange(200), rng.integers(2, 6, 200))
    y = rng.integers(0, 3, len(content))
    held_out = rng.dirichlet(np.full(3, 2.0), 200)[content]
    strength = rng.uniform(1.0, 3.0, (200, 1))[content]
    copies = labels_by_content(y, content, 3)
    total = copies.sum(axis=1, keepdims=True)
    seen = (copies + strength * held_out) / (total + strength) + noise * rng.normal(size=held_out.shape)
    exact = (copies - np.eye(3)[y] + strength * held_out) / (total - 1.0 + strength)
    found = without_one_copy(held_out, seen, y, copies, np.ones(len(y)))

    def distance(p):
        return float(np.sqrt(np.mean((p - exact) ** 2)))

    assert distance(found) < 0.2 * min(distance(held_out), distance(seen)) + noise
