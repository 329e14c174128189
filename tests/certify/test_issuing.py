"""`certify` on scikit-learn's classifiers, and on input it must refuse."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood import BinnedForestClassifier
from surewood.bounds import Status, clopper_pearson
from surewood.certify import certify
from surewood.tables import ParquetTable


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(800, 10, class_sep=1.5, random_state=0)
    return X[:400], y[:400], X[400:], y[400:]


@pytest.fixture(scope="module")
def forest(data):
    return RandomForestClassifier(40, random_state=0).fit(data[0], data[1])


def test_random_forest_gets_its_holdout_guarantee(data, forest):
    _, _, X, y = data
    certificate = certify(forest, X, y, delta=0.05)
    errors = int((forest.predict(X) != y).sum())
    (entry,) = certificate.guarantees
    assert entry.value == clopper_pearson(errors, 400, delta=0.05)
    assert (entry.n, entry.sample, entry.delta, entry.n_models) == (400, "holdout", 0.05, 1)
    assert re.match(r"guaranteed: error at most \d+(\.\d+)? % on new rows, with", certificate.verdict)
    assert "RandomForestClassifier" in repr(certificate)
    estimate = certificate.by_status(Status.ESTIMATE)[0]
    assert estimate.value == errors / 400
    assert not estimate.biased


def test_constant_classifier_does_not_beat_the_baseline(data):
    Xtr, ytr, X, y = data
    certificate = certify(DummyClassifier().fit(Xtr, ytr), X, y)
    assert certificate.verdict.startswith("not guaranteed to beat the majority-class baseline (")
    assert certificate.best.value > certificate.majority_error


def test_choosing_on_the_holdout_costs(data, forest):
    _, _, X, y = data
    one, ten = certify(forest, X, y), certify(forest, X, y, n_models=10)
    assert ten.best.value > one.best.value
    assert ten.best.n_models == 10
    assert ten.by_status(Status.ESTIMATE)[0].biased


def test_training_points_give_an_estimate_only(data, forest):
    certificate = certify(forest, data[0], data[1], sample="training")
    assert certificate.guarantees == ()
    assert certificate.by_status(Status.ESTIMATE)[0].biased
    assert certificate.withheld[0].code == "TRAINING_SAMPLE"
    assert certificate.verdict.startswith("no guarantee: these rows were used for training")


def test_strings_pipelines_and_unseen_labels(data):
    Xtr, ytr, X, y = data
    names = np.array(["no", "yes"])
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(Xtr, names[ytr])
    labels = names[y].astype(object)
    labels[0] = "perhaps"
    certificate = certify(model, X, labels)
    assert certificate.entries[1].decomposition["errors"] == (model.predict(X) != labels).sum()


class Oracle(ClassifierMixin):
    classes_ = np.array([0, 1])

    def __init__(self, answer):
        self.answer = answer

    def predict(self, X):
        return self.answer


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f, X, y: certify(f, X, y, delta=0), ValueError, r"delta must be in \(0, 1\), got 0"),
        (lambda f, X, y: certify(f, X, y, n_models=0), ValueError, "n_models must be an integer >= 1, got 0"),
        (
            lambda f, X, y: certify(f, X, y, n_models_in_sample=1.5),
            ValueError,
            "n_models_in_sample must be an integer >= 1, got 1.5",
        ),
        (lambda f, X, y: certify(f, X), ValueError, "X and y must be given together"),
        (lambda f, X, y: certify(f), ValueError, "RandomForestClassifier offers no evidence of its own"),
        (lambda f, X, y: certify(f, X, y[:5]), ValueError, "inconsistent numbers of samples"),
        (lambda f, X, y: certify(f, X[:0], y[:0]), ValueError, "at least one row"),
        (lambda f, X, y: certify(f, X, y + 7), ValueError, "y must hold labels the model knows, such as"),
        (
            lambda f, X, y: certify(f, X, y, sample="test"),
            ValueError,
            "sample must be one of holdout, training",
        ),
        (
            lambda f, X, y: certify(f, X, y, methods=["magic"]),
            ValueError,
            "methods must be among holdout, cross_fit, pac_bayes",
        ),
        (
            lambda f, X, y: certify(f, X, y, delta="0.05"),
            ValueError,
            r"delta must be in \(0, 1\), got '0.05'",
        ),
        (lambda f, X, y: certify(f, X, y, n_models=None), ValueError, "n_models must be an integer >= 1"),
        (
            lambda f, X, y: certify(f, X, np.where(y == 0, np.nan, y)),
            ValueError,
            "y must not have missing labels",
        ),
        (lambda f, X, y: certify("forest", X, y), TypeError, "model must have a predict method, got str"),
        (lambda f, X, y: certify(RandomForestClassifier(), X, y), NotFittedError, "not fitted"),
        (lambda f, X, y: certify(Oracle(y[:3]), X, y), ValueError, r"one label per row, got shape \(3,\)"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(data, forest, call, error, message):
    _, _, X, y = data
    with pytest.raises(error, match=message):
        call(forest, X, y)


def test_one_method_may_be_named_alone(data, forest):
    _, _, X, y = data
    assert certify(forest, X, y, methods="holdout").best == certify(forest, X, y).best


def test_numbers_against_text_are_different_labels(data):
    _, _, X, y = data
    certificate = certify(Oracle(y.astype(str)), X, y)
    assert certificate.entries[0].value == 1.0


def test_a_parquet_table_has_rows_and_labels(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "z": rng.normal(size=300)})
    frame["y"] = np.where(frame["x"] > 0, "yes", "no")
    frame.loc[290:, "y"] = None
    frame.to_parquet(tmp_path / "t.parquet")
    table = ParquetTable(tmp_path / "t.parquet", target="y")
    train, held = table.split(0.5, seed=0)
    model = BinnedForestClassifier(5, random_state=0).fit(train)
    X, y = held.labelled()
    assert certify(model, held).to_dict() == certify(model, X, y).to_dict()
    assert certify(model, held).guarantees[0].n == len(y) < 200
