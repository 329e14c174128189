"""§11.4: a handful of holdout rows, repeated until any requirement looks proved."""

import numpy as np
import pytest

from surewood.certify import NoThresholdError, find_threshold
from tests.promises.population import draw, memorising_forest

FOREST = memorising_forest(*draw(400, 0))


@pytest.mark.parametrize(
    "wanted", [{"precision": 0.9}, {"recall": 0.9}, {"fpr": 0.1}, {"accepted_error": 0.1}]
)
def test_twenty_rows_a_hundred_times_each_prove_as_much_as_twenty_rows(wanted):
    X, y = draw(20, 1)
    outcomes = []
    for repeats in (1, 100):
        try:
            rule = find_threshold(FOREST, np.repeat(X, repeats, axis=0), np.repeat(y, repeats), **wanted)
            outcomes.append((rule.threshold, rule.guarantee.n))
        except NoThresholdError:
            outcomes.append(None)
    assert outcomes[0] == outcomes[1]


def test_rows_repeated_for_their_labels_count_once():
    """Only the rows that the model gets right are repeated."""
    X, y = draw(150, 2)
    right = FOREST.predict(X) == y
    many = np.where(right, 60, 1)
    with pytest.raises(NoThresholdError):
        find_threshold(FOREST, np.repeat(X, many, axis=0), np.repeat(y, many), accepted_error=0.05)
