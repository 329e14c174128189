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


def test_batches_that_overlap_count_each_row_once(tmp_path):
    """Every month the file of the whole year so far: the first rows would count twelve times."""
    rows, labels = draw(240, 2)
    monitor = Monitor(0.3, model=FOREST, holdout_scores=FOREST.predict_proba(X).max(axis=1))
    for end in range(20, 241, 20):
        look = monitor.update(rows[:end], labels[:end])
        assert (look.n_labelled, look.n_scored, look.n_seen_before) == (end, end, end - 20)
        monitor = Monitor.load(monitor.save(tmp_path / "state.json"), model=FOREST)
    assert look.n_errors == (FOREST.predict(rows) != labels).sum()
    with pytest.raises(ValueError, match=SEEN):
        monitor.update(rows[30:70], labels[30:70])
    assert monitor.update(np.r_[X, X, X], np.r_[Y, Y, Y]).n_labelled == 300


def test_labels_that_come_one_by_one_count_once():
    known = np.where(np.arange(60) < 25, Y.astype(object), None)
    monitor = Monitor(0.3, model=FOREST)
    assert monitor.update(X[:40]).n_labelled == 0
    assert monitor.update(X[:50], known[:50]).n_labelled == 25
    look = monitor.update(X, Y)
    assert (look.n_labelled, look.n_errors) == (60, (FOREST.predict(X) != Y).sum())


def test_equal_rows_of_a_discrete_table_are_different_rows():
    """Twelve contents: to count each of them once would watch another population than the certificate's."""
    rng = np.random.default_rng(3)
    X, Y = rng.integers(0, 2, (400, 3)), rng.integers(0, 2, 400)
    model = memorising_forest(X[:200], Y[:200])
    monitor = Monitor(0.6, model=model)
    look = monitor.update(X[200:300], Y[200:300])
    assert (monitor.state.copies, look.n_labelled, look.n_left_out) == ("natural", 100, 0)
    assert monitor.update(X[300:], Y[300:]).n_labelled == 200
    with pytest.raises(ValueError, match=SEEN):
        monitor.update(X[300:], Y[300:])
    assert Monitor(0.6, model=model, copies="exclude").update(X[200:], Y[200:]).n_labelled == 0
