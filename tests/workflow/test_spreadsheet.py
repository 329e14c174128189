import csv

import numpy as np
import pandas as pd

from surewood.workflow.spreadsheet import safe_frame, write_csv


def test_formulas_become_text_and_numbers_stay():
    frame = pd.DataFrame(
        {
            "=name": ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\tx", "plain", None],
            "n": [-1.5, 2.0, np.nan, -4.0, 5.0, 6.0, 7.0],
            "c": pd.Categorical(["=a", "b", "b", "b", "b", "b", "b"]),
        }
    )
    safe = safe_frame(frame)
    assert safe.columns.tolist() == ["'=name", "n", "c"]
    assert safe.iloc[:6, 0].tolist() == ["'=cmd|' /C calc'!A0", "'+1", "'-1", "'@SUM(A1)", "'\tx", "plain"]
    assert pd.isna(safe.iloc[6, 0])
    pd.testing.assert_series_equal(safe["n"], frame["n"])
    assert safe["c"].tolist()[:2] == ["'=a", "b"]
    assert frame.columns[0] == "=name"


def test_columns_of_one_name():
    frame = pd.DataFrame([["=a", "=b"]], columns=["x", "x"])
    assert safe_frame(frame).to_numpy().tolist() == [["'=a", "'=b"]]


def test_nothing_behind_a_carriage_return_begins_a_row(tmp_path):
    frame = pd.DataFrame({"a": ["x\r=cmd()", "y", None], "n": [0.1, np.nan, -2.0], "k": [1, 2, 3]})
    write_csv(frame, tmp_path / "t.csv", safe=True)
    for text in (write_csv(frame, safe=True), (tmp_path / "t.csv").read_bytes().decode()):
        rows = list(csv.reader(text.splitlines(keepends=True)))
        assert rows[1:] == [["x\r=cmd()", "0.1", "1"], ["y", "", "2"], ["", "-2.0", "3"]]
    named = pd.DataFrame({"b\r=cmd()": [1]})
    assert write_csv(named) == '"b\r=cmd()"\n1\n'


def test_other_tables_are_quoted_where_they_must_be_only():
    frame = pd.DataFrame({"a": ["x", "y\nz", 'q"', "1,5"], "n": [0.1, 2.0, 3.0, 4.0]})
    assert write_csv(frame) == frame.to_csv(index=False, lineterminator="\n")
