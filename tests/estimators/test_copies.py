"""How often rows occur, and what is predicted for one whose copies were seen."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from surewood.estimators.copies import copy_counts, with_other_copies
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
