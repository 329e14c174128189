"""Tables of many columns are saved as text, checked as carefully as the values of few columns."""

import pickle

import numpy as np
import pandas as pd
import pytest

import surewood
from surewood.tables import TablePlan, TablePreparer, TableSchema, plan
from surewood.tables.text_state import MANY_COLUMNS, as_text


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(12, MANY_COLUMNS))).add_prefix("c")
    table["color"] = pd.Categorical(["red", "blue\x00", "ü"] * 4)
    table["grade"] = pd.Categorical([1, 2, 3] * 4, ordered=True)
    table["answer"] = ["yes", "no"] * 6
    return table


def test_plans_and_schemas_come_back_as_they_were(frame):
    for made in (plan(frame), TableSchema.learn(frame)):
        assert set(made.__getstate__()) <= {"text", "identifiers"}
        assert pickle.loads(pickle.dumps(made)) == made


def test_few_columns_are_saved_one_by_one(frame):
    assert "columns" in plan(frame[["c1", "color"]]).__getstate__()
    assert "kinds" in TableSchema.learn(frame[["c1"]]).__getstate__()


def test_values_that_json_does_not_know_are_saved_one_by_one(frame):
    table = frame.assign(day=pd.Categorical(pd.to_datetime(["2024-01-01", "2024-01-02"] * 6)))
    made = plan(table)
    assert as_text([pd.Timestamp("2024-01-01")], MANY_COLUMNS) is None
    assert "columns" in made.__getstate__()
    assert pickle.loads(pickle.dumps(made)) == made


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "3",
        '[["a"]]',
        '[["a", {"kind": "odd"}]]',
        '[["a", {"kind": "number", "unit": 3}]]',
        "[" * 9999,
    ],
)
def test_a_forged_plan_is_refused(text):
    with pytest.raises((ValueError, TypeError)):
        TablePlan(()).__setstate__({"text": text, "identifiers": ()})


@pytest.mark.parametrize(
    "text", ["[]", '[["number"], null, [], null]', '[["odd"], null, [null], null]', "[" * 9999]
)
def test_a_forged_schema_is_refused(text):
    with pytest.raises((ValueError, TypeError)):
        TableSchema([], None, []).__setstate__({"text": text})


def test_a_plan_whose_columns_are_no_plans_is_refused():
    with pytest.raises(ValueError, match="one plan per column"):
        TablePlan(()).__setstate__({"columns": ("a",), "identifiers": ()})
    with pytest.raises(ValueError, match="identifiers"):
        TablePlan(()).__setstate__({"columns": (), "identifiers": (3,)})


def test_a_saved_model_of_many_columns_predicts_the_same(frame, tmp_path):
    prepared = TablePreparer().fit(frame)
    model = surewood.BinnedForestClassifier(3, random_state=0, n_jobs=1)
    model.fit(prepared.transform(frame), [0, 1] * 6)
    again = surewood.load(surewood.save(model, tmp_path / "m.surewood"))
    expected = model.predict_proba(prepared.transform(frame))
    np.testing.assert_array_equal(again.predict_proba(prepared.transform(frame)), expected)
    kept = surewood.load(surewood.save(prepared, tmp_path / "p.surewood"))
    pd.testing.assert_frame_equal(kept.transform(frame), prepared.transform(frame))
