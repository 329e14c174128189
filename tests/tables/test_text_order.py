"""Text with an order of its own: numbers and dates, in frames, arrays and Parquet files."""

import numpy as np
import pandas as pd
import pytest

from surewood import BinnedForestClassifier
from surewood.tables import TableSchema
from surewood.tables.text_order import read_text, text_form


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (["1", "10", "2.5"], "number"),
        ([" 7 ", "-1e3"], "number"),
        (["1", "x"], None),
        (["nan"], None),
        (["inf", "1"], None),
        (["1e999"], None),
        (["2024-01-01", "2023-12-31 10:00"], "date"),
        (["31.12.2023", "1.2.2024"], "date"),
        (["31/12/2023", "1/2/2024"], "date, day first"),
        (["3/12/2023", "1/2/2024"], None),  # day or month first?
        (["2024-01-01", "soon"], None),
        (["red", "blue"], None),
        ([1, 2], None),
    ],
)
def test_form_of_distinct_values(values, form):
    assert text_form(values) == form


def test_what_is_not_of_the_form_is_missing():
    np.testing.assert_array_equal(read_text(["10", "?"], "number"), [10.0, np.nan])
    np.testing.assert_array_equal(read_text(["1970-01-02", "?"], "date"), [86400.0, np.nan])
    np.testing.assert_array_equal(read_text(["?"], "date"), [np.nan])


def test_a_frame_with_numbers_and_dates_as_text():
    frame = pd.DataFrame(
        {
            "size": ["10", "9", None],
            "day": ["2024-02-01", "2024-01-01", "2024-03-01"],
            "zip": pd.Categorical(["10", "9", "9"]),
            "job": ["clerk", "baker", None],
        }
    )
    schema = TableSchema.learn(frame)
    assert schema.kinds == ["number", "time", "category", "category"]
    assert schema.notes == [
        "column 'size' holds numbers as text; they are used in their order, not as categories.",
        "column 'day' holds dates as text; they are used in their order, not as categories.",
    ]
    table = schema.read(frame)
    np.testing.assert_array_equal(table.column(0), [10.0, 9.0, np.nan])
    assert table.column(1).argsort().tolist() == [1, 0, 2]
    later = frame.assign(size=["8", "many", "10"])
    np.testing.assert_array_equal(schema.read(later).column(0), [8.0, np.nan, 10.0])
    np.testing.assert_array_equal(schema.read(frame.assign(size=[1, 2, 3])).column(0), [1.0, 2.0, 3.0])
    named = TableSchema.learn(frame, ["size", "day", "zip", "job"])
    assert named.kinds == ["category"] * 4
    assert named.notes == []


def test_numbers_as_text_give_the_model_of_the_numbers(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=200).round(2), "b": rng.normal(size=200).round(2)})
    y = (X["a"] > X["b"]).to_numpy().astype(int)
    text = X.astype({"a": str})
    expected = BinnedForestClassifier(5, random_state=0).fit(X, y).predict_proba(X)
    model = BinnedForestClassifier(5, random_state=0).fit(text, y)
    np.testing.assert_array_equal(model.predict_proba(text), expected)
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    path = tmp_path / "table.parquet"
    text.assign(y=y).to_parquet(path)
    streamed = BinnedForestClassifier(5, random_state=0).fit(str(path), "y")
    np.testing.assert_array_equal(streamed.predict_proba(text), expected)
