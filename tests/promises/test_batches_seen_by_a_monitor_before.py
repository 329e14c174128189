"""§11.6: the same rows offered again, in another order or container, after a restart, with late labels."""

import numpy as np
import pandas as pd
import pytest

from surewood.monitor import Monitor
from tests.promises.population import draw, memorising_forest

FOREST = memorising_forest(*draw(300, 0))
X, Y = draw(60, 1)
SEEN = "this batch was seen before"


def test_another_order_or_container_is_the_same_batch():
    monitor = Monitor(0.3, model=FOREST)
    monitor.update(X, Y)
    order = np.random.default_rng(0).permutation(60)
    for again in (X, X[order], pd.DataFrame(X), X * (1 + 1e-10), X.astype(np.float32)):
        with pytest.raises(ValueError, match=SEEN):
            monitor.update(again, Y)
    assert monitor.look().n_labelled == 60


def test_a_restart_forgets_nothing(tmp_path):
    monitor = Monitor(0.3, model=FOREST)
    monitor.update(X, Y)
    monitor.save(tmp_path / "state.json")
    with pytest.raises(ValueError, match=SEEN):
        Monitor.load(tmp_path / "state.json", model=FOREST).update(X, Y)


def test_labels_that_come_later_count_once_and_scores_are_not_counted_again():
    monitor = Monitor(0.3, model=FOREST, holdout_scores=FOREST.predict_proba(X).max(axis=1))
    first = monitor.update(X)
    later = monitor.update(X, Y)
    assert (first.n_scored, later.n_scored, later.n_labelled) == (60, 60, 60)
    with pytest.raises(ValueError, match=SEEN):
        monitor.update(X, Y)


def test_training_rows_raise_no_capital():
    """Rows that the model knows by heart would hide a risen error."""
    monitor = Monitor(0.3, model=FOREST)
    wrong = 1 - FOREST.predict(X)
    look = monitor.update(np.r_[draw(300, 0)[0], X], np.r_[draw(300, 0)[1], wrong])
    assert (look.n_labelled, look.n_errors) == (60, 60)
    assert look.error_alarm
