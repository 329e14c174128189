"""Curves agree with scikit-learn's, and the positive class is the one asked about."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from surewood.certify.thresholded import ThresholdedClassifier
from surewood.report.curves import curves, positive_class
from surewood.report.predictions import Predictions

X, y = load_breast_cancer(return_X_y=True)
MODEL = LogisticRegression(max_iter=5000).fit(X[::2, :3], y[::2])
HELD = X[1::2, :3], y[1::2]


def test_areas_are_scikit_learns():
    found = curves(MODEL, Predictions(MODEL, *HELD), 1)["classes"][0]
    proba = MODEL.predict_proba(HELD[0])[:, 1]
    assert found["auc"] == pytest.approx(roc_auc_score(HELD[1], proba))
    assert found["average_precision"] == pytest.approx(average_precision_score(HELD[1], proba))
    fpr, tpr, _ = roc_curve(HELD[1], proba, drop_intermediate=False)
    assert np.interp(0.1, found["roc"]["fpr"], found["roc"]["tpr"]) == pytest.approx(
        np.interp(0.1, fpr, tpr), abs=0.03
    )
    assert len(found["roc"]["fpr"]) <= 90
    assert found["lift"]["lift"][-1] == pytest.approx(1.0)


def test_the_chosen_point_is_where_the_model_decides():
    rows = Predictions(MODEL, *HELD)
    chosen = curves(MODEL, rows, 1)["classes"][0]["chosen"]
    assert chosen["recall"] == pytest.approx(np.mean(rows.predicted[HELD[1] == 1] == 1))


def test_a_rule_names_the_positive_class_and_the_threshold():
    rule = ThresholdedClassifier(MODEL, 0.2, 0)
    rows = Predictions(rule, *HELD)
    assert positive_class(rule, rows, y) == 0
    assert curves(rule, rows, 0)["threshold"] == 0.2
    assert curves(rule, rows, 0)["classes"][0]["label"] == "0"


def test_the_rarer_of_two_is_positive_by_default():
    rows = Predictions(MODEL, *HELD)
    assert positive_class(MODEL, rows, y) == 0  # 212 of 569
    assert positive_class(MODEL, rows, 1 - y) == 1


def test_rows_of_one_class_have_no_curves():
    only = HELD[1] == 1
    assert curves(MODEL, Predictions(MODEL, HELD[0][only], HELD[1][only]), 1) is None
