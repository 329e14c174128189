"""A threshold chosen on the holdout, and certified on the same rows."""

from surewood.certify import certify, find_threshold
from tests.promises.population import draw, memorising_forest


def test_rows_a_threshold_was_chosen_on_give_no_guarantee():
    forest = memorising_forest(*draw(400, 0))
    X, y = draw(1500, 1)
    found = find_threshold(forest, X, y, fpr=0.5)
    assert certify(found, X, y).guarantees == ()
    assert certify(found, X * (1 + 1e-9), y).guarantees == ()
    assert certify(found, *draw(500, 2)).guarantees
