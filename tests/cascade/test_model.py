"""The fitted model: held-out scores, evidence as fit recorded it, exits, explanations, facts for the page."""

import json

import numpy as np
import pandas as pd
import pytest

from surewood import DeepCascadeSVMClassifier, DeepCascadeSVMClassifierCV
from surewood.base.describing import ReportRows
from surewood.bounds import cascade_complexity, leaf_log_growth
from surewood.cascade.chain import Path
from surewood.cascade.model import LeafCalibrator
from surewood.cascade.report_facts import explanation_steps
from surewood.cascade.training import out_of_fold, prepare_all
from surewood.certify import certify
from surewood.tables import plain
from tests.cascade.conftest import small_problem

SETTINGS = {"max_leaves": 3, "fractions": (0.3, 0.6), "degrees": (1, 2, 3), "random_state": 0}

# --- held-out scores and calibration -----------------------------------------------------------------------


def test_rows_are_scored_by_cascades_that_did_not_see_them():
    plan, sample = small_problem()
    (task,) = prepare_all(plan, sample)
    path = Path((1, 0), (1,))
    found = out_of_fold(plan, sample, [task], [path], plan.calibration_folds)
    assert np.isfinite(found.scores).all()
    training_rows, held_out = plan.calibration_folds[2]
    alone = task.build(path, training_rows)
    assert alone.plus.sum() + alone.minus.sum() == len(training_rows)
    alone = alone.evaluate(sample.design[held_out])
    np.testing.assert_array_equal(found.scores[held_out, 1], 0.5 * alone.scores)
    np.testing.assert_array_equal(found.leaf[held_out, 0], alone.leaf)
    np.testing.assert_array_equal(found.distance[held_out, 0], np.abs(alone.scores))


def test_leaves_of_different_reliability_get_different_probabilities():
    rng = np.random.default_rng(0)
    codes, leaf = rng.integers(0, 2, 400), np.repeat([0, 1], 200)
    sure = np.where(codes == 1, 1.0, -1.0)
    luck = np.where(rng.random(400) < 0.6, sure, -sure)
    decision = np.where(leaf == 0, sure, luck)
    scores = np.column_stack([-decision, decision]) / 2
    calibrator = LeafCalibrator().fit(scores, codes, np.ones(400), leaf)
    proba = calibrator.transform(scores, leaf)
    np.testing.assert_array_equal(proba.argmax(axis=1), scores.argmax(axis=1))
    assert proba[leaf == 0].max(axis=1).mean() > 0.9
    assert 0.5 < proba[leaf == 1].max(axis=1).mean() < 0.75


def test_leaves_with_few_points_share_a_calibrator():
    rng = np.random.default_rng(0)
    scores, leaf = rng.normal(size=(50, 3)), np.r_[np.zeros(45, dtype=int), np.ones(5, dtype=int)]
    calibrator = LeafCalibrator().fit(scores, rng.integers(0, 3, 50), np.ones(50), leaf)
    assert list(calibrator.by_leaf_) == [0]
    new = calibrator.transform(scores, np.full(50, 7))
    np.testing.assert_allclose(new.sum(axis=1), 1.0)


def test_without_calibration_there_are_no_probabilities(moons):
    model = DeepCascadeSVMClassifier(**SETTINGS, calibrate=False).fit(*moons)
    assert not hasattr(model, "predict_proba")
    model.set_params(calibrate=True)
    with pytest.raises(AttributeError, match="fitted with calibrate=False"):
        model.predict_proba(moons[0])
    assert model.explain(moons[0][:1])[0]["probabilities"] is None


# --- evidence and ledger -----------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [DeepCascadeSVMClassifier, DeepCascadeSVMClassifierCV])
def test_parameters_set_after_the_fit_change_no_evidence(moons, cls):
    model = cls(**SETTINGS).fit(*moons)
    counts, estimate = model.__certificate_evidence__()
    ledger = model.ledger().to_frame()
    model.set_params(max_leaves=1, degrees=(1,), kernel="rbf", study={"growth": "sum"})
    later, later_estimate = model.__certificate_evidence__()
    assert (later.n_families, later.max_leaves) == (counts.n_families, 3)
    np.testing.assert_array_equal(later.complexity, counts.complexity)
    assert later_estimate.value == estimate.value
    pd.testing.assert_frame_equal(model.ledger().to_frame(), ledger)


def fixed_features(X, y):
    evidence = DeepCascadeSVMClassifier(max_leaves=1, C=1.0, random_state=0).fit(X, y).model_.evidence()[0]
    held = {condition.text: condition.holds for condition in evidence.conditions()}
    return evidence.affine_features, held["leaf classes do not change with the scaling of the features"]


