"""Values that no fit stores are refused by load: by the classes that check themselves, or by the trial."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import surewood
from surewood.cascade import TreeFamily
from surewood.certify import CrossFittedClassifier, certify, find_threshold
from surewood.persistence import ModelFileError
from surewood.persistence.trial import flaw_of
from surewood.tables import TablePreparer
from tests.contract.estimators import classifiers, deterministic
from tests.persistence import variety
from tests.persistence.forging import forge, with_attribute

NO_CLASSIFIER = {"object": ["surewood.trees.forest_model.ForestModel", {"classes_": {"labels": [0, 1]}}]}
RNG = np.random.default_rng(0)
X, HOLDOUT = RNG.standard_normal((120, 3)), RNG.standard_normal((120, 3))


def labels(X):
    return (X[:, 0] + X[:, 1] > 0).astype(int)


@cache
def model(name):
    y = labels(X)
    if name == "mixture":
        return surewood.SurewoodClassifier(n_estimators=3, random_state=0, n_jobs=1).fit(X, y)
    if name == "boosted":
        return surewood.BoostedTreesClassifier(n_estimators=3, random_state=0, n_jobs=1).fit(X, y)
    if name == "pipeline":
        words = np.array(["late delivery", "broken box", "kind answer", "wrong colour", "good price"])
        texts = [f"{words[i % 5]} and {words[i * 7 % 5]} on day {i} of many" for i in range(len(X))]
        frame = pd.DataFrame(X, columns=list("abc")).assign(words=texts)
        return make_pipeline(TablePreparer(), surewood.BinnedForestClassifier(4, random_state=0)).fit(
            frame, y
        )
    if name == "logistic":
        return LogisticRegression().fit(X, y)
    forest = surewood.BinnedForestClassifier(4, random_state=0)
    if name == "forest":
        return forest.fit(X, y)
    if name in ("tree", "constant"):
        leaves = [TreeFamily(2) if name == "tree" else name]
        return surewood.DeepCascadeClassifier(leaves, ["threshold"], gamma_scale=1e-4).fit(X, y)
    if name == "scanner":
        return surewood.MultiGrainedScanner(windows=[2], n_estimators=2, random_state=0).fit(X, y)
    if name == "cross-fitted":
        return CrossFittedClassifier(forest, n_folds=2).fit(X, y)
    return find_threshold(forest.fit(X, y), HOLDOUT, labels(HOLDOUT), recall=0.7, positive=1)


@pytest.mark.parametrize(
    ("name", "owner", "attribute", "value"),
    [
        ("mixture", "MixtureMember", "weight", float("nan")),
        ("mixture", "MixtureMember", "weight", -3.0),
        ("mixture", "MixtureMember", "weight", 0.999),
        ("mixture", "MixtureMember", "weight", "x"),
        ("mixture", "MarginLayer", "step", -(2**63)),
        ("mixture", "Block", "n_classes", 65535),
        ("mixture", "MixtureModel", "members", {"tuple": []}),
        ("mixture", "MixtureModel", "classes", lambda a: a[::-1].copy()),
        ("forest", "BinnedForestClassifier", "n_jobs", 1e308),
        (
            "forest",
            "BinnedForestClassifier",
            "model_",
            {"object": ["surewood.tables.schema.TableSchema", {}]},
        ),
        ("forest", "ForestModel", "trees", {"labels": []}),
        ("mixture", "MixtureModel", "records", {"tuple": [1]}),
        ("threshold", "ThresholdedClassifier", "model", {"labels": []}),
        ("forest", "BinnedForestClassifier", "classes_", lambda a: a[::-1].copy()),
        ("forest", "BinnedForestClassifier", "classes_", lambda a: a * np.nan),
        ("forest", "BinnedForestClassifier", "classes_", {"labels": ["same", "same"]}),
        ("forest", "BinnedForestClassifier", "classes_", {"labels": [{"dict": []}, {"dict": []}]}),
        ("forest", "BinnedForestClassifier", "classes_", {"tuple": [0, 1]}),
        ("mixture", "RememberedRows", "hashes", lambda a: a.astype(float)),
        ("mixture", "RememberedRows", "hashes", lambda a: a[::-1].copy()),
        ("mixture", "RememberedRows", "columns", [1, 2]),
        ("mixture", "RememberedRows", "copied", 2),
        ("boosted", "BoostedModel", "importances", lambda a: a * np.nan),
        ("boosted", "BoostedModel", "n_rounds", lambda a: a - 10**6),
        ("tree", "TreeMember", "depth", 10**6),
        ("constant", "ConstantMember", "values", lambda a: a * np.nan),
        ("scanner", "Grain", "shape", {"tuple": [3, 2**23]}),
        ("cross-fitted", "CrossFittedClassifier", "models_", [1]),
        ("cross-fitted", "CrossFittedClassifier", "models_", []),
        ("cross-fitted", "CrossFittedClassifier", "models_", [NO_CLASSIFIER] * 2),
        ("cross-fitted", "CrossFittedClassifier", "fold_size_", 0),
        ("cross-fitted", "CrossFittedClassifier", "fold_size_", 10**9),
        ("cross-fitted", "CrossFittedClassifier", "n_samples_", -1),
        ("cross-fitted", "CrossFittedClassifier", "brier_score_", -1.0),
        ("cross-fitted", "CrossFittedClassifier", "brier_score_", float("nan")),
        ("cross-fitted", "CrossFittedClassifier", "majority_error_", 7),
        ("cross-fitted", "FlatForest", "n_features", 4),
        ("cross-fitted", "ForestModel", "calibrator", 3),
        ("threshold", "Coverage", "fraction", "x"),
        ("threshold", "Coverage", "upper", None),
        ("threshold", "MetRequirement", "conditions", -1),
        ("threshold", "MetRequirement", "delta", 10**30),
        ("threshold", "MetRequirement", "side", None),
        ("threshold", "MetRequirement", "n", -1),
        ("threshold", "MetRequirement", "value", float("nan")),
        ("pipeline", "Pipeline", "steps", []),
        ("pipeline", "Pipeline", "steps", [7]),
        ("pipeline", "Pipeline", "steps", [{"tuple": ["a", None]}, {"tuple": ["b", {"same": 0}]}]),
        ("pipeline", "TablePreparer", "texts_", {"dict": [["words", {"dict": []}]]}),
        ("pipeline", "TablePreparer", "texts_", {"dict": []}),
        ("pipeline", "TablePreparer", "plan_", 3),
        ("pipeline", "TablePreparer", "feature_names_in_", {"labels": ["a", [1], "c"]}),
        ("logistic", "LogisticRegression", "coef_", lambda a: a * np.nan),
        ("logistic", "LogisticRegression", "coef_", lambda a: a[:, :1]),
        ("logistic", "LogisticRegression", "n_features_in_", 2**60),
        ("logistic", "LogisticRegression", "classes_", lambda a: a[:1]),
    ],
)
def test_a_forged_value_is_refused(tmp_path, name, owner, attribute, value):
    source = surewood.save(model(name), tmp_path / "m", compress=False)
    with pytest.raises(ModelFileError, match=r"cannot be (rebuilt|used)"):
        surewood.load(forge(source, tmp_path / "f", with_attribute(owner, attribute, value)))


@pytest.mark.parametrize("name", ["mixture", "boosted", "cross-fitted", "threshold", "logistic"])
def test_honest_files_are_not_refused(tmp_path, name):
    again = surewood.load(surewood.save(model(name), tmp_path / "m"))
    np.testing.assert_array_equal(again.predict(X), model(name).predict(X))
    if name == "cross-fitted":
        assert str(certify(again)) == str(certify(model(name)))


def test_forged_names_of_columns_are_refused(tmp_path):
    forest = surewood.BinnedForestClassifier(3, random_state=0).fit(
        pd.DataFrame(X, columns=list("abc")), labels(X)
    )
    source = surewood.save(forest, tmp_path / "m", compress=False)
    change = with_attribute("BinnedForestClassifier", "feature_names_in_", {"labels": ["a", [1, 2], "c"]})
    with pytest.raises(ModelFileError, match="its names of columns are not those of its table"):
        surewood.load(forge(source, tmp_path / "f", change))


def test_a_category_that_the_model_does_not_know_is_refused(tmp_path):
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "x", "y")})
    source = surewood.save(surewood.PolySVC().fit(frame, labels(X)), tmp_path / "m", compress=False)
    change = with_attribute("TableSchema", "categories", [None, ["x", "y", "z"]])
    with pytest.raises(ModelFileError, match=r"cannot be rebuilt: index 2 is out of bounds"):
        surewood.load(forge(source, tmp_path / "f", change))


@pytest.mark.parametrize("cls", classifiers(), ids=lambda c: c.__name__)
def test_honest_models_have_no_flaw(cls):
    for _, fitted, _ in variety.fitted(cls.__name__):
        assert flaw_of(fitted) is None


def test_columns_of_time_and_arrays_are_tried_out():
    k = np.arange(60)
    frame = pd.DataFrame({"day": pd.Timestamp("2024-01-01") + pd.to_timedelta(k, "D"), "flag": k % 3 == 0})
    assert flaw_of(deterministic(surewood.BinnedForestClassifier).fit(frame, k > 30)) is None
    assert flaw_of(deterministic(surewood.BinnedForestClassifier).fit(np.c_[k, k], k > 30)) is None


@pytest.mark.parametrize(("kind", "values"), [("number", None), ("category", []), ("time", None)])
def test_a_forged_table_of_many_columns_is_refused(tmp_path, kind, values):
    """A frame of them would take a minute; the forest has three columns."""
    source, n = surewood.save(model("forest"), tmp_path / "m", compress=False), 200_000

    def change(header, arrays):
        with_attribute("BinnedForestClassifier", "n_features_in_", n)(header, arrays)
        with_attribute("TableSchema", "kinds", [kind] * n)(header, arrays)
        with_attribute("TableSchema", "categories", [values] * n)(header, arrays)

    with pytest.raises(ModelFileError, match=r"cannot be rebuilt: X: axis 1 must have length 3, got 200000"):
        surewood.load(forge(source, tmp_path / "f", change))


def forest_with(**attributes):
    fitted = surewood.BinnedForestClassifier(3, random_state=0).fit(X, labels(X))
    vars(fitted).update(attributes)
    return fitted


@pytest.mark.parametrize(
    ("changed", "flaw"),
    [
        (
            lambda: forest_with(classes_=np.arange(3)),
            "its probabilities of 2 rows and 3 classes have the shape (2, 2)",
        ),
        (lambda: forest_with(classes_=np.array([])), "its classes are no list"),
        (lambda: forest_with(schema_=2), "its columns are not known"),
        (lambda: forest_with(n_features_in_=7), "its number of columns is not that of its table"),
        (
            lambda: forest_with(predict_proba=lambda rows: np.full((2, 2), 0.6)),
            "its probabilities do not sum to 1",
        ),
        (
            lambda: forest_with(predict_proba=lambda rows: np.array([[0.5, 0.5], [-0.1, 1.1]])),
            "its probabilities are not between 0 and 1",
        ),
    ],
)
def test_what_does_not_belong_together_is_noticed(changed, flaw):
    assert flaw_of(changed()) == flaw


def test_classes_of_another_array_are_refused_by_load(tmp_path):
    source = surewood.save(forest_with(), tmp_path / "m", compress=False)
    change = with_attribute("BinnedForestClassifier", "classes_", {"labels": ["a", "b", "c"]})
    with pytest.raises(ModelFileError, match=r"cannot be used: its probabilities of 2 rows and 3 classes"):
        surewood.load(forge(source, tmp_path / "f", change))


def test_classifiers_without_probabilities_are_tried_out_too():
    X, y = variety.numbers()
    cascade = deterministic(surewood.DeepCascadeSVMClassifier, calibrate=False).fit(X, y)
    assert flaw_of(cascade) is None
    cascade.classes_ = np.array([7, 8, 9])
    assert flaw_of(cascade) == "its scores of 2 rows have the shape (2,)"


def test_decision_rules_over_prepared_tables_are_loaded(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=400), "b": rng.choice(["x", "y"], 400)})
    y = np.where(frame["a"] + rng.normal(size=400) > 0, "yes", "no")
    model = make_pipeline(TablePreparer(), surewood.BinnedForestClassifier(5, random_state=0))
    model.fit(frame[:200], y[:200])
    rule = find_threshold(model, frame[200:], y[200:], positive="yes", recall=0.5)
    again = surewood.load(surewood.save(rule, tmp_path / "rule.surewood"))
    assert (again.predict(frame) == rule.predict(frame)).all()


def test_an_estimator_that_was_not_fitted_is_refused():
    assert flaw_of(surewood.BinnedForestClassifier()) == "its columns are not known"
