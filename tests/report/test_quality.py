"""Scores, classes one by one, confusion matrix and calibration."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    balanced_accuracy_score,
    confusion_matrix,
    log_loss,
    precision_recall_fscore_support,
    roc_auc_score,
)
from sklearn.naive_bayes import GaussianNB

from surewood.certify.thresholded import ThresholdedClassifier
from surewood.report import quality
from surewood.report.predictions import Predictions
from surewood.report.quality import calibration, class_scores, confusion, scores


@pytest.fixture(scope="module")
def judged():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X[::2], y[::2])
    return Predictions(model, X[1::2], y[1::2]), model, X[1::2], y[1::2]


def test_scores_agree_with_scikit_learn(judged):
    rows, model, X, y = judged
    found = scores(rows, "holdout")
    proba = model.predict_proba(X)
    assert found["error"] == pytest.approx(1 - model.score(X, y))
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y, model.predict(X)))
    assert found["log_loss"] == pytest.approx(log_loss(y, proba))
    assert found["brier"] == pytest.approx(((proba - np.eye(3)[y]) ** 2).sum(axis=1).mean())
    assert found["majority_error"] == pytest.approx(2 / 3)
    assert found["auc"] == pytest.approx(roc_auc_score(y, proba, multi_class="ovr"))
    assert found["baseline"]["log_loss"] == pytest.approx(np.log(3))
    assert found["baseline"]["brier"] == pytest.approx(2 / 3)


def test_classes_one_by_one_agree_with_scikit_learn(judged):
    rows, model, X, y = judged
    expected = np.array(precision_recall_fscore_support(y, model.predict(X)))
    found = class_scores(rows)
    for k, name in enumerate(("precision", "recall", "f1", "rows")):
        np.testing.assert_allclose([one[name] for one in found], expected[k])


def test_a_class_never_predicted_has_no_precision():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    found = class_scores(Predictions(model, X[:50], y[:50]))
    assert [one["precision"] for one in found] == [1.0, None, None]
    assert [one["recall"] for one in found] == [1.0, None, None]


def test_rows_without_a_decision_are_counted_apart():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    rows = Predictions(ThresholdedClassifier(model, 0.9), X, y)
    found = scores(rows, "holdout")
    decided = model.predict_proba(X).max(axis=1) >= 0.9
    assert found["decided"] == pytest.approx(decided.mean())
    assert found["error"] == pytest.approx(np.mean(model.predict(X)[decided] != y[decided]))
    assert confusion(rows)["predicted_labels"][-1] == "abstains"
    assert np.sum(confusion(rows)["matrix"], axis=0)[-1] == (~decided).sum()


def test_the_confusion_matrix_agrees_with_scikit_learn(judged):
    rows, model, X, y = judged
    assert confusion(rows)["matrix"] == confusion_matrix(y, model.predict(X)).tolist()


def test_a_label_not_seen_in_training_has_a_row_of_its_own():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X[:100], y[:100])
    found = confusion(Predictions(model, X, y))
    assert found["labels"][-1] == "not seen in training"
    assert sum(found["matrix"][-1]) == 50
    assert scores(Predictions(model, X, y), "holdout")["balanced_accuracy"] is None


def test_beyond_a_hundred_classes_the_rarest_are_joined(monkeypatch):
    monkeypatch.setattr(quality, "MAX_CLASSES", 20)
    y = np.repeat(np.arange(25), np.arange(25, 0, -1))
    X = y[:, None] + np.random.default_rng(0).normal(0, 0.1, (len(y), 1))
    found = confusion(Predictions(GaussianNB(var_smoothing=1e-3).fit(X, y), X, y))
    assert len(found["labels"]) == 20
    assert found["labels"][-1] == "6 other classes"
    assert np.sum(found["matrix"]) == len(y)


def test_calibration_bins_contain_the_observed_fraction(judged):
    found = calibration(judged[0])
    assert sum(b["rows"] for b in found["bins"]) == 75
    assert all(b["low"] <= b["observed"] <= b["high"] for b in found["bins"])
    assert 0 <= found["expected_calibration_error"] <= 1