def test_representations_learned_from_the_sample_break_the_fixed_features(moons):
    X, y = moons
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert fixed_features(frame, y) == (True, True)
    missing = frame.copy()
    missing.loc[3, "a"] = np.nan  # imputed with a mean, and an indicator column
    assert fixed_features(missing, y) == (False, False)
    category = frame.assign(c=pd.Categorical(np.where(X[:, 0] > 0, "left", "right")))  # one-hot columns
    assert fixed_features(category, y) == (False, False)


def test_ledger_is_that_of_the_bounds(model):
    found = model.search_[0]
    ledger = model.ledger()
    growth = leaf_log_growth(model.cascades_[0].degrees, 2, 160)
    np.testing.assert_allclose(ledger.complexity_term, 4e-3 * cascade_complexity(growth, 160))
    np.testing.assert_array_equal(ledger.correct, found.plus)
    score = found.minus.sum() / 160 + ledger.term.sum()
    assert score == pytest.approx(found.score / 160)
    assert ledger.path[0].startswith("|f1| > ")
    assert ledger.path[-1].count("<=") == 2


def test_certificates(model, moons):
    X, y = moons
    own = model.__certificate_evidence__()
    cascade, estimate = own
    assert cascade.n_samples == 160
    assert cascade.conditions()
    assert all(condition.holds for condition in cascade.conditions())
    assert 0 <= estimate.value < 0.5
    assert "GUARANTEE" in str(certify(model, X[160:], y[160:]))
    weighted = DeepCascadeSVMClassifier(max_leaves=1, random_state=0).fit(X, y, np.full(len(y), 0.5))
    evidence = weighted.__certificate_evidence__()[0]
    assert not all(condition.holds for condition in evidence.conditions())


# --- where rows leave --------------------------------------------------------------------------------------


def test_exits_count_every_row_once(model, moons):
    X, y = moons
    table = model.exits(X, y)
    assert table["points"].sum() == len(y)
    assert (table["points"] * table["accuracy"]).sum() == pytest.approx(model.score(X, y) * len(y))
    np.testing.assert_array_equal(table["points"], np.bincount(model.decision_path(X), minlength=3))
    assert (np.diff(table["kernel_values"]) > 0).all()
    assert "accuracy" not in model.exits(X)


def test_exits_of_one_cascade_per_class(iris_model, iris):
    X, y = iris
    table = iris_model.exits(X, y)
    assert table.groupby("cascade")["points"].sum().tolist() == [150, 150, 150]
    assert set(iris_model.ledger()) == {0, 1, 2}


def test_margins_are_positive_where_the_prediction_is_right(model, iris_model, moons, iris):
    for fitted, (X, y) in ((model, moons), (iris_model, iris)):
        margins = fitted.margins(X, y)
        np.testing.assert_array_equal(margins > 0, fitted.predict(X) == y)


def test_latency_curve(model, moons):
    X, y = moons
    curve = model.latency_curve(X[160:], y[160:])
    own = curve[curve["scale"] == 1.0].iloc[0]
    assert own["accuracy"] == pytest.approx(model.score(X[160:], y[160:]))
    assert curve["kernel_values"].is_monotonic_increasing
    assert curve["left_at_first"].iloc[0] == 1.0
    assert curve["kernel_values"].iloc[0] == model.cascades_[0].nodes[0].n_support
    assert curve["left_at_first"].iloc[-1] == 0.0
    with pytest.raises(ValueError, match="scales must be numbers of at least 0"):
        model.latency_curve(X, y, [-1.0])


# --- explanations ------------------------------------------------------------------------------------------


def test_paths_are_those_of_the_prediction(model, moons):
    X, _ = moons
    leaf, predicted, decision = model.decision_path(X), model.predict(X), model.decision_function(X)
    for row, explained in enumerate(model.explain(X[:30])):
        (path,) = explained["cascades"]
        assert explained["prediction"] == predicted[row]
        assert path["leaf"] == leaf[row]
        assert [node["goes_on"] for node in path["nodes"]] == [True] * leaf[row] + [False]
        assert path["nodes"][-1]["decision"] == pytest.approx(decision[row])
        assert len(path["path"]) == min(leaf[row] + 1, 2)  # the last of three nodes has no threshold
        assert path["support"][0]["distance"] <= path["support"][-1]["distance"]
    json.dumps(model.explain(X[:3]), allow_nan=False)


