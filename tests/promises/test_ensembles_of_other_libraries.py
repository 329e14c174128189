"""Forests of this package inside ensembles, calibrators and thresholds of scikit-learn."""

import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood import BinnedForestClassifier
from surewood.certify import certify
from tests.promises.population import draw, is_true


def forest():
    return BinnedForestClassifier(9, max_features=None, random_state=0)


ENSEMBLES = {
    "calibrated": lambda: CalibratedClassifierCV(forest(), cv=2),
    "vote": lambda: VotingClassifier([("a", forest()), ("b", forest())]),
    "vote of pipelines": lambda: VotingClassifier([("a", make_pipeline(StandardScaler(), forest()))]),
    "bag": lambda: BaggingClassifier(forest(), 3, random_state=0),
    "one against the rest": lambda: OneVsRestClassifier(forest()),
    "stack": lambda: StackingClassifier([("a", forest())], LogisticRegression(), cv=2),
    "threshold": lambda: TunedThresholdClassifierCV(forest(), cv=2),
    "pipeline of a vote": lambda: make_pipeline(StandardScaler(), VotingClassifier([("a", forest())])),
}


@pytest.mark.parametrize("name", ENSEMBLES)
def test_training_rows_of_the_members_do_not_count(name):
    X, y = draw(300, 0)
    model = ENSEMBLES[name]().fit(X, y)
    assert certify(model, X, y).guarantees == ()
    assert is_true(certify(model, X[:150], y[:150]))


def test_new_rows_still_count_and_the_assumption_is_named():
    model = ENSEMBLES["vote"]().fit(*draw(300, 0))
    certificate = certify(model, *draw(300, 1))
    assert certificate.best.n == 300
    assert "not checked" in certificate.assumptions[0]
    assert is_true(certificate)
