"""The first pass over a Parquet file: labels, weights, categories, and sentences about what is wrong."""

import warnings

import numpy as np
import pandas as pd
import pytest

from surewood.tables import ParquetTable
from surewood.tables.parquet import read_training


def write(tmp_path, **columns):
    pd.DataFrame(columns).to_parquet(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def test_labels_are_coded_in_order_and_categories_are_sorted(tmp_path):
    path = write(tmp_path, a=[1.0, 2.0, 3.0], b=["y", "x", None], y=["no", "yes", "no"], w=[1.0, 2.0, 0.0])
    stream, y, classes, weight = read_training(ParquetTable(path, target="y", weight="w"), "from_dtype")
    assert y.tolist() == [0, 1, 0]
    assert classes.tolist() == ["no", "yes"]
    assert weight.tolist() == [1.0, 2.0, 0.0]
    assert stream.schema.categories == [None, ["x", "y"]]
    assert stream.kept is None


def test_rows_without_a_label_are_left_out_with_a_warning(tmp_path):
    path = write(tmp_path, a=[1.0, 2.0, 3.0], y=["no", None, "yes"])
    with pytest.warns(UserWarning, match="1 of 3 rows have no label in column 'y'"):
        stream, *_ = read_training(ParquetTable(path, target="y"), "from_dtype")
    assert stream.kept.tolist() == [True, False, True]
    np.testing.assert_array_equal(stream.column(0), [1.0, 3.0])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "requires y to be passed: name the target column"),
        ({"target": "y", "weight": "y"}, "target and weight are both 'y'"),
        ({"target": "y", "columns": ["a", "y"]}, "columns names 'y', which is the target or the weight"),
        ({"target": "y", "weight": "b"}, "the weight column 'b' of .* holds text"),
        ({"target": "y", "weight": "a"}, "the weight column 'a' of .* missing, infinite or negative"),
    ],
)
def test_mistakes_get_one_sentence(tmp_path, options, sentence):
    path = write(tmp_path, a=[1.0, -2.0], b=["x", "y"], y=[0, 1])
    with pytest.raises(ValueError, match=sentence):
        read_training(ParquetTable(path, **options), "from_dtype")


@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize(("dtype", "value"), [("int64", -(2**53) - 1), ("uint64", 2**64 - 1)])
def test_whole_numbers_that_are_rounded_are_named(tmp_path, statistics, dtype, value):
    edge = 2**53 if dtype == "uint64" else -(2**53)
    frame = pd.DataFrame(
        {"id": np.array([1, value, 3], dtype), "fine": np.array([edge, 0, 1], dtype), "y": list("aba")}
    )
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=2, write_statistics=statistics)
    table = ParquetTable(tmp_path / "t.parquet", target="y")
    with pytest.warns(
        UserWarning, match=r"^column 'id': whole numbers beyond 2\*\*53 are rounded; drop ident"
    ):
        read_training(table, "from_dtype")


def test_a_column_without_a_value_is_not_rounded(tmp_path):
    frame = pd.DataFrame({"id": pd.array([None, None], dtype="Int64"), "a": [1, 2], "y": list("ab")})
    frame.to_parquet(tmp_path / "t.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_training(ParquetTable(tmp_path / "t.parquet", target="y"), "from_dtype")
