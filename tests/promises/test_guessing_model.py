"""A model that always predicts the majority class."""

from sklearn.dummy import DummyClassifier

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_a_guarantee_that_does_not_beat_the_baseline_says_so():
    X, y = draw(300, 0)
    certificate = certify(DummyClassifier().fit(X, y), *draw(200, 1))
    assert certificate.is_trivial
    assert certificate.verdict.startswith("we cannot guarantee that this model beats the baseline (")
    assert certificate.majority_error is not None


def test_too_few_rows_say_how_many_would_do():
    small = certify(memorising_forest(*draw(600, 0)), *draw(30, 3))
    assert small.is_trivial
    assert small.verdict.startswith("too few holdout rows to guarantee better than the baseline (")
    assert small.verdict.endswith("would do")
