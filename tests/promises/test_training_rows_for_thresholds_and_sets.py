"""Training rows handed over as the holdout of a threshold, of sets and of a monitor."""

import pytest

from surewood.certify import NoThresholdError, PredictionSets, find_threshold
from surewood.monitor import Monitor
from tests.promises.population import draw, memorising_forest


def test_training_rows_do_not_count_anywhere():
    X, y = draw(400, 0)
    forest = memorising_forest(X, y)
    with pytest.raises(NoThresholdError, match="copies of training rows"):
        find_threshold(forest, X, y, accepted_error=0.1)
    with pytest.raises(ValueError, match="copies of training rows"):
        PredictionSets(forest).fit(X, y)
    look = Monitor(0.3, model=forest).update(X, y)
    assert look.n_labelled == 0
    assert look.n_left_out == 400
