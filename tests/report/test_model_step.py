"""The classifier inside pipelines and rules."""

from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline

from surewood.certify.thresholded import ThresholdedClassifier
from surewood.report.model_step import last_step


def test_pipelines_and_rules_are_opened():
    model = DummyClassifier().fit([[0], [1]], [0, 1])
    rule = ThresholdedClassifier(model, 0.3, 1)
    assert last_step(make_pipeline("passthrough", rule)) is model
    assert last_step(make_pipeline("passthrough", rule), with_rule=True) is rule
    assert last_step(model) is model
