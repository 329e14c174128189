"""A pipeline with a fitted scaler, on training rows and on new ones."""

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood import BinnedForestClassifier, PolySVC
from surewood.certify import Method, certify
from tests.promises.population import draw, is_true


def test_training_rows_are_recognised_behind_the_scaler():
    X, y = draw(300, 0)
    pipeline = make_pipeline(StandardScaler(), BinnedForestClassifier(9, random_state=0)).fit(X, y)
    assert certify(pipeline, X, y).guarantees == ()
    assert is_true(certify(pipeline, *draw(200, 1)))


def test_features_are_not_fixed_and_nobody_has_to_say_so():
    X, y = draw(120, 0)
    pipeline = make_pipeline(StandardScaler(), PolySVC(gamma=1.0, scale=False, degree=1)).fit(X, y)
    for fixed in (None, True):
        certificate = certify(pipeline, *draw(100, 1), fixed_features=fixed)
        assert [entry.method for entry in certificate.guarantees] == [Method.HOLDOUT]
        reasons = [w.reason for w in certificate.withheld if w.method == Method.COMPRESSION]
        assert "no scaler, encoder or feature selection was fitted" in reasons[0]
