"""The mean of fold models and its Brier guarantee ([D-44])."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood import BinnedForestClassifier, load, save
from surewood.certify import CrossFittedClassifier, Method, certify
from tests.promises.population import draw


def brier(model, X, y):
    p = model.predict_proba(X)
    p[np.arange(len(y)), np.searchsorted(model.classes_, y)] -= 1.0
    return float((p**2).sum(axis=1).mean())


def test_the_guarantee_is_given_without_a_holdout_and_new_rows_confirm_it(tmp_path):
    X, y = draw(1000, 0)
    model = CrossFittedClassifier(BinnedForestClassifier(20, random_state=0)).fit(X, y)
    (entry,) = certify(model).guarantees
    assert (entry.method, entry.quantity, entry.n) == (Method.CROSS_FIT, "Brier score", 1000)
    assert brier(model, *draw(3000, 1)) < entry.value < 1.0
    assert model.brier_score_ < entry.value
    save(model, tmp_path / "m.surewood")
    assert certify(load(tmp_path / "m.surewood")).to_json() == certify(model).to_json()


def test_probabilities_are_the_mean_over_folds_and_training_rows_are_remembered():
    X, y = draw(200, 0)
    model = CrossFittedClassifier(make_pipeline(StandardScaler(), LogisticRegression()), 4).fit(X, y)
    mean = np.mean([one.predict_proba(X) for one in model.models_], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), mean)
    assert (model.predict(X) == mean.argmax(axis=1)).all()
    assert certify(model, X, y, methods="holdout").guarantees == ()


def test_held_out_scores_by_hand():
    X, y = draw(40, 0)
    model = CrossFittedClassifier(KNeighborsClassifier(1), 2).fit(X, y)
    assert model.fold_size_ == 20
    assert model.brier_score_ > 0.2  # on the rows it saw a nearest neighbour has 0


def test_a_class_that_a_fold_lacks_has_probability_zero():
    X = pd.DataFrame({"x": np.arange(40.0)})
    y = np.array(["a"] * 20 + ["b"] * 19 + ["c"])
    model = CrossFittedClassifier(KNeighborsClassifier(3), 4).fit(X, y)
    assert model.predict_proba(X).shape == (40, 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_the_certificate_says_what_a_holdout_would_give():
    X, y = draw(1000, 0)
    model = CrossFittedClassifier(KNeighborsClassifier(15)).fit(X, y)
    (entry,) = certify(model).guarantees
    found = re.fullmatch(r"a holdout of 200 of these 1,000 rows would give about ([0-9.]+)", entry.note)
    held = draw(200, 5)
    assert float(found[1]) < entry.value
    own = [one.value for one in certify(model, *held, claims="brier").guarantees if one.sample == "holdout"]
    assert abs(own[0] - float(found[1])) < 0.1


def test_copied_rows_give_no_guarantee():
    X, y = draw(100, 0)
    model = CrossFittedClassifier(KNeighborsClassifier(1)).fit(np.tile(X, (4, 1)), np.tile(y, 4))
    assert certify(model).guarantees == ()
    assert (
        certify(
            make_pipeline(StandardScaler(), CrossFittedClassifier(KNeighborsClassifier(1))).fit(X, y)
        ).guarantees
        == ()
    )


@pytest.mark.parametrize(("n_folds", "rows", "sentence"), [
    (5, 39, "5 folds need at least 40 rows, got 39"),
    (1, 100, "n_folds must be"),
])  # fmt: skip
def test_what_cannot_be_is_refused(n_folds, rows, sentence):
    with pytest.raises(ValueError, match=sentence):
        CrossFittedClassifier(KNeighborsClassifier(1), n_folds).fit(*draw(rows, 0))
