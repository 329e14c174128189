"""`explain` of every public classifier: true to the prediction, true to the row, and plain JSON."""

import json

import numpy as np
import pytest

from tests.contract.estimators import classifiers, deterministic
from tests.contract.messy_table import messy

KINDS = {
    "BinnedForestClassifier": "forest",
    "BoostedTreesClassifier": "boosted_trees",
    "CascadeForestClassifier": "cascade_forest",
    "CompositeTreeClassifier": "composite",
    "DeepCascadeClassifier": "cascade",
    "DeepCascadeSVMClassifier": "cascade",
    "DeepCascadeSVMClassifierCV": "cascade",
    "MarginDeepForestClassifier": "margin_forest",
    "MarginDeepForestClassifierCV": "margin_forest",
    "PolySVC": "svm",
    "RandomCompositeForestClassifier": "composite",
    "RandomCompositeForestClassifierCV": "composite",
    "SurewoodClassifier": "mixture",
}


def holds(step):
    """Whether a step of a path is true of the row's actual value; a missing one may take either side."""
    actual, value = step["actual"], step["value"]
    if actual is None:
        return step["operator"] != "is not missing"
    if step["operator"] in ("<=", ">"):
        return (actual <= value) == (step["operator"] == "<=")
    if step["operator"] in ("in", "not in"):
        return (actual in value) == (step["operator"] == "in")
    return step["operator"] == "is not missing"


def test_agrees_with_the_predictions_and_is_plain_json(fitted):
    model, frame = fitted
    rows = frame.iloc[:6]
    told = model.explain(rows)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert [one["kind"] for one in told] == [KINDS[type(model).__name__]] * 6
    assert [one["prediction"] for one in told] == model.predict(rows).tolist()
    proba = [[one["probabilities"][label] for label in model.classes_.tolist()] for one in told]
    np.testing.assert_array_equal(proba, model.predict_proba(rows))


def test_begins_with_the_columns_that_matter_most(fitted):
    model, frame = fitted
    rows = frame.iloc[:3]
    for k, one in enumerate(model.explain(rows)):
        assert list(one)[:4] == ["kind", "prediction", "probabilities", "because"]
        because = one["because"]
        assert because["label"] == one["prediction"]
        assert because["probability"] == pytest.approx(one["probabilities"][one["prediction"]], abs=1e-9)
        assert len(because["columns"]) <= 5
        sizes = [abs(column["contribution"]) for column in because["columns"]]
        assert sizes == sorted(sizes, reverse=True)
        for column in because["columns"]:
            assert (column["value"] is None) == bool(rows[column["column"]].isna().iloc[k])


def test_every_step_of_every_path_is_true(fitted):
    model, frame = fitted
    told = model.explain(frame.iloc[:6])
    for one in told:
        for part in one.get("trees", []) + one.get("cascades", []):
            assert all(holds(step) for step in part["path"])
            values = {step["feature"]: step["actual"] for step in part["path"]}
            assert set(values) <= {*frame.columns, "|f1|", "|f2|", "|f3|"}


def test_leaves_are_those_of_apply(fitted):
    model, frame = fitted
    told = model.explain(frame.iloc[:6])
    if "trees" in told[0]:
        leaves = [[tree["leaf"] for tree in one["trees"]] for one in told]
        np.testing.assert_array_equal(leaves, model.apply(frame.iloc[:6]))
    elif "cascades" in told[0]:
        leaves = [one["cascades"][0]["leaf"] for one in told]
        np.testing.assert_array_equal(leaves, model.decision_path(frame.iloc[:6]))


def test_layers_end_in_the_final_score(fitted):
    model, frame = fitted
    for one in model.explain(frame.iloc[:6]):
        if "layers" in one:
            assert one["layers"][-1]["scores"] == one["votes"]
            assert one["layers"][-1]["margin"] == one["margin"]
            asked = {f["feature"] for layer in one["layers"] for f in layer["features"]}
            assert asked <= {*frame.columns, "earlier layers"}


def test_support_points_are_training_rows(fitted):
    model, frame = fitted
    y = messy(70)[1]
    for one in model.explain(frame.iloc[:6]):
        parts = one.get("cascades", [one])
        for support in (point for part in parts for point in part.get("support", [])):
            assert support["label"] == y[support["row"]]
            assert support["distance"] >= 0


@pytest.mark.parametrize("cls", classifiers(), ids=lambda c: c.__name__)
def test_three_classes_of_numbers_and_one_class(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    for y in (np.digitize(X[:, 0], [-0.5, 0.5]), np.full(60, 7)):
        model = deterministic(cls).fit(X, y)
        told = model.explain(X[:3])
        assert [one["prediction"] for one in told] == model.predict(X[:3]).tolist()
        assert set(told[0]["probabilities"]) == set(model.classes_.tolist())
