import numpy as np
import pandas as pd
import pytest

from surewood.deepforest import CascadeForestClassifier, MarginDeepForestClassifier
from surewood.deepforest.explaining import margin_of
from surewood.tables import begin_predict


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"useful": rng.normal(size=150), "noise": rng.normal(size=150)})
    return X, np.where(X["useful"] + 0.5 * rng.normal(size=150) > 0, "yes", "no")


def test_margin_of_scores():
    assert margin_of(np.array([0.2, 0.7, 0.1])) == pytest.approx(0.5)
    assert margin_of(np.array([1.0])) == 1.0


@pytest.mark.parametrize("layer_inputs", ["both", "scores"])
def test_layers_lead_to_the_final_score(data, layer_inputs):
    X, y = data
    study = {"layer_inputs": layer_inputs, "monitor": "neg_log_loss", "patience": 9}
    model = MarginDeepForestClassifier(5, forests=["random"], max_layers=3, study=study, random_state=0).fit(
        X, y
    )
    told = model.explain(X.iloc[:3])
    stages = list(model.model_.staged_scores(begin_predict(model, X.iloc[:3]), 1))
    for row, entry in enumerate(told):
        assert entry["kind"] == "margin_forest"
        assert sum(layer["weight"] for layer in entry["layers"]) == pytest.approx(1.0)
        assert entry["layers"][-1]["scores"] == entry["votes"]
        for layer, scores in zip(entry["layers"], stages):
            assert layer["scores"]["yes"] == pytest.approx(scores[row, 1])
            assert layer["vector"] == layer["forests"][0]["vector"]
        names = [one["feature"] for one in entry["layers"][0]["features"]]
        assert set(names) <= {"useful", "noise"}
    if layer_inputs == "scores" and model.n_layers_ > 1:
        assert {one["feature"] for one in told[0]["layers"][1]["features"]} == {"earlier layers"}


def test_rows_that_stopped_meet_no_later_layer(data):
    X, y = data
    study = {"monitor": "neg_log_loss", "patience": 9}
    model = CascadeForestClassifier(5, screening=0.9, max_layers=3, study=study, random_state=0).fit(X, y)
    for entry in model.explain(X.iloc[:40]):
        for layer in entry["layers"][:-1]:
            assert max(layer["scores"].values()) < layer["gate"]
