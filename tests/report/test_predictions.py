"""Rows predicted once, with or without a rule of decision."""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from surewood.certify.thresholded import ThresholdedClassifier
from surewood.report.predictions import Predictions

X, y = load_breast_cancer(return_X_y=True)
MODEL = LogisticRegression(max_iter=5000).fit(X[::2, :3], y[::2])
HELD = X[1::2, :3], y[1::2]


def test_a_threshold_decides_instead_of_the_largest_probability():
    rule = ThresholdedClassifier(MODEL, 0.9, 1)
    rows = Predictions(rule, *HELD)
    assert (rows.predicted == rule.predict(HELD[0])).all()
    given = Predictions(rule, *HELD, MODEL.predict_proba(HELD[0]))
    assert (given.guesses == rows.guesses).all()


def test_rows_without_a_decision_are_neither_right_nor_known():
    rows = Predictions(ThresholdedClassifier(MODEL, 0.95), *HELD)
    assert 0 < rows.decided.mean() < 1
    assert not rows.right[~rows.decided].any()


def test_another_librarys_predict_is_believed():
    model = SVC(random_state=0).fit(X[::2, :3], y[::2])
    rows = Predictions(model, *HELD)
    assert rows.proba is None
    assert (rows.predicted == model.predict(HELD[0])).all()


def test_labels_not_seen_in_training_are_left_out():
    labels = np.where(np.arange(len(HELD[1])) < 5, 7, HELD[1])
    assert Predictions(MODEL, HELD[0], labels).known().n_rows == len(labels) - 5
