"""Every public classifier inside what users put around it, refitted, cloned, copied and parallel."""

import copy
import pickle
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from imblearn.over_sampling import RandomOverSampler
from imblearn.pipeline import make_pipeline as make_imbalanced_pipeline
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import surewood
from surewood import MultiGrainedScanner
from tests.contract.estimators import classifiers, deterministic
from tests.contract.messy_table import messy

each_classifier = pytest.mark.parametrize("cls", classifiers(), ids=lambda c: c.__name__)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:90]
    return X[rows], np.array(["setosa", "versicolor", "virginica"])[y[rows]]


@each_classifier
def test_meta_estimators(cls, iris):
    X, y = iris
    model = deterministic(cls)
    for outer in (
        make_pipeline(StandardScaler(), model),
        CalibratedClassifierCV(model, cv=2),
        VotingClassifier([("ours", model), ("theirs", LogisticRegression(max_iter=1000))], voting="soft"),
        StackingClassifier([("ours", model)], final_estimator=LogisticRegression(max_iter=1000), cv=2),
        OneVsRestClassifier(model),
    ):
        assert outer.fit(X, y).score(X, y) > 0.8
    assert cross_val_predict(model, X, y, cv=2, method="predict_proba").shape == (len(y), 3)


@each_classifier
def test_imbalanced_learn_pipelines(cls, iris):
    X, y = iris
    rows = np.r_[np.flatnonzero(y == "setosa")[:8], np.flatnonzero(y == "virginica")]
    model = make_imbalanced_pipeline(RandomOverSampler(random_state=0), deterministic(cls)).fit(
        X[rows], y[rows]
    )
    assert model.score(X[rows], y[rows]) > 0.9
    assert model.predict_proba(X[rows]).shape == (len(rows), 2)


@each_classifier
def test_searches(cls, iris):
    X, y = iris
    grid = {"class_weight": [None, "balanced"]}
    for search in (
        GridSearchCV(deterministic(cls), grid, cv=2, error_score="raise"),
        HalvingGridSearchCV(
            deterministic(cls), grid, cv=2, min_resources=45, error_score="raise", random_state=0
        ),
    ):
        assert search.fit(X, y).best_score_ > 0.7


@each_classifier
def test_messy_tables_from_pandas_and_polars(cls):
    frame, y = messy()
    model = deterministic(cls).fit(frame, y)
    proba = model.predict_proba(frame)
    assert model.score(frame, y) > 0.6
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(frame))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    unseen = frame.assign(text="violet", category=pd.Categorical(["w"] * len(frame)))
    assert np.isfinite(model.predict_proba(unseen)).all()
    with pytest.raises(ValueError, match="order"):
        model.predict(frame[frame.columns[::-1]])
    pl = pytest.importorskip("polars")
    from_polars = deterministic(cls).fit(pl.from_pandas(frame), y)
    np.testing.assert_array_equal(from_polars.predict_proba(pl.from_pandas(frame)), proba)


@each_classifier
def test_behind_a_column_transformer_with_frames_out(cls):
    frame, y = messy()
    prepare = make_column_transformer(
        (SimpleImputer(), make_column_selector(dtype_include="number")), remainder="drop"
    ).set_output(transform="pandas")
    model = make_pipeline(prepare, deterministic(cls)).fit(frame, y)
    assert list(model[-1].feature_names_in_) == list(prepare.fit_transform(frame).columns)


@each_classifier
def test_metadata_routing_carries_weights(cls, iris):
    X, y = iris
    weight = np.random.default_rng(1).integers(1, 3, len(y)).astype(float)
    with config_context(enable_metadata_routing=True):
        model = deterministic(cls).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scores = cross_val_score(model, X, y, params={"sample_weight": weight}, cv=2, error_score="raise")
    assert scores.mean() > 0.7


@each_classifier
def test_metadata_routing_through_a_pipeline_and_a_search(cls, iris):
    """The search gives groups to its splits, weights and groups to the last step, and refits with both."""
    X, y = iris
    rng = np.random.default_rng(2)
    weight, groups = rng.integers(1, 9, len(y)).astype(float), rng.integers(0, 6, len(y))
    metadata = {"sample_weight": weight}
    if "groups" in signature(cls.fit).parameters:
        metadata["groups"] = groups
    with config_context(enable_metadata_routing=True):
        model = deterministic(cls).set_fit_request(**dict.fromkeys(metadata, True))
        model.set_score_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        search = GridSearchCV(make_pipeline(scaler, model), {}, cv=GroupKFold(2), error_score="raise").fit(
            X, y, sample_weight=weight, groups=groups
        )
    scaled = StandardScaler().fit_transform(X)
    expected = deterministic(cls).fit(scaled, y, **metadata).predict_proba(scaled)
    np.testing.assert_array_equal(search.predict_proba(X), expected)


@each_classifier
def test_refit_clone_copy_and_pickle(cls, iris):
    X, y = iris
    frame, label = messy()
    model = deterministic(cls).fit(X, y)
    first = model.predict_proba(X)
    np.testing.assert_array_equal(clone(model).fit(X, y).predict_proba(X), first)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.predict_proba(X), first)
    model.fit(frame, label)
    assert set(model.classes_) == {"yes", "no"}
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), first)


