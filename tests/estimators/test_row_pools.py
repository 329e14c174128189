"""Mixed rows have the cells, and the types, of the rows that they are made of."""

import numpy as np
import pandas as pd

from surewood.estimators.row_pools import FramePool, MatrixPool


def test_matrices_of_any_type():
    rows, others = np.array([[1, 2], [3, 4]]), np.array([[1, 5]])
    pool = MatrixPool(rows, others, ["a", "b"])
    assert pool.mixed(np.array([[0, 2], [2, 1]])).tolist() == [[1, 5], [1, 4]]
    codes = pool.codes()
    assert codes[0, 0] == codes[2, 0] != codes[1, 0]
    text = MatrixPool(np.array([["u", 1.0]], dtype=object), np.array([["v", 2.0]], dtype=object), ["a", "b"])
    assert text.mixed(np.array([[1, 0]])).tolist() == [["v", 1.0]]


def test_missing_values_are_equal_to_each_other():
    pool = MatrixPool(np.array([[np.nan]]), np.array([[np.nan], [0.0]]), ["a"])
    assert pool.codes()[:, 0].tolist() == [0, 0, 1]


def test_frames_keep_the_types_of_their_columns():
    frame = pd.DataFrame(
        {
            "n": pd.array([1, None, 3], dtype="Int64"),
            "c": pd.Categorical(["u", "v", "u"]),
            "t": pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"]),
            "s": ["x", None, "y"],
        }
    )
    pool = FramePool(frame.iloc[:1], frame.iloc[1:])
    mixed = pool.mixed(np.array([[0, 1, 2, 0], [1, 0, 0, 1]]))
    assert mixed.dtypes.tolist() == frame.dtypes.tolist()
    assert mixed["c"].tolist() == ["v", "u"]
    assert mixed["t"].dt.year.tolist() == [2022, 2020]
    assert pool.codes()[:, 1].tolist() == [0, 1, 0]


def test_categories_of_both_sides_are_known():
    first = pd.DataFrame({"c": pd.Categorical(["u"])})
    second = pd.DataFrame({"c": pd.Categorical(["v"])})
    assert FramePool(first, second).mixed(np.array([[1], [0]]))["c"].tolist() == ["v", "u"]
