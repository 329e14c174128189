import numpy as np
import pandas as pd

from surewood.workflow.spreadsheet import safe_frame


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
