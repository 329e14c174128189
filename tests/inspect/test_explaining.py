"""Contributions of any classifier: labels, pipelines, frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from surewood import BinnedForestClassifier, load, save
from surewood.base.base import class_codes
from surewood.certify import CostClassifier
from surewood.inspect import contributions
from surewood.inspect.explaining import open_rows, unwrap
from surewood.tables import TablePreparer


def test_positions_in_the_classes():
    codes = class_codes(np.array(["a", "b", "c"]), ["c", "a", "c"])
    assert codes.tolist() == [2, 0, 2]
    assert codes.dtype == np.int64
    assert class_codes([10, 20], np.array([[20], [10]])).tolist() == [1, 0]


def test_an_unknown_label_is_named():
    with pytest.raises(ValueError, match="labels that the model was not trained on, such as 'd'"):
        class_codes(["a"], ["a", "d"])


def test_rows_of_our_models_and_others_predict_the_same_as_the_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    y = X[:, 0] > 0
    same = np.tile(np.arange(50)[:, None], (1, 2))
    for model in (BinnedForestClassifier(5, random_state=0), LogisticRegression()):
        opened = open_rows(unwrap(model.fit(X, y), X))
        np.testing.assert_allclose(opened.predict_mixed(same), model.predict_proba(X))
        assert opened.cells()[3] == X[3].tolist()
        assert opened.n_rows == 50


def test_frames_of_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, None, 0.0]})
    model = BinnedForestClassifier(3, random_state=0).fit(frame, [0, 1, 1])
    opened = open_rows(unwrap(model, frame))
    assert opened.cells() == [[0.0, 1.0], [1.0, None], [2.0, 0.0]]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 300
    born = pd.to_datetime("1960-01-01") + pd.to_timedelta(rng.integers(0, 15000, n), unit="D")
    frame = pd.DataFrame(
        {
            "born": born.strftime("%Y-%m-%d"),
            "job": rng.choice(["clerk", "baker", "smith"], n),
            "pay": rng.normal(1000, 100, n).round(2),
        }
    )
    y = np.where((born.year > 1980) ^ (frame["job"] == "clerk"), "yes", "no")
    return frame, y


def test_parts_of_a_date_are_one_column_of_the_users_table(table, tmp_path):
    frame, y = table
    model = Pipeline([("prepare", TablePreparer()), ("forest", BinnedForestClassifier(30, random_state=0))])
    model.fit(frame, y)
    found = contributions(model, frame[:5])
    assert sorted(found.columns) == ["born", "job", "pay"]
    np.testing.assert_allclose(found.predictions, model.predict_proba(frame[:5]), atol=1e-9)
    assert found.cells[0][found.columns.index("born")] == frame["born"][0]
    assert found.top(0)[0]["column"] in ("born", "job")
    save(model, tmp_path / "m.surewood")
    again = contributions(load(tmp_path / "m.surewood"), frame[:5])
    np.testing.assert_array_equal(again.values, found.values)
    given = contributions(model, frame[:5], background=frame)
    np.testing.assert_allclose(given.expected, model.predict_proba(frame).mean(axis=0), atol=1e-9)


def test_columns_of_one_hot_encoders_are_one(table):
    frame, y = table
    encode = make_column_transformer((OneHotEncoder(), ["job"]), (StandardScaler(), ["pay"]))
    model = make_pipeline(encode, LogisticRegression()).fit(frame, y)
    found = contributions(model, frame[:3], background=frame)
    assert found.columns == ["born", "job", "pay"]
    assert not found.values[:, 0].any()  # the model does not read it
    np.testing.assert_allclose(found.predictions, model.predict_proba(frame[:3]), atol=1e-12)


def test_models_of_other_libraries_on_arrays_and_frames():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] > X[:, 1]
    model = HistGradientBoostingClassifier(max_iter=20).fit(X, y)
    found = contributions(model, X[:3], X[:100])
    assert found.columns == ["x0", "x1", "x2", "x3"]
    np.testing.assert_allclose(found.predictions, model.predict_proba(X[:3]), atol=1e-12)
    with pytest.raises(
        ValueError, match=r"^HistGradientBoostingClassifier keeps no rows to compare with; give"
    ):
        contributions(model, X[:3])
    with pytest.raises(
        ValueError, match=r"^background must have the 4 columns of the training table, got 3\.$"
    ):
        contributions(model, X[:3], X[:, :3])
    with pytest.raises(TypeError, match=r"^model must have a predict_proba method, got int\.$"):
        contributions(3, X[:3])


def test_a_decision_rule_is_explained_by_its_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = BinnedForestClassifier(10, random_state=0).fit(X, X[:, 0] > 0)
    found = contributions(CostClassifier(model, [[0, 1], [5, 0]]), X[:2])
    np.testing.assert_array_equal(found.values, model.contributions(X[:2]).values)


@pytest.mark.parametrize("name", ["forest", "cascade", "margin_forest"])
def test_sampled_values_agree_with_those_of_shap(name, moons, three_classes, request):
    """shap's exact explainer adds up all coalitions; ours is within its standard errors."""
    shap = pytest.importorskip("shap")
    model = request.getfixturevalue(name)
    X, _ = three_classes if name == "margin_forest" else moons
    background, rows = X[:40], X[60:64]
    masker = shap.maskers.Independent(background, max_samples=len(background))
    theirs = shap.ExactExplainer(model.predict_proba, masker)(rows).values
    ours = contributions(model, rows, background, n_orders=40)
    assert ours.method == "sampled"
    apart = np.abs(ours.values - theirs)
    assert (apart <= 3 * ours.standard_error + 1e-6).mean() > 0.95
    assert apart.max() < 0.1
