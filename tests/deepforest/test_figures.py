"""Deep forests in figures, pages and plots."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surewood import CascadeForestClassifier, MarginDeepForestClassifier
from surewood.base.describing import ReportRows
from surewood.bounds import scatter_ratio
from surewood.deepforest.figures import layer_curves, representation, representation_view
from surewood.tables import plain


@pytest.fixture(scope="module")
def fitted():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = MarginDeepForestClassifier(
        5,
        max_layers=3,
        study={"step": "literal", "patience": 9, "keep_held_out": True},
        random_state=0,
    ).fit(X, names)
    return model, X, names


def test_curves_have_a_point_per_layer(fitted):
    model, X, y = fitted
    curves = layer_curves(model, X, y)
    assert len(curves["layer"]) == len(curves["held_out_accuracy"]) == len(model.layers_)
    assert len(curves["accuracy"]) == len(curves["margin_ratio"]) == model.n_layers_
    assert curves["accuracy"][-1] == pytest.approx(model.score(X, y))
    assert set(layer_curves(model)) == {"layer", "held_out_accuracy", "held_out_margin_ratio"}


def test_a_view_of_what_a_layer_reads(fitted):
    model, X, y = fitted
    assert representation(model, X, 2).shape == (150, 4 + 3)
    assert representation(model, X, 2, scores_only=True).shape == (150, 3)
    view = representation_view(model, X, y, 2, max_points=60, seed=1)
    assert view.points.shape == (60, 2)
    assert view.view_ratio == pytest.approx(scatter_ratio(view.points, y[view.rows]))
    assert view.original_ratio > 0
    assert view.seed == 1


def test_what_is_missing_is_said(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match="layer must be between 2 and"):
        representation(model, X, 1)
    with pytest.raises(ValueError, match="X must be the training table of 150 rows"):
        representation(model, X[:5], 2)
    with pytest.raises(ValueError, match="labels that the model was not trained on"):
        layer_curves(model, X, np.full(150, "rose"))
    bare = MarginDeepForestClassifier(2, max_layers=1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"fit with study=\{'keep_held_out': True\}"):
        representation(bare, X, 2)


X, y = load_iris(return_X_y=True)
CHARTS = ["Accuracy by layer", "Margin ratio by layer", "Effective sample size"]


@pytest.fixture(scope="module", params=["margin", "cascade"])
def model(request):
    if request.param == "margin":
        return MarginDeepForestClassifier(4, forests=["random"], max_layers=2, random_state=0).fit(X, y)
    return CascadeForestClassifier(4, forests=["random"], max_layers=2, random_state=0).fit(X, y)


def test_key_figures_need_no_rows(model):
    facts = model.__report_facts__(None)
    figures = {one["label"]: one for one in facts["figures"]}
    last = model.layers_[model.n_layers_ - 1]
    assert figures["cross-validated accuracy"]["value"] == last.accuracy
    assert figures["cross-validated accuracy"]["word"] == "ESTIMATE"
    assert facts["sections"] == []


def test_charts(model):
    facts = plain(model.__report_facts__(ReportRows(X, y, y, True)))
    json.dumps(facts, allow_nan=False)
    titles = [block["title"] for block in facts["sections"][0]["blocks"]]
    weighted = isinstance(model, MarginDeepForestClassifier) and model.n_layers_ > 1
    expected = [*CHARTS[:2], *(["Weight α of each layer"] if weighted else []), CHARTS[2]]
    assert titles == [*expected, "Margins of the rows, layer by layer"]
    accuracy = facts["sections"][0]["blocks"][0]
    assert accuracy["mark"] == model.n_layers_
    assert [one["name"] for one in accuracy["variants"][0]["series"]] == ["cross-validated", "holdout"]
    views = facts["sections"][1]["blocks"]
    assert all(len(view["variants"][0]["x"]) == 150 for view in views)


def test_margins_by_layer(model):
    found = model.staged_margins(X, y)
    assert list(found) == [f"layer {t}" for t in range(1, model.n_layers_ + 1)]
    table = model.layer_table(X, y)
    assert table["kept"].sum() == model.n_layers_


def test_a_table_of_one_column_has_its_view():
    X, y = load_iris(return_X_y=True)
    model = MarginDeepForestClassifier(n_estimators=2, max_layers=1, random_state=0).fit(X[:, 2:3], y)
    facts = model.__report_facts__(ReportRows(X[:, 2:3], y, y, True))
    assert "t-SNE" in json.dumps(plain(facts))
