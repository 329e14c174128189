"""Scores, curves, hard rows, what abstaining and sets would guarantee, and their charts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    confusion_matrix,
    log_loss,
    precision_recall_fscore_support,
    roc_auc_score,
    roc_curve,
)
from sklearn.naive_bayes import GaussianNB

from surewood import BinnedForestClassifier
from surewood.certify import CostClassifier, find_threshold
from surewood.certify.deciding import ThresholdedClassifier
from surewood.report import quality
from surewood.report.facts import Predictions
from surewood.report.quality import (
    LEVELS,
    abstention_facts,
    area_under_curve,
    calibration,
    calibration_chart,
    cell_text,
    class_scores,
    confusion,
    curves,
    hardest_rows,
    positive_class,
    quality_charts,
    scores,
    set_facts,
    typical_positions,
)


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


CANCER_X, CANCER_Y = load_breast_cancer(return_X_y=True)
CANCER_MODEL = LogisticRegression(max_iter=5000).fit(CANCER_X[::2, :3], CANCER_Y[::2])
HELD = CANCER_X[1::2, :3], CANCER_Y[1::2]


def test_areas_are_scikit_learns():
    found = curves(CANCER_MODEL, Predictions(CANCER_MODEL, *HELD), 1)["classes"][0]
    proba = CANCER_MODEL.predict_proba(HELD[0])[:, 1]
    assert found["auc"] == pytest.approx(roc_auc_score(HELD[1], proba))
    assert found["average_precision"] == pytest.approx(average_precision_score(HELD[1], proba))
    fpr, tpr, _ = roc_curve(HELD[1], proba, drop_intermediate=False)
    assert np.interp(0.1, found["roc"]["fpr"], found["roc"]["tpr"]) == pytest.approx(
        np.interp(0.1, fpr, tpr), abs=0.03
    )
    assert len(found["roc"]["fpr"]) <= 90
    assert found["lift"]["lift"][-1] == pytest.approx(1.0)


def test_two_classes_have_one_area():
    """Where the last bit of a probability alone differs, rows are tied for both classes."""
    low = np.array([0.1 + 0.2, 0.3, 0.3, 0.6])
    truth = np.array([True, False, True, False])
    assert area_under_curve(low, truth) == area_under_curve(1 - low, ~truth) == 0.25


def test_the_chosen_point_is_where_the_model_decides():
    rows = Predictions(CANCER_MODEL, *HELD)
    chosen = curves(CANCER_MODEL, rows, 1)["classes"][0]["chosen"]
    assert chosen["recall"] == pytest.approx(np.mean(rows.predicted[HELD[1] == 1] == 1))


def test_a_rule_names_the_positive_class_and_the_threshold():
    rule = ThresholdedClassifier(CANCER_MODEL, 0.2, 0)
    rows = Predictions(rule, *HELD)
    assert positive_class(rule, rows, CANCER_Y) == 0
    assert curves(rule, rows, 0)["threshold"] == 0.2
    costs = CostClassifier(CANCER_MODEL, [[0, 5], [1, 0]])
    assert curves(costs, Predictions(costs, *HELD), 0)["threshold"] is None
    assert curves(rule, rows, 0)["classes"][0]["label"] == "0"


def test_the_rarer_of_two_is_positive_by_default():
    rows = Predictions(CANCER_MODEL, *HELD)
    assert positive_class(CANCER_MODEL, rows, CANCER_Y) == 0  # 212 of 569
    assert positive_class(CANCER_MODEL, rows, 1 - CANCER_Y) == 1


def test_rows_of_one_class_have_no_curves():
    only = HELD[1] == 1
    assert curves(CANCER_MODEL, Predictions(CANCER_MODEL, HELD[0][only], HELD[1][only]), 1) is None


IRIS_X, IRIS_Y = load_iris(return_X_y=True)
IRIS_MODEL = GaussianNB().fit(IRIS_X[::2], IRIS_Y[::2])
IRIS_ROWS = Predictions(IRIS_MODEL, IRIS_X[1::2], IRIS_Y[1::2])


def test_the_hardest_rows_have_the_smallest_probability_of_the_truth():
    found = [row["probability_of_truth"] for row in hardest_rows(IRIS_MODEL, IRIS_ROWS)["rows"]]
    own = np.sort(IRIS_MODEL.predict_proba(IRIS_X[1::2])[np.arange(75), IRIS_Y[1::2]])
    np.testing.assert_allclose(found, own[: len(found)])


def test_important_columns_come_first():
    assert hardest_rows(IRIS_MODEL, IRIS_ROWS, ["x2", "x0"])["columns"] == ["x2", "x0", "x1", "x3"]


def test_typical_rows_are_correct_and_of_different_classes():
    at = typical_positions(IRIS_ROWS)
    assert len(set(IRIS_Y[1::2][at])) == 3
    assert IRIS_ROWS.right[at].all()


def test_cells_of_frames_arrays_and_lists():
    frame = pd.DataFrame({"a": [1.23456, None], "b": ["x", None]})
    frame["c"] = pd.to_datetime(["2024-02-29", None])
    frame["d"] = pd.to_datetime(["2024-02-29 15:30", "2024-03-01 00:00"]).tz_localize("Europe/Berlin")
    assert [cell_text(frame, 0, j) for j in range(4)] == ["1.235", "x", "2024-02-29", "2024-02-29 15:30"]
    assert [cell_text(frame, 1, j) for j in range(4)] == ["missing", "missing", "missing", "2024-03-01"]
    assert cell_text([[1, 2]], 0, 1) == "2"


NOISY_X, NOISY_Y = make_classification(1600, n_informative=6, class_sep=0.8, random_state=0)
NOISY_MODEL = BinnedForestClassifier(60, oob_score=True, random_state=0).fit(NOISY_X[:800], NOISY_Y[:800])
NOISY_ROWS = Predictions(NOISY_MODEL, NOISY_X[800:], NOISY_Y[800:])


def test_levels_share_delta_and_agree_with_find_threshold():
    found = abstention_facts(NOISY_MODEL, NOISY_ROWS, 0.16, 0.05, "check")
    errors = [level["error"] for level in found["levels"]]
    assert errors == sorted(errors, reverse=True)
    assert max(errors) < 0.16
    first = found["levels"][0]
    again = find_threshold(
        NOISY_MODEL, NOISY_X[800:], NOISY_Y[800:], accepted_error=first["error"], delta=0.05 / len(LEVELS)
    )
    assert first["threshold"] == again.threshold
    assert first["decided"] == again.coverage.fraction


def test_larger_coverage_needs_larger_sets():
    found = set_facts(NOISY_MODEL, NOISY_ROWS, 0.05, "check")["levels"]
    sizes = [level["mean_size"] for level in found]
    assert sizes == sorted(sizes)
    own = NOISY_MODEL.predict_proba(NOISY_X[800:])[np.arange(800), NOISY_Y[800:]]
    assert np.mean(own >= found[1]["threshold"]) >= found[1]["coverage"]


@pytest.mark.parametrize("n", [10, 49])
def test_few_rows_say_nothing(n):
    few = Predictions(NOISY_MODEL, NOISY_X[800 : 800 + n], NOISY_Y[800 : 800 + n])
    assert abstention_facts(NOISY_MODEL, few, 0.3, 0.05, "check") is None
    assert set_facts(NOISY_MODEL, few, 0.05, "check") is None


def test_the_model_is_left_as_it_was():
    abstention_facts(NOISY_MODEL, NOISY_ROWS, 0.2, 0.05, "check")
    assert len(NOISY_MODEL.predict_proba(NOISY_X[:3])) == 3


def of_normal_classes(n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(300) % n_classes
    X = y[:, None] + rng.normal(0, 1, (300, 2))
    model = GaussianNB().fit(X, y)
    return model, Predictions(model, X, y)


def test_two_classes_have_one_drawing_each_and_the_threshold():
    model, rows = of_normal_classes(2)
    roc, precision, lift = quality_charts(curves(model, rows, 1), "holdout")
    assert [chart["title"] for chart in (roc, precision, lift)] == ["ROC", "Precision and recall", "Lift"]
    assert len(roc["variants"]) == 1
    assert "threshold 0.5" in roc["caption"]
    assert "Average precision" in precision["caption"]


def test_many_classes_have_a_choice():
    model, rows = of_normal_classes(12)
    roc = quality_charts(curves(model, rows, 0), "holdout")[0]
    assert len(roc["variants"]) == 10


def test_without_probabilities_there_is_none():
    assert quality_charts(None, "holdout") == []


def test_calibration_tells_the_mean_gap():
    rows = of_normal_classes(2)[1]
    made = calibration_chart(calibration(rows), "holdout")
    assert "Mean gap on the holdout" in made["caption"]
    assert "predicted probability of 1" in made["variants"][0]["html"]
