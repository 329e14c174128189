"""Scores, confusion matrix, calibration and hardest rows."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, log_loss
from sklearn.naive_bayes import GaussianNB

from surewood.report import quality
from surewood.report.quality import calibration, confusion, hardest_rows, predictions, scores


@pytest.fixture(scope="module")
def judged():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X[::2], y[::2])
    return predictions(model, X[1::2], y[1::2]), model, X[1::2], y[1::2]


def test_scores_agree_with_scikit_learn(judged):
    rows, model, X, y = judged
    found = scores(rows, "holdout")
    proba = model.predict_proba(X)
    assert found["error"] == pytest.approx(1 - model.score(X, y))
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y, model.predict(X)))
    assert found["log_loss"] == pytest.approx(log_loss(y, proba))
    assert found["brier"] == pytest.approx(((proba - np.eye(3)[y]) ** 2).sum(axis=1).mean())
    assert found["majority_error"] == pytest.approx(2 / 3)


def test_the_confusion_matrix_agrees_with_scikit_learn(judged):
    rows, model, X, y = judged
    assert confusion(rows)["matrix"] == confusion_matrix(y, model.predict(X)).tolist()


def test_a_label_not_seen_in_training_has_a_row_of_its_own():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X[:100], y[:100])
    found = confusion(predictions(model, X, y))
    assert found["labels"][-1] == "not seen in training"
    assert sum(found["matrix"][-1]) == 50
    assert scores(predictions(model, X, y), "holdout")["balanced_accuracy"] is None


def test_beyond_twenty_classes_the_rarest_are_joined():
    y = np.repeat(np.arange(25), np.arange(25, 0, -1))
    X = y[:, None] + np.random.default_rng(0).normal(0, 0.1, (len(y), 1))
    found = confusion(predictions(GaussianNB(var_smoothing=1e-3).fit(X, y), X, y))
    assert len(found["labels"]) == quality.MAX_CLASSES
    assert found["labels"][-1] == "6 other classes"
    assert np.sum(found["matrix"]) == len(y)


def test_calibration_bins_contain_the_observed_fraction(judged):
    found = calibration(judged[0])
    assert sum(b["rows"] for b in found["bins"]) == 75
    assert all(b["low"] <= b["observed"] <= b["high"] for b in found["bins"])
    assert 0 <= found["expected_calibration_error"] <= 1


def test_the_hardest_rows_have_the_smallest_probability_of_the_truth(judged):
    rows, model, X, y = judged
    found = [row["probability_of_truth"] for row in hardest_rows(model, rows)["rows"]]
    own = np.sort(model.predict_proba(X)[np.arange(75), y])
    np.testing.assert_allclose(found, own[: len(found)])
