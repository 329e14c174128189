"""Parts that check themselves may still not belong together: a loaded model is tried out."""

import numpy as np
import pandas as pd
import pytest

import surewood
from surewood.persistence import ModelFileError
from surewood.persistence.trial import flaw_of
from tests.contract.estimators import classifiers, deterministic
from tests.persistence import variety
from tests.persistence.forging import forge, in_schema


@pytest.mark.parametrize("cls", classifiers(), ids=lambda c: c.__name__)
def test_honest_models_have_no_flaw(cls):
    for _, model, _ in variety.fitted(cls.__name__):
        assert flaw_of(model) is None


def test_columns_of_time_and_arrays_are_tried_out():
    k = np.arange(60)
    frame = pd.DataFrame({"day": pd.Timestamp("2024-01-01") + pd.to_timedelta(k, "D"), "flag": k % 3 == 0})
    model = deterministic(surewood.BinnedForestClassifier).fit(frame, k > 30)
    assert flaw_of(model) is None
    assert flaw_of(deterministic(surewood.BinnedForestClassifier).fit(np.c_[k, k], k > 30)) is None


def test_other_objects_are_not_tried_out():
    from sklearn.linear_model import LogisticRegression

    assert flaw_of(LogisticRegression().fit([[0.0], [1.0]], [0, 1])) is None


def test_classes_that_the_trees_do_not_have_are_noticed(tmp_path):
    X, y = variety.numbers()
    path = surewood.save(surewood.BinnedForestClassifier(3, random_state=0).fit(X, y), tmp_path / "m")
    three = surewood.save(surewood.BinnedForestClassifier(3).fit(X, np.arange(len(X)) % 3), tmp_path / "n")
    classes = surewood.load(three)
    assert len(classes.classes_) == 3
    model = surewood.load(path)
    model.classes_ = classes.classes_
    assert flaw_of(model) == "its probabilities of 2 rows and 3 classes have the shape (2, 2)"
    model.classes_ = np.array([])
    assert flaw_of(model) == "its classes are no list"


def test_numbers_of_columns_that_disagree_are_noticed():
    X, y = variety.numbers()
    model = surewood.BinnedForestClassifier(3, random_state=0).fit(X.to_numpy(), y)
    model.n_features_in_ = 7
    assert flaw_of(model) == "its number of columns is not that of its table"


def test_a_mixture_of_parts_is_refused_by_load(tmp_path):
    X, y = variety.numbers()
    path = surewood.save(surewood.BinnedForestClassifier(3, random_state=0).fit(X, y), tmp_path / "m")

    def swap(schema):
        content = schema["content"]["content"]
        content["classes_"] = {**content["feature_names_in_"], "__id__": 7}

    forge(path, tmp_path / "f", in_schema(swap))
    with pytest.raises(ModelFileError, match=r"cannot be used: its probabilities of 2 rows and 3 classes"):
        surewood.load(tmp_path / "f")


def test_classifiers_without_probabilities_are_tried_out_too():
    X, y = variety.numbers()
    model = deterministic(surewood.DeepCascadeSVMClassifier, calibrate=False).fit(X, y)
    assert flaw_of(model) is None
    model.classes_ = np.array([7, 8, 9])
    assert flaw_of(model) == "its scores of 2 rows have the shape (2,)"
