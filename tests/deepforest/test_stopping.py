import numpy as np
import pytest
from sklearn.metrics import log_loss, make_scorer, matthews_corrcoef

from surewood.deepforest.stopping import LayerMonitor, held_out_score


def grow(scores, ratios=None, **options):
    monitor = LayerMonitor(**options)
    for number, score in enumerate(scores):
        if monitor.add(score, 0.0 if ratios is None else ratios[number]):
            break
    return monitor


def test_stops_after_patience_and_keeps_the_best():
    monitor = grow([0.80, 0.85, 0.84, 0.83, 0.82, 0.99], patience=3)
    assert len(monitor.scores) == 5
    assert monitor.best == 1


def test_a_gain_below_the_least_improvement_is_none_but_may_still_be_kept():
    monitor = grow([0.8, 0.80005, 0.80008, 0.80009], patience=3, min_improvement=1e-4)
    assert len(monitor.scores) == 4
    assert monitor.best == 3


def test_ties_go_to_the_smaller_margin_ratio_then_to_fewer_layers():
    assert grow([0.9, 0.9, 0.9], [0.5, 0.3, 0.3]).best == 1
    assert grow([0.9, 0.9], [0.5, 0.5]).best == 0


def test_never_below_the_first_layer():
    assert grow([0.9, 0.5, 0.6, 0.7]).best == 0


def test_the_monitored_quantity_may_be_any_scorer():
    rng = np.random.default_rng(0)
    vectors = rng.dirichlet(np.ones(3), 50)
    y = rng.integers(0, 3, 50)
    classes = np.array(["a", "b", "c"])
    weight = rng.random(50)
    assert held_out_score("accuracy", vectors, y, classes) == (vectors.argmax(axis=1) == y).mean()
    assert held_out_score("neg_log_loss", 4 * vectors, y, classes) == pytest.approx(-log_loss(y, vectors))
    assert held_out_score("neg_log_loss", vectors, y, classes, weight) == pytest.approx(
        -log_loss(y, vectors, sample_weight=weight)
    )
    own = make_scorer(matthews_corrcoef)
    assert held_out_score(own, vectors, y, classes) == pytest.approx(
        matthews_corrcoef(y, vectors.argmax(axis=1))
    )
    assert np.isfinite(held_out_score("roc_auc_ovr", vectors, y, classes))
    assert np.isfinite(held_out_score("balanced_accuracy", vectors, y, classes, weight))


def test_the_margin_ratio_counts_downwards():
    y, classes = np.array([0, 1]), np.array([0, 1])
    good, bad = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.9, 0.1], [0.4, 0.6]])
    assert held_out_score("margin_ratio", good, y, classes) > held_out_score("margin_ratio", bad, y, classes)
    assert held_out_score("margin_ratio", bad[::-1], y, classes) == -np.inf


def test_scores_without_a_number_keep_the_first_layer():
    monitor = LayerMonitor(patience=2)
    for _ in range(2):
        monitor.add(-np.inf, np.inf)  # the margin ratio of margins with a mean of 0 or less
    assert monitor.best == 0


def test_noise_is_the_least_improvement_where_it_is_asked_for():
    monitor = LayerMonitor(patience=1, min_improvement="noise")
    assert not monitor.add(0.8, 1.0)
    assert not monitor.add(0.82, 1.0, noise=0.01)
    assert monitor.add(0.825, 1.0, noise=0.01)
    assert monitor.best == 2  # it was grown, so the better one is kept
