import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood.deepforest import CascadeForestClassifier, MarginDeepForestClassifier
from surewood.deepforest.fold_classifiers import NumberReader, fit_fold_classifier, seeded_clone
from surewood.tables import TableSchema


def table_of(frame):
    return TableSchema.learn(frame).read(frame)


def test_a_classifier_that_takes_missing_values_gets_the_table_itself():
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["x", "y", "x"]})
    raw = NumberReader([HistGradientBoostingClassifier()]).fit(table_of(frame), None).read(table_of(frame))
    np.testing.assert_array_equal(raw, [[1.0, 0.0], [np.nan, 1.0], [3.0, 0.0]])
    encoded = NumberReader([LogisticRegression()]).fit(table_of(frame), None).read(table_of(frame))
    assert np.isfinite(encoded).all()
    assert encoded.shape == (3, 4)  # number, its indicator, two categories


def test_absent_classes_get_zero_and_a_single_class_needs_no_classifier():
    numbers, labels = np.arange(6.0)[:, None], np.array([0, 0, 2, 2, 1, 1], dtype=np.uint16)
    model = fit_fold_classifier(GaussianNB(), numbers, labels, np.arange(4), None, 0, 3)
    vectors = model.vectors(numbers)
    assert (vectors[:, 1] == 0).all()
    np.testing.assert_allclose(vectors.sum(axis=1), 1.0)
    constant = fit_fold_classifier(GaussianNB(), numbers, labels, np.array([4, 5]), None, 0, 3)
    np.testing.assert_array_equal(constant.vectors(numbers), np.tile([0.0, 1.0, 0.0], (6, 1)))


def test_weights_are_drawn_where_fit_does_not_take_them():
    numbers, labels = np.array([[0.0], [0.1], [1.0], [1.1]]), np.array([0, 1, 0, 1], dtype=np.uint16)
    weight = np.array([1.0, 0.0, 0.0, 1.0])
    model = fit_fold_classifier(KNeighborsClassifier(1), numbers, labels, np.arange(4), weight, 0, 2)
    np.testing.assert_array_equal(model.vectors(numbers).argmax(axis=1), [0, 0, 1, 1])


def test_clones_are_seeded_through_pipelines_and_the_original_is_untouched():
    original = make_pipeline(StandardScaler(), LogisticRegression(C=3.0))
    model = seeded_clone(original, 7)
    assert model.get_params()["logisticregression__random_state"] == 7
    assert original.get_params()["logisticregression__random_state"] is None
    assert model is not original


@pytest.mark.parametrize("cross_fit", ["kfold", "oob"])
@pytest.mark.parametrize("cls", [MarginDeepForestClassifier, CascadeForestClassifier])
def test_classifiers_and_forests_side_by_side(cls, cross_fit):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=80), "b": rng.choice(["x", "y"], 80)})
    frame.loc[::9, "a"] = np.nan
    y = np.where((frame["b"] == "x") ^ (frame["a"] > 0), "in", "out")
    model = cls(
        5,
        forests=["random", LogisticRegression()],
        study={"cross_fit": cross_fit},
        max_layers=2,
        random_state=0,
    ).fit(frame, y)
    assert model.score(frame, y) > 0.8
    np.testing.assert_allclose(model.predict_proba(frame).sum(axis=1), 1.0)