@each_classifier
def test_jobs_do_not_change_a_bit(cls, iris):
    if "n_jobs" not in cls().get_params():
        return
    X, y = iris
    proba = [deterministic(cls, n_jobs=jobs).fit(X, y).predict_proba(X) for jobs in (1, 2, -1)]
    np.testing.assert_array_equal(proba[0], proba[1])
    np.testing.assert_array_equal(proba[0], proba[2])


@each_classifier
@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.array([[0.0], [1.0], [0.1], [1.1]]), [0, 1, 0, 1]),
        (np.arange(8.0).reshape(-1, 1), np.zeros(8)),
        (np.arange(40.0).reshape(-1, 1), np.repeat(np.arange(20), 2)),
        (np.c_[np.arange(12.0), np.full(12, 5.0), np.full(12, "x", dtype=object)], [0, 1] * 6),
    ],
    ids=["tiny", "one-class", "many-classes", "object"],
)
def test_odd_tables(cls, X, y):
    model = deterministic(cls).fit(X, y)
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))


@each_classifier
def test_ten_thousand_classes_are_refused(cls):
    most = cls._most_classes
    n = 10_000 if most < 10_000 else 70_000
    y = np.repeat(np.arange(n), 2)
    with pytest.raises(
        ValueError, match=rf"^y has {n:,} different labels; {cls.__name__} takes at most {most:,}\."
    ):
        cls().fit(y[:, None], y)


@pytest.mark.parametrize(
    "cls", [c for c in classifiers() if not c.__name__.endswith("CV")], ids=lambda c: c.__name__
)
def test_two_hundred_classes(cls):
    y = np.repeat(np.arange(200), 2)
    X = np.c_[y % 20, y // 20] + 0.01 * np.random.default_rng(0).normal(size=(400, 2))
    small_ones = {"multiclass": "native", "degrees": (1,), "C": 1.0, "n_estimators": 4}
    changes = {name: value for name, value in small_ones.items() if name in cls().get_params()}
    model = deterministic(cls, **changes).fit(X, y)
    proba = model.predict_proba(X)
    assert proba.shape == (400, 200)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
    if cls.__name__ != "DeepCascadeClassifier":  # its bound allows no more than a constant here
        assert model.score(X, y) > 0.1


def test_a_scanner_in_front_of_every_kind_of_output(iris):
    X, y = iris
    scanner = deterministic(MultiGrainedScanner, windows=[2]).set_output(transform="pandas").fit(X, y)
    frame = scanner.transform(X)
    assert list(frame.columns) == scanner.get_feature_names_out().tolist()
    jobs = [deterministic(MultiGrainedScanner, n_jobs=j).fit(X, y).transform(X) for j in (1, 2, -1)]
    np.testing.assert_array_equal(jobs[0], jobs[1])
    np.testing.assert_array_equal(jobs[0], jobs[2])
    model = make_pipeline(deterministic(MultiGrainedScanner, windows=[2]), LogisticRegression(max_iter=1000))
    assert GridSearchCV(model, {"logisticregression__C": [0.1, 1.0]}, cv=2).fit(X, y).best_score_ > 0.8
    pytest.importorskip("polars")
    polars = clone(scanner).set_output(transform="polars").fit(X, y).transform(X)
    np.testing.assert_array_equal(polars.to_numpy(), frame.to_numpy())


@each_classifier
def test_methods_before_a_fit_say_that_there_was_none(cls, iris):
    X, y = iris
    arguments = {
        "ledger": (),
        "nodes": (0,),
        "margins": (X, y),
        "latency_curve": (X, y),
        "reject_option": (0.1,),
    }
    for name in (
        "predict", "predict_proba", "predict_log_proba", "decision_function", "explain", "apply",
        "decision_path", "staged_predict", "staged_predict_proba", "tree_predictions", "exits", *arguments,
    ):  # fmt: skip
        if hasattr(cls, name):
            with pytest.raises(NotFittedError):
                list(getattr(deterministic(cls), name)(*arguments.get(name, (X,))))


@each_classifier
def test_models_of_binned_and_dated_columns_can_be_saved(cls, tmp_path):
    frame, y = messy()
    number = frame.select_dtypes("number").iloc[:, 0]
    frame = frame.assign(
        binned=pd.cut(number, 3),
        stamp=pd.Series(pd.to_datetime(["2020", "2021"] * len(y))[: len(y)]).astype("category"),
    )
    model = deterministic(cls).fit(frame, y)
    again = surewood.load(surewood.save(model, tmp_path / "m"))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


def test_a_warm_start_keeps_to_its_categories():
    """Kept trees split by codes, which other categories would give another meaning."""
    y = [0, 1] * 10
    model = surewood.BinnedForestClassifier(2, warm_start=True, random_state=0)
    model.fit(pd.DataFrame({"c": ["b", "c"] * 10}), y)
    with pytest.raises(ValueError, match="with the same categories"):
        model.set_params(n_estimators=4).fit(pd.DataFrame({"c": ["a", "b"] * 10}), y)
    assert (
        model.fit(pd.DataFrame({"c": ["b", "c"] * 10}), y).score(pd.DataFrame({"c": ["b", "c"]}), [0, 1])
        == 1.0
    )
