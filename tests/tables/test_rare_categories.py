"""Which categories are too rare to stand alone, and what one row weighs."""

import numpy as np
import pytest

from surewood.tables.rare_categories import FEW_CATEGORIES, MIN_ROWS, row_weight, stands_alone


def test_identifiers_never_stand_alone():
    assert not stands_alone(np.ones(500)).any()


def test_few_categories_stand_alone_however_rare():
    assert stands_alone(np.ones(FEW_CATEGORIES)).all()


def test_the_limit_counts_rows_not_weights():
    mass = np.array([MIN_ROWS, MIN_ROWS - 1] * 10, dtype=float)
    expected = [True, False] * 10
    assert stands_alone(mass).tolist() == expected
    assert stands_alone(3.0 * mass, row_weight=3.0).tolist() == expected


@pytest.mark.parametrize(
    ("weights", "expected"),
    [(None, 1.0), ([], 1.0), ([1, 1, 2], 1.0), ([5, 10], 5.0), ([0.5, 1.5], 1.0), ([999, 1001], 1000.0)],
)
def test_one_row(weights, expected):
    assert row_weight(None if weights is None else np.array(weights)) == expected
