"""The public class: what a user sees."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier

import surewood
from surewood import BoostedTreesClassifier
from tests.boosting.toy import table


def test_it_learns_as_well_as_scikit_learns_own():
    X, y = make_classification(1500, 12, n_informative=6, n_classes=3, random_state=0)
    ours = BoostedTreesClassifier(random_state=0).fit(X[:700], y[:700])
    theirs = HistGradientBoostingClassifier(random_state=0).fit(X[:700], y[:700])
    assert ours.score(X[700:], y[700:]) > theirs.score(X[700:], y[700:]) - 0.01
    assert abs(ours.held_out_error_ - (1 - ours.score(X[700:], y[700:]))) < 0.06


def test_files_hold_it_without_pickle(tmp_path):
    X, y = table(300)
    model = BoostedTreesClassifier(10, random_state=0).fit(X, y)
    path = surewood.save(model, tmp_path / "m")
    np.testing.assert_array_equal(surewood.load(path).predict_proba(X), model.predict_proba(X))


def test_importances_name_the_columns_that_matter():
    X, y = table(600)
    found = BoostedTreesClassifier(30, random_state=0).fit(X.assign(noise=0.0), y).feature_importances_
    assert found.sum() == pytest.approx(1.0)
    assert found[4] == 0.0
    assert found.argmax() in (0, 1)


def test_one_class_is_predicted_for_sure():
    model = BoostedTreesClassifier().fit([[0.0], [1.0]], ["a", "a"])
    np.testing.assert_array_equal(model.predict_proba([[3.0]]), [[1.0]])


def test_a_fit_beyond_its_memory_is_refused():
    X, y = table(300)
    with pytest.raises(ValueError, match="max_memory"):
        BoostedTreesClassifier(max_memory="1kB").fit(X, y)
