"""The fitted model: frozen, with its layers, importances, evidence and explanations."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine, make_classification

from surewood.bounds import Status
from surewood.certify import certify
from surewood.deepforest import CascadeForestClassifier, MarginDeepForestClassifier
from surewood.deepforest.blocks import Block
from surewood.deepforest.model import CascadeLayers, MarginLayer, MarginLayers, trace_layer
from surewood.tables import begin_predict


@pytest.fixture(scope="module")
def margin_forest():
    X, y = load_wine(return_X_y=True)
    study = {"patience": 9, "step": "literal", "monitor": "neg_log_loss"}
    model = MarginDeepForestClassifier(3, forests=["random"], max_layers=3, study=study, random_state=0)
    return model.fit(X, y), model.model_.reader.read(begin_predict(model, X))


def with_steps(layers, steps, mode):
    changed = [replace(layer, step=step) for layer, step in zip(layers.layers, steps)]
    return MarginLayers(changed, mode, layers.layer_inputs)


def test_scores_are_the_weighted_mean_of_the_layers_vectors(margin_forest):
    model, base = margin_forest
    layers = model.model_.layers
    walked = list(layers.walk(base))
    alphas = np.array(layers.alphas())
    vectors = np.array([members.mean(axis=0) for _, _, members, _ in walked])
    expected = np.einsum("t,tij->ij", alphas / alphas.sum(), vectors)
    np.testing.assert_allclose(walked[-1][-1], expected)


def test_importances_sum_to_one_whatever_the_scale_of_the_steps(margin_forest):
    model, _ = margin_forest
    layers = model.model_.layers
    small, large = (with_steps(layers, [s] * len(layers.layers), "literal") for s in (0.1, 10.0))
    np.testing.assert_allclose(small.importances(), large.importances())
    assert small.importances().sum() == pytest.approx(1.0)


@pytest.fixture(scope="module")
def cascade_forest():
    X, y = load_wine(return_X_y=True)
    model = CascadeForestClassifier(5, screening=0.8, max_layers=3, study={"patience": 9}, random_state=0)
    return model.fit(X, y), X


def test_rows_leave_at_the_gate_and_keep_their_scores(cascade_forest):
    model, X = cascade_forest
    layers = model.model_.layers
    base = model.model_.reader.read(begin_predict(model, X))
    before = None
    for layer, (active, inputs, vectors, scores) in zip(layers.layers, layers.walk(base)):
        assert inputs.matrix.n_rows == len(active) == vectors.shape[1]
        np.testing.assert_allclose(scores.sum(axis=1), 1.0)
        if before is not None:
            gone = np.setdiff1d(np.arange(len(X)), active)
            np.testing.assert_array_equal(scores[gone], before[0][gone])
            assert (before[0][gone].max(axis=1) >= before[1]).all()
        before = scores, layer.gate


def test_importances_of_one_layer_are_its_own(cascade_forest):
    model, _ = cascade_forest
    first = CascadeLayers(model.model_.layers.layers[:1])
    np.testing.assert_array_equal(first.importances(), model.model_.layers.layers[0].importances)


def test_what_class_vectors_gain_goes_back_to_the_columns():
    first = np.array([0.75, 0.25])
    assert trace_layer(first, None) is first
    np.testing.assert_allclose(trace_layer(np.array([0.1, 0.1, 0.4, 0.4]), first), [0.7, 0.3])
    np.testing.assert_allclose(trace_layer(np.array([0.6, 0.4]), first, sees_table=False), first)
    np.testing.assert_allclose(trace_layer(np.array([0.5, 0.5]), first), [0.5, 0.5])  # features only


def test_importances_of_layers_mix_by_their_weights():
    def layers(*importances, steps):
        made = [MarginLayer(Block([], 2), None, s, np.array(i)) for i, s in zip(importances, steps)]
        return MarginLayers(made, "simplex", "features")

    mixed = layers([1.0, 0.0], [0.0, 1.0], steps=(1.0, 0.75))
    np.testing.assert_allclose(mixed.importances(), [0.25, 0.75])
    np.testing.assert_array_equal(layers([0.0, 0.0], steps=(1.0,)).importances(), np.zeros(2))


@pytest.fixture(scope="module", params=[MarginDeepForestClassifier, CascadeForestClassifier])
def fitted(request):
    X, y = load_wine(return_X_y=True)
    return request.param(3, forests=["random", "extra"], max_layers=2, random_state=0).fit(X, y), X


def test_parameters_set_after_the_fit_change_nothing(fitted):
    model, X = fitted
    expected, evidence = model.predict_proba(X), list(model.__certificate_evidence__())
    before = model.get_params()
    changed = {"forests": ["extra"], "cv": 2, "max_layers": 7, "calibrate": False, "n_estimators": 9}
    model.set_params(**changed, study={"monitor": "margin_ratio", "patience": 1})
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    assert list(model.__certificate_evidence__()) == evidence
    assert model.forests_ == [("random", 3), ("extra", 3)]
    assert [f["kind"] for f in model.explain(X[:1])[0]["layers"][0]["forests"]] == ["random", "extra"]
    model.set_params(**before)


@pytest.mark.parametrize("cls", [CascadeForestClassifier, MarginDeepForestClassifier])
def test_only_the_holdout_is_a_guarantee(cls):
    X, y = make_classification(300, 5, flip_y=0.1, random_state=0)
    model = cls(5, max_layers=2, random_state=0).fit(X[:200], y[:200])
    certificate = certify(model, X[200:], y[200:])
    words = {entry.method: entry.status for entry in certificate.entries}
    assert words["held-out error"] == Status.ESTIMATE
    assert words["margin ratio (4.6)"] == Status.HEURISTIC
    assert [entry for entry in certificate.entries if entry.status == Status.GUARANTEE]
    own = {e.name: e for e in model.__certificate_evidence__()}
    assert own["held-out error"].value == pytest.approx(
        np.mean(model.held_out_scores_.argmax(axis=1) != model.held_out_labels_)
    )


def test_the_stated_theorem_is_vacuous_and_called_heuristic():
    X, y = load_iris(return_X_y=True)
    for rate in (4, None):
        model = MarginDeepForestClassifier(5, depth_schedule=rate, max_layers=2, random_state=0).fit(X, y)
        *_, theorem = model.__certificate_evidence__()
        assert theorem.name == "stated margin theorem (4.7)"
        assert theorem.value == 1.0


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"useful": rng.normal(size=150), "noise": rng.normal(size=150)})
    return X, np.where(X["useful"] + 0.5 * rng.normal(size=150) > 0, "yes", "no")


@pytest.mark.parametrize("layer_inputs", ["both", "scores"])
def test_layers_lead_to_the_final_score(noisy, layer_inputs):
    X, y = noisy
    study = {"layer_inputs": layer_inputs, "monitor": "neg_log_loss", "patience": 9}
    model = MarginDeepForestClassifier(5, forests=["random"], max_layers=3, study=study, random_state=0).fit(
        X, y
    )
    told = model.explain(X.iloc[:3])
    stages = list(model.model_.staged_scores(begin_predict(model, X.iloc[:3]), 1))
    for row, entry in enumerate(told):
        assert entry["kind"] == "margin_forest"
        assert entry["margin"] == pytest.approx(abs(entry["votes"]["yes"] - entry["votes"]["no"]))
        assert sum(layer["weight"] for layer in entry["layers"]) == pytest.approx(1.0)
        assert entry["layers"][-1]["scores"] == entry["votes"]
        for layer, scores in zip(entry["layers"], stages):
            assert layer["scores"]["yes"] == pytest.approx(scores[row, 1])
            assert layer["vector"] == layer["forests"][0]["vector"]
        names = [one["feature"] for one in entry["layers"][0]["features"]]
        assert set(names) <= {"useful", "noise"}
    if layer_inputs == "scores" and model.n_layers_ > 1:
        assert {one["feature"] for one in told[0]["layers"][1]["features"]} == {"earlier layers"}


def test_rows_that_stopped_meet_no_later_layer(noisy):
    X, y = noisy
    study = {"monitor": "neg_log_loss", "patience": 9}
    model = CascadeForestClassifier(5, screening=0.9, max_layers=3, study=study, random_state=0).fit(X, y)
    for entry in model.explain(X.iloc[:40]):
        for layer in entry["layers"][:-1]:
            assert max(layer["scores"].values()) < layer["gate"]


def test_layer_by_layer():
    X, y = load_iris(return_X_y=True)
    model = MarginDeepForestClassifier(3, forests=["random"], max_layers=2, random_state=0).fit(X, y)
    explained = model.explain(X[:1])[0]
    steps = model.__explanation_steps__(explained)
    assert len(steps) == 1 + len(explained["layers"])
    assert steps[0]["lines"][0].startswith("all layers together  0: ")
    assert steps[1]["title"].startswith("Layer 1")
    assert any(line.startswith("splits on the path, by feature: ") for line in steps[1]["lines"])
    assert any(line.startswith("forests: ") for line in steps[1]["lines"])


@pytest.mark.parametrize(
    ("parameters", "used"),
    [
        ({"max_layers": 1}, False),  # nothing is compared
        ({"max_layers": 2}, True),
        ({"max_layers": 1, "depth_schedule": "auto"}, True),
        ({"max_layers": 1, "forests": "auto"}, True),
    ],
)
def test_the_held_out_error_says_whether_it_was_used_for_a_choice(noisy, parameters, used):
    fixed = {"forests": ["random"], "depth_schedule": 8, "cv": 2, "random_state": 0}
    model = MarginDeepForestClassifier(2, **{**fixed, **parameters}).fit(*noisy)
    evidence = next(model.__certificate_evidence__())
    assert evidence.used_for_selection is used