def test_every_class_has_its_own_path(iris_model, iris):
    explained = iris_model.explain(iris[0][:2])
    assert [one["class"] for one in explained[0]["cascades"]] == [0, 1, 2]
    assert set(explained[0]["votes"]) == {0, 1, 2} or set(explained[0]["votes"]) == {"0", "1", "2"}


def test_generic_cascades_name_their_families(generic_model, moons):
    model, X = generic_model, moons[0]
    leaf = model.decision_path(X)
    for row, explained in enumerate(model.explain(X[:20])):
        (path,) = explained["cascades"]
        assert path["leaf"] == leaf[row]
        assert path["family"] == type(model.leaf_families_[leaf[row]]).__name__
        assert all(node["split"] == "LinearFamily" for node in path["nodes"])
        assert np.isclose(sum(explained["probabilities"].values()), 1.0)


NODES = [
    {"node": 0, "degree": 1, "distance": 0.25, "threshold": 0.5, "goes_on": True},
    {"node": 1, "degree": 2, "distance": 1.5, "threshold": None, "goes_on": False},
]


def explained_path(name, support=()):
    return {
        "class": name,
        "leaf": 1,
        "correct": 30.0,
        "errors": 2.0,
        "nodes": NODES,
        "support": list(support),
    }


def test_the_path_of_a_row_in_words():
    (path,) = explanation_steps(None, {"prediction": "a", "votes": {}, "cascades": [explained_path(None)]})
    assert path["title"] == "Path through the cascade"
    assert path["lines"] == [
        "classifier 1 (a polynomial SVM of degree 1): distance 0.25 is at most 0.5; too near the boundary, "
        "goes on",
        "classifier 2 (a polynomial SVM of degree 2): distance 1.5; the last one, it decides",
        "leaf 2: 30 training rows correct, 2 errors",
    ]


def test_of_several_cascades_the_best_two_are_shown():
    support = [{"row": 4, "label": "b", "distance": 0.1}]
    votes = {"a": 0.1, "b": 2.0, "c": 1.0}
    explained = {
        "prediction": "b",
        "votes": votes,
        "cascades": [explained_path("a"), explained_path("b", support), explained_path("c")],
    }
    steps = explanation_steps(None, explained)
    assert [step["title"] for step in steps] == [
        "Votes",
        "Cascade for b",
        "Cascade for c",
        "Nearest support vectors",
    ]
    assert steps[0]["lines"][1:] == ["b: 2", "c: 1", "a: 0.1"]
    assert steps[-1]["support"] == support


# --- facts for the page ------------------------------------------------------------------------------------


def test_key_figures_need_no_rows(model):
    facts = model.__report_facts__(None)
    figures = {one["label"]: one["value"] for one in facts["figures"]}
    assert facts["title"] == "Deep cascade SVM"
    assert figures["leaves in the longest"] == model.cascades_[0].n_leaves
    assert facts["sections"] == []


def test_charts_of_a_cascade(model, moons):
    X, y = moons
    facts = plain(model.__report_facts__(ReportRows(X, y, y, True)))
    json.dumps(facts, allow_nan=False)
    kinds = [block["kind"] for section in facts["sections"] for block in section["blocks"]]
    assert kinds == ["flow", "bars", "lines", "table"]
    stages = facts["sections"][0]["blocks"][0]["variants"][0]["stages"]
    assert stages[0]["arrive"] == len(y)
    assert stages[1]["arrive"] == stages[0]["arrive"] - stages[0]["points"]
    table = facts["sections"][1]["blocks"][0]
    assert [row[5] for row in table["rows"]] == [stage["points"] for stage in stages]


def test_a_single_leaf_has_a_sentence_instead_of_charts(moons):
    X, y = moons
    model = DeepCascadeSVMClassifier(1, degrees=(1,), C=1.0, random_state=0).fit(X, y)
    facts = model.__report_facts__(ReportRows(X, y, y, True))
    assert [section["title"] for section in facts["sections"]] == ["Leaf by leaf"]
    assert "single classifier" in facts["sections"][0]["text"]


def test_facts_of_a_cascade_of_any_classifiers(generic_model, moons):
    model, (X, y) = generic_model, moons
    facts = plain(model.__report_facts__(ReportRows(X, y, y, False)))
    assert facts["figures"][0]["value"] == len(model.ledger())
    assert sum(leaf.points for leaf in model.leaf_flow(X, y)["all"]) == len(y)
    with pytest.raises(ValueError, match="part must be 0, this model is one cascade; got 1"):
        model.leaf_terms(1)
