"""Columns and classes of the data."""

import numpy as np
import pandas as pd

from surewood.report.table_facts import MAX_COLUMNS, class_facts, column_facts, column_names


def test_columns_have_kind_missing_fraction_and_range():
    frame = pd.DataFrame(
        {
            "size": [1.0, np.nan, 3.0, 4.0],
            "kind": pd.Categorical(["a", "b", "a", "a"]),
            "day": pd.to_datetime(["2024-01-02", "2024-03-04", "2024-02-01", "2024-01-02"]),
            "same": [7, 7, 7, 7],
            "none": [np.nan] * 4,
        }
    )
    size, kind, day, same, none = column_facts(object(), frame)
    assert (size["missing"], size["distinct"], size["range"]) == (0.25, 3, "1 to 4, median 3")
    assert (kind["kind"], kind["range"]) == ("category", "a (75 %), b (25 %)")
    assert day["range"] == "2024-01-02 to 2024-03-04"
    assert same["range"] == "always 7"
    assert none["range"] == "no value"


def test_wide_tables_are_cut_and_plain_arrays_have_numbered_columns():
    X = np.zeros((3, MAX_COLUMNS + 5))
    assert len(column_facts(object(), X)) == MAX_COLUMNS
    assert column_names(object(), X)[:2] == ["x0", "x1"]


def test_classes_come_by_frequency_with_their_holdout_rows():
    facts = class_facts(["a", "b", "b", "b"], ["b", "a", "a"])
    assert [(f["label"], f["rows"], f["share"], f["holdout_rows"]) for f in facts] == [
        ("b", 3, 0.75, 1),
        ("a", 1, 0.25, 2),
    ]
