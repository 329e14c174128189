"""ROC, precision and recall, lift and calibration of two and of many classes."""

import numpy as np
from sklearn.naive_bayes import GaussianNB

from surewood.report.curves import curves
from surewood.report.predictions import Predictions
from surewood.report.quality import calibration
from surewood.report.quality_charts import calibration as calibration_chart
from surewood.report.quality_charts import quality_charts


def judged(n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(300) % n_classes
    X = y[:, None] + rng.normal(0, 1, (300, 2))
    model = GaussianNB().fit(X, y)
    return model, Predictions(model, X, y)


def test_two_classes_have_one_drawing_each_and_the_threshold():
    model, rows = judged(2)
    roc, precision, lift = quality_charts(curves(model, rows, 1), "holdout")
    assert [chart["title"] for chart in (roc, precision, lift)] == ["ROC", "Precision and recall", "Lift"]
    assert len(roc["variants"]) == 1
    assert "threshold 0.5" in roc["caption"]
    assert "Average precision" in precision["caption"]


def test_many_classes_have_a_choice():
    model, rows = judged(12)
    roc = quality_charts(curves(model, rows, 0), "holdout")[0]
    assert len(roc["variants"]) == 10


def test_without_probabilities_there_is_none():
    assert quality_charts(None, "holdout") == []


def test_calibration_tells_the_mean_gap():
    rows = judged(2)[1]
    made = calibration_chart(calibration(rows), "holdout")
    assert "Mean gap on the holdout" in made["caption"]
    assert "predicted probability of 1" in made["variants"][0]["html"]
