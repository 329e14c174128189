"""Deep forests in figures, pages and plots."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surewood import CascadeForestClassifier, MarginDeepForestClassifier
from surewood.base.describing import ReportRows
from surewood.tables import plain

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
    assert table["kept"].sum() == table["accuracy"].notna().sum() == model.n_layers_
    with pytest.raises(ValueError, match="labels that the model was not trained on"):
        model.layer_table(X, np.full(150, "rose"))


def test_a_table_of_one_column_has_its_view():
    X, y = load_iris(return_X_y=True)
    model = MarginDeepForestClassifier(n_estimators=2, max_layers=1, random_state=0).fit(X[:, 2:3], y)
    facts = model.__report_facts__(ReportRows(X[:, 2:3], y, y, True))
    assert "t-SNE" in json.dumps(plain(facts))
