"""begin_fit and begin_predict: scikit-learn's sentences, weights, and nothing half-fitted."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from surewood.tables import begin_fit, begin_predict


class Probe(ClassifierMixin, BaseEstimator):
    def __init__(self, class_weight=None, categorical_features="from_dtype"):
        self.class_weight = class_weight
        self.categorical_features = categorical_features

    def fit(self, X, y, sample_weight=None):
        inputs = begin_fit(
            self,
            X,
            y,
            sample_weight,
            class_weight=self.class_weight,
            categorical_features=self.categorical_features,
        )
        inputs.store(self)
        self.inputs_ = inputs
        return self

    def table(self, X):
        return begin_predict(self, X)


X = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0]])
Y = np.array(["b", "a", "b"])


def test_codes_and_classes():
    model = Probe().fit(X, Y)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.inputs_.y[model.inputs_.inverse].tolist() == [1, 0, 1]
    assert model.inputs_.y.dtype == np.int32
    assert model.n_features_in_ == 2
    assert model.inputs_.weight is None


def test_a_failed_fit_leaves_the_estimator_as_it_was():
    model = Probe().fit(pd.DataFrame(X, columns=["u", "v"]), Y)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.array([[np.inf, 1.0, 2.0]]), ["a"])
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["u", "v"]


def test_refit_on_an_array_forgets_names():
    model = Probe().fit(pd.DataFrame(X, columns=["u", "v"]), Y).fit(X, Y)
    assert not hasattr(model, "feature_names_in_")


def test_not_fitted():
    with pytest.raises(NotFittedError):
        Probe().table(X)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (np.ones((2, 3)), "3 features, but Probe is expecting 2"),
        (np.ones(3), "Reshape your data"),
        (np.full((2, 2), np.inf), "infinity"),
    ],
)
def test_bad_tables_at_prediction(table, sentence):
    with pytest.raises(ValueError, match=sentence):
        Probe().fit(X, Y).table(table)


def test_columns_in_another_order_are_refused_by_name():
    frame = pd.DataFrame(X, columns=["u", "v"])
    model = Probe().fit(frame, Y)
    with pytest.raises(ValueError, match="same order"):
        model.table(frame[["v", "u"]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.table(frame.rename(columns={"u": "w"}))


def test_infinity_in_a_frame_names_the_column():
    with pytest.raises(ValueError, match="infinity in column 'v'"):
        Probe().fit(pd.DataFrame({"u": [1.0, 2.0], "v": [1.0, -np.inf]}), ["a", "b"])


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (None, "requires y"),
        ([0.5, 1.7, 2.2], "Unknown label type"),
        (["a", "b"], "inconsistent"),
        ([1.0, np.nan, 2.0], "Input y contains NaN"),
        (np.array(["a", None, "b"], dtype=object), "Input y contains missing labels|NaN"),
    ],
)
def test_bad_targets(y, sentence):
    with pytest.raises(ValueError, match=sentence):
        Probe().fit(X, y)


def test_weights_multiply_and_ones_vanish():
    model = Probe(class_weight={"a": 3.0}).fit(X, Y, sample_weight=[1.0, 2.0, 0.5])
    np.testing.assert_array_equal(model.inputs_.expand(model.inputs_.weight), [1.0, 6.0, 0.5])
    assert Probe().fit(X, Y, sample_weight=np.ones(3)).inputs_.weight is None


def test_balanced_counts_weight_as_repetition():
    twice = Probe("balanced").fit(X, Y, sample_weight=[2.0, 1.0, 1.0]).inputs_
    copied = Probe("balanced").fit(X[[0, 0, 1, 2]], Y[[0, 0, 1, 2]]).inputs_
    np.testing.assert_allclose(twice.weight, copied.weight)
    np.testing.assert_allclose(twice.expand(twice.weight), [4 / 3, 2.0, 2 / 3])


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        ([0.0, 0.0, 0.0], "zero"),
        ([1.0, -1.0, 1.0], "[Nn]egative"),
        ([1.0, np.nan, 1.0], "NaN"),
        ([1.0, 2.0], "shape"),
    ],
)
def test_bad_weights(weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        Probe().fit(X, Y, sample_weight=weight)


def test_bad_class_weight():
    with pytest.raises(ValueError, match=r"not in y: \['c'\]"):
        Probe(class_weight={"c": 1.0}).fit(X, Y)
    with pytest.raises(ValueError, match="not negative"):
        Probe(class_weight={"a": -1.0}).fit(X, Y)


@pytest.mark.parametrize("weight", [np.inf, [1e308, 1e308]])
def test_weights_without_a_finite_sum_are_refused(weight):
    with pytest.raises(ValueError, match="sample_weight must be finite numbers with a finite sum"):
        Probe().fit(X[:2], Y[:2], sample_weight=weight)


@pytest.mark.parametrize(
    ("dtype", "labels"),
    [
        ("Int64", [2**53, 2**53 + 1, 3]),
        ("int64[pyarrow]", [2**53, 2**53 + 1, 3]),
        ("UInt8", [7, 255, 3]),
        ("boolean", [True, False, True]),
        ("bool[pyarrow]", [True, False, True]),
    ],
)
def test_labels_of_types_that_know_missing_values_stay_what_they_are(dtype, labels):
    model = Probe().fit(X, pd.Series(labels, dtype=dtype))
    assert model.classes_.tolist() == sorted(set(labels))
    assert {type(label) for label in model.classes_.tolist()} == {type(labels[0])}
    with pytest.raises(ValueError, match="missing labels"):
        Probe().fit(X, pd.Series([None, *labels[1:]], dtype=dtype))


def test_missing_labels_in_every_form():
    for y in (
        pd.Series(["a", None, "b"], dtype="string"),
        pd.Series(pd.Categorical(["a", None, "b"])),
        np.ma.array([0, 1, 1], mask=[True, False, False]),
        np.array(["a", None, "b"], dtype=np.dtypes.StringDType(na_object=None)),
    ):
        with pytest.raises(ValueError, match="missing labels; drop those rows"):
            Probe().fit(X, y)


def test_strings_of_numpy_are_labels():
    assert Probe().fit(X, Y.astype(np.dtypes.StringDType())).classes_.tolist() == ["a", "b"]


def test_mixed_labels_are_named():
    with pytest.raises(TypeError, match="mixes labels of types int, str"):
        Probe().fit(X, np.array(["a", 1, "b"], dtype=object))


@pytest.mark.parametrize("weight", [1e300, 5e-324, 2.0**53])
def test_weights_that_count_no_rows_are_refused(weight):
    with pytest.raises(ValueError, match="multiply them by a constant"):
        Probe().fit(X, Y, sample_weight=np.full(3, weight))


def test_class_weights_that_leave_nothing_are_refused():
    with pytest.raises(ValueError, match="leave no row that counts"):
        Probe(class_weight={"a": 0.0, "b": 0.0}).fit(X, Y)
    with pytest.raises(ValueError, match="multiply them by a constant"):
        Probe(class_weight={"a": 1e300}).fit(X, Y, sample_weight=[1e300, 1.0, 1e300])


def test_new_categories_are_counted_once_per_call():
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.0], "city": ["Rome", "Oslo", "Rome"]})
    model = Probe().fit(frame, [0, 1, 0])
    with pytest.warns(UserWarning, match=r"^2 values are new in 'city' and treated as missing\.$") as told:
        begin_predict(model, frame.assign(city=["Bern", "Rome", "Paris"]))
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        begin_predict(model, frame.assign(city=["Oslo", None, "Rome"]))


def test_rows_to_predict_may_be_dicts():
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.0], "city": ["Rome", "Oslo", "Rome"]})
    model = Probe().fit(frame, [0, 1, 0])
    read, rows = begin_predict(model, frame), begin_predict(model, frame.to_dict("records"))
    assert [rows.column(j).tolist() for j in (0, 1)] == [read.column(j).tolist() for j in (0, 1)]


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (list(range(40)), "40 different numbers in 120 rows"),
        ([f"${k}" for k in range(40)], r"amounts such as '\$0'"),
        ([k % 10 for k in range(40)], None),
        ([f"class {k}" for k in range(40)], None),
    ],
)
def test_labels_that_are_a_quantity_are_taken_with_a_warning(labels, why):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        Probe().fit(np.arange(120.0)[:, None], labels * 3)
    assert len(told) == (why is not None)
    if why is not None:
        assert re.match(
            rf"y looks like a quantity \({why}\): each value is taken as a class", str(told[0].message)
        )
