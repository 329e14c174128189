"""Limits of the coverage of sets, measured on training rows or on the same rows again and again."""

import numpy as np
import pytest

from surewood.certify import PredictionSets
from tests.promises.population import draw, memorising_forest

X, Y = draw(400, 0)
FOREST = memorising_forest(X, Y)
SETS = PredictionSets(FOREST, 0.4).fit(*draw(600, 1))


def test_training_rows_measure_nothing():
    with pytest.raises(ValueError, match="used to find the sets or to train the model"):
        SETS.coverage(X, Y)


def test_training_rows_among_others_do_not_count():
    new, labels = draw(200, 2)
    mixed = SETS.coverage(np.r_[X[:100], new], np.r_[Y[:100], labels])
    assert mixed == SETS.coverage(new, labels)
    assert mixed.n == 200


def test_repeated_rows_count_once():
    new, labels = draw(50, 3)
    often = SETS.coverage(np.repeat(new, 80, axis=0), np.repeat(labels, 80))
    assert often.n == 50
    assert often.lower == SETS.coverage(new, labels).lower
