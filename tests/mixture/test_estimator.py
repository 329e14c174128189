"""The public class: what a user sees."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import surewood
from surewood import SurewoodClassifier
from surewood.certify import certify

X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def model():
    return SurewoodClassifier(5, random_state=0).fit(X[::2], Y[::2])


def test_importances_are_the_weighted_mean_of_the_members(model):
    parts = sum(model.weights_[k] * one.feature_importances_ for k, one in model.estimators_.items())
    np.testing.assert_allclose(model.feature_importances_, parts / parts.sum())


def test_members_remember_no_rows_of_their_own_and_keep_no_held_out_scores(model, tmp_path):
    assert model.remembered_rows_.n_rows == 75
    for one in model.estimators_.values():
        assert one.remembered_rows_ is None
    path = surewood.save(model, tmp_path / "m")
    np.testing.assert_array_equal(surewood.load(path).predict_proba(X), model.predict_proba(X))


def test_the_certificate_rests_on_the_holdout_and_calls_the_held_out_error_an_estimate(model):
    certificate = certify(model, X[1::2], Y[1::2])
    words = {entry.status.name for entry in certificate.entries}
    assert "GUARANTEE" in words
    assert [e.status.name for e in certificate.entries if "mixture" in e.method] == ["ESTIMATE"]


def test_row_order_and_threads_do_not_matter(model):
    order = np.random.default_rng(0).permutation(75)
    again = SurewoodClassifier(5, random_state=0, n_jobs=2).fit(X[::2][order], Y[::2][order])
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X))


def test_unknown_members_are_refused_by_name():
    with pytest.raises(ValueError, match=r"members must be .*'random_forest'.*got \['forest'\]"):
        SurewoodClassifier(members=["forest"]).fit(X, Y)
