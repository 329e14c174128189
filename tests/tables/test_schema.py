"""Every kind of column, from every kind of table, in training and later; rare categories."""

from __future__ import annotations

import datetime
import pickle
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from surewood import BinnedForestClassifier
from surewood.tables import TablePlan, TableSchema
from surewood.tables.schema import FEW_CATEGORIES, MIN_ROWS, read_text, row_weight, stands_alone, text_form

pl = pytest.importorskip("polars")

needs_pandas_3 = pytest.mark.skipif(pd.__version__ < "3", reason="an OverflowError of pandas 2")


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
    assert schema.text_forms == ["number", "date", None, None]
    table = schema.read(frame)
    np.testing.assert_array_equal(table.column(0), [10.0, 9.0, np.nan])
    assert table.column(1).argsort().tolist() == [1, 0, 2]
    later = frame.assign(size=["8", "many", "10"])
    np.testing.assert_array_equal(schema.read(later).column(0), [8.0, np.nan, 10.0])
    np.testing.assert_array_equal(schema.read(frame.assign(size=[1, 2, 3])).column(0), [1.0, 2.0, 3.0])
    named = TableSchema.learn(frame, ["size", "day", "zip", "job"])
    assert named.kinds == ["category"] * 4
    assert named.text_forms is None


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


@pytest.mark.parametrize("forms", ["text", ["numbers"], [7, None], ["no such form", None], [None, "numbers"]])
def test_forged_forms_of_text_are_refused(forms):
    schema = TableSchema.learn(pd.DataFrame({"a": ["1.5", "2.5"], "b": ["x", "y"]}))
    state = schema.__getstate__()
    pickle.loads(pickle.dumps(schema))
    state["text_forms"] = forms
    with pytest.raises(ValueError, match="text_forms"):
        TableSchema.__new__(TableSchema).__setstate__(state)


def test_what_is_derived_from_categories_is_never_read_from_a_file():
    schema = TableSchema.learn(pd.DataFrame({"a": ["x", "y"]}))
    again = TableSchema.__new__(TableSchema)
    again.__setstate__({**schema.__getstate__(), "_category_indexes": [pd.Index(["y", "x"])]})
    assert again.read(pd.DataFrame({"a": ["x", "y"]})).column(0).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("categories", [["x", "y"], 7, "text", False, (), {}])
def test_only_a_column_of_categories_has_any(categories):
    schema = TableSchema.learn(np.zeros((2, 1)))
    with pytest.raises(ValueError, match="a column of categories must have a list of them, and no other"):
        TableSchema.__new__(TableSchema).__setstate__({**schema.__getstate__(), "categories": [categories]})


@pytest.mark.parametrize(
    "categories",
    [["x", "y", "x"], [1, 1.0], [(2**61 - 1) * k for k in range(100_000)]],
    ids=["repeated", "equal", "colliding"],
)
def test_categories_that_no_training_finds_are_refused_at_once(categories):
    schema = TableSchema.learn(pd.DataFrame({"c": ["a", "b"]}))
    with pytest.raises(ValueError, match="the categories of a column must be distinct"):
        TableSchema.__new__(TableSchema).__setstate__({**schema.__getstate__(), "categories": [categories]})


def test_a_plan_whose_columns_are_no_plans_is_refused():
    with pytest.raises(ValueError, match="one plan per column"):
        TablePlan(()).__setstate__({"columns": ("a",), "identifiers": ()})
    with pytest.raises(ValueError, match="identifiers"):
        TablePlan(()).__setstate__({"columns": (), "identifiers": (3,)})


def both(frame):
    return [frame, pl.from_pandas(frame)]


MESSY = pd.DataFrame(
    {
        "int": [3, 1, 2],
        "nullable": pd.array([1, None, 3], dtype="Int64"),
        "flag": [True, False, True],
        "text": ["b", None, "a"],
        "category": pd.Categorical(["low", "high", None], categories=["low", "mid", "high"], ordered=True),
        "when": pd.to_datetime(["1970-01-02 00:00:00", None, "1970-01-01 00:00:01"]),
    }
)


@pytest.mark.parametrize("frame", both(MESSY), ids=["pandas", "polars"])
def test_kinds_and_values(frame):
    schema = TableSchema.learn(frame)
    assert schema.kinds == ["number", "number", "number", "category", "category", "time"]
    table = schema.read(frame)
    np.testing.assert_array_equal(table.column(0), [3, 1, 2])
    np.testing.assert_array_equal(table.column(1), [1, np.nan, 3])
    np.testing.assert_array_equal(table.column(2), [1, 0, 1])
    np.testing.assert_array_equal(table.column(3), [1, np.nan, 0])
    np.testing.assert_array_equal(table.column(5), [86400, np.nan, 1])
    assert table.names == list(MESSY.columns)
    assert table.is_category.tolist() == [False, False, False, True, True, False]
    assert table.matrix().shape == (3, 6)
    np.testing.assert_array_equal(table.columns(0, 6), table.matrix())


def test_ordered_categories_keep_their_order():
    schema = TableSchema.learn(MESSY)
    assert schema.categories[4] == ["low", "high"]
    np.testing.assert_array_equal(schema.read(MESSY).column(4), [0, 1, np.nan])


def test_the_same_value_has_the_same_code_in_any_container():
    schema = TableSchema.learn(MESSY[["text"]])
    for later in (
        pd.DataFrame({"text": ["a", "b", "new", None]}),
        pd.DataFrame({"text": pd.Categorical(["a", "b", "new", None], categories=["new", "b", "a"])}),
        pl.DataFrame({"text": ["a", "b", "new", None]}),
        pd.DataFrame({"text": pd.array(["a", "b", "new", None], dtype="string")}),
    ):
        np.testing.assert_array_equal(schema.read(later).column(0), [0, 1, np.nan, np.nan])


def test_integer_categories_and_masks():
    array = np.array([[7.0, 1.5], [3.0, 2.5], [np.nan, 3.5]])
    for chosen in ([0], [True, False], np.array([0])):
        schema = TableSchema.learn(array, chosen)
        assert schema.categories[0] == [3.0, 7.0]
        np.testing.assert_array_equal(schema.read(array).column(0), [1, 0, np.nan])
    frame = pd.DataFrame({"k": pd.Categorical([7, 3, 7])})
    assert TableSchema.learn(frame).categories[0] == [3, 7]


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        (["nowhere"], "names 'nowhere'"),
        ([True], "one entry per column"),
        ([9], "positions below 2"),
    ],
)
def test_bad_categorical_features(chosen, sentence):
    with pytest.raises(ValueError, match=sentence):
        TableSchema.learn(pd.DataFrame({"u": [1.0], "v": [2.0]}), chosen)


def test_text_outside_the_named_categories_is_refused():
    with pytest.raises(ValueError, match="column 'text' holds text"):
        TableSchema.learn(MESSY, ["category"])


def test_numbers_that_become_text_are_refused():
    schema = TableSchema.learn(pd.DataFrame({"u": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="held numbers in training"):
        schema.read(pd.DataFrame({"u": ["one", "two"]}))


def test_object_columns_are_what_they_hold():
    frame = pd.DataFrame(
        {
            "numbers": np.array([1, 2.5, None], dtype=object),
            "mixed": np.array([1, "x", None], dtype=object),
            "dates": np.array([datetime.date(1970, 1, 2), None, datetime.date(1970, 1, 1)], dtype=object),
        }
    )
    schema = TableSchema.learn(frame)
    assert schema.kinds == ["number", "category", "time"]
    table = schema.read(frame)
    np.testing.assert_array_equal(table.column(0), [1, 2.5, np.nan])
    np.testing.assert_array_equal(table.column(1), [0, 1, np.nan])
    np.testing.assert_array_equal(table.column(2), [86400, np.nan, 0])


def test_object_arrays_with_text():
    array = np.array([["a", 1.0], ["b", None]], dtype=object)
    schema = TableSchema.learn(array)
    assert schema.kinds == ["category", "number"]
    np.testing.assert_array_equal(schema.read(array).column(1), [1.0, np.nan])


def test_lists_with_text_are_read_as_arrays_of_objects_are():
    """Also where NumPy alone would make text of every number: rows without a None beside the text."""
    rows = [[1.0, "a"], [2.0, "b"], [None, "a"], [4, "c"]] * 5
    model = BinnedForestClassifier(5, random_state=0).fit(rows, [0, 1, 0, 1] * 5)
    expected = model.predict_proba(np.array(rows, dtype=object))
    np.testing.assert_array_equal(model.predict_proba(rows), expected)
    np.testing.assert_array_equal(model.predict_proba(rows[:2]), expected[:2])
    np.testing.assert_array_equal(model.predict_proba(tuple(rows[1:2])), expected[1:2])
    with pytest.raises(ValueError, match="column 0 held numbers in training and holds text now"):
        model.predict([["one", "a"]])


def test_arrays_of_text_are_categories():
    array = np.array([["a", "x"], ["b", "y"]])
    schema = TableSchema.learn(array)
    assert schema.kinds == ["category", "category"]
    assert schema.names is None
    np.testing.assert_array_equal(schema.read(array).matrix(), [[0, 0], [1, 1]])


@pytest.mark.parametrize(
    "array",
    [
        [[datetime.date(1970, 1, 2), 1], [None, 2]],
        np.array([[datetime.datetime(1970, 1, 2), 1.0], [pd.NaT, 2.0]], dtype=object),
        np.array([["1970-01-02", "1970-01-01T00:00:01"], ["NaT", "1970-01-01T00:00:02"]], dtype="M8[s]"),
    ],
    ids=["list", "objects", "datetime64"],
)
def test_arrays_with_times(array):
    schema = TableSchema.learn(array)
    assert schema.kinds[0] == "time"
    np.testing.assert_array_equal(schema.read(array).matrix(), [[86400, 1], [np.nan, 2]])


def test_missing_objects_without_text():
    array = np.array([[pd.NA, 1], [3, None]], dtype=object)
    schema = TableSchema.learn(array)
    np.testing.assert_array_equal(schema.read(array).matrix(), [[np.nan, 1], [3, np.nan]])


@pytest.mark.parametrize("beside", [2.0, pytest.param("text", marks=needs_pandas_3), None])
def test_infinite_and_too_large_objects_are_refused(beside):
    schema = TableSchema.learn(np.array([[1.0, beside]], dtype=object))
    with pytest.raises(ValueError, match="infinity"):
        schema.read(np.array([[np.inf, beside]], dtype=object))
    with pytest.raises(ValueError, match="too large for a float"):
        schema.read([[10**400, beside]])


def test_numbers_named_as_categories_are_the_same_as_objects_and_as_floats():
    rows = [[1, "a"], [3, "b"], [None, "b"]]
    schema = TableSchema.learn(rows, [0, 1])
    for later in (rows, pd.DataFrame(rows), np.array(rows, dtype=object)):
        np.testing.assert_array_equal(schema.read(later).column(0), [0, 1, np.nan])
    plain = TableSchema.learn(np.array([[1.0], [3.0]]), [0])
    np.testing.assert_array_equal(
        plain.read(pd.Series([3, None, 1], dtype=object).to_frame().to_numpy()).column(0),
        [1, np.nan, 0],
    )


def test_time_zones_and_durations():
    frame = pd.DataFrame(
        {
            "zoned": pd.to_datetime(["1970-01-01 01:00"]).tz_localize("Europe/Paris"),
            "span": pd.to_timedelta(["90s"]),
        }
    )
    table = TableSchema.learn(frame).read(frame)
    assert table.column(0).tolist() == [0.0]
    assert table.column(1).tolist() == [90.0]


def test_all_missing_columns():
    frame = pd.DataFrame({"n": [np.nan, np.nan], "c": pd.Categorical([None, None])})
    table = TableSchema.learn(frame).read(frame)
    assert np.isnan(table.matrix()).all()
    assert table.is_category.tolist() == [False, True]


@pytest.mark.parametrize("shape", [(0, 2), (2, 0)])
def test_empty_tables(shape):
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        TableSchema.learn(pd.DataFrame(np.empty(shape)))


def test_large_single_precision_values_of_both_signs_pass_without_a_warning():
    X = np.tile(np.array([3e38, -3e38], dtype=np.float32), (4, 4))  # sums of both signs overflow apart
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BinnedForestClassifier(2, random_state=0).fit(X, [0, 0, 1, 1]).predict(X)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_frames_of_floats_read_at_once_or_column_by_column_are_the_same(dtype, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50, 7)).astype(dtype), columns=list("abcdefg"))
    frame.iloc[3, 2] = np.nan
    at_once = TableSchema.learn(frame)
    whole = at_once.read(frame)
    infinite = frame.copy()
    infinite.iloc[4, 5] = np.inf
    with pytest.raises(ValueError, match="infinity in column 'f'"):
        at_once.read(infinite)
    monkeypatch.setattr("surewood.tables.sources._SMALL_COPY", 0)
    by_column = TableSchema.learn(frame)
    assert by_column.kinds == at_once.kinds == ["number"] * 7
    assert by_column.names == at_once.names
    np.testing.assert_array_equal(by_column.read(frame).matrix(), whole.matrix())
    np.testing.assert_array_equal(by_column.read(frame).columns(1, 4), whole.columns(1, 4))
    with pytest.raises(ValueError, match="infinity in column 'f'"):
        by_column.read(infinite)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.cut(pd.Series([1.0, 6.0, 11.0]), [0, 5, 10, 15]), ["(0, 5]", "(5, 10]", "(10, 15]"]),
        (pd.Series(pd.to_datetime(["2021", "2020"])), ["2020-01-01 00:00:00", "2021-01-01 00:00:00"]),
        (pd.Series(pd.to_timedelta([1, 2], unit="D")), ["1 days 00:00:00", "2 days 00:00:00"]),
        (pd.Series([Decimal("0.5"), Decimal("1.5")]), ["0.5", "1.5"]),
        (pd.Series(pd.period_range("2020", periods=2, freq="Y")), ["2020", "2021"]),
    ],
    ids=["intervals", "times", "durations", "decimals", "periods"],
)
def test_categories_that_are_no_numbers_are_kept_as_text(values, expected):
    """So that a saved model holds no types of pandas, which `load` would refuse."""
    frame = pd.DataFrame({"c": values.astype("category")})
    schema = TableSchema.learn(frame)
    assert schema.categories[0] == expected
    codes = schema.read(frame).column(0)
    assert [schema.categories[0][int(code)] for code in codes] == [str(value) for value in values]


@pytest.mark.parametrize(
    ("type_", "values", "kind", "expected"),
    [
        (pa.timestamp("us", "UTC"), [datetime.datetime(1970, 1, 2), None], "time", [86400.0, np.nan]),
        (pa.duration("ms"), [datetime.timedelta(minutes=1), None], "time", [60.0, np.nan]),
        (pa.dictionary(pa.int32(), pa.string()), ["b", None, "a"], "category", [1.0, np.nan, 0.0]),
        (pa.time64("us"), [datetime.time(2), None, datetime.time(1)], "category", [1.0, np.nan, 0.0]),
        (pa.binary(), [b"b", None, b"a"], "category", [1.0, np.nan, 0.0]),
        (pa.null(), [None, None], "number", [np.nan, np.nan]),
    ],
    ids=str,
)
def test_pandas_columns_held_by_arrow(type_, values, kind, expected):
    array = pa.array(values, type=type_)
    frame = pd.DataFrame({"c": pd.Series(pd.arrays.ArrowExtensionArray(array))})
    schema = TableSchema.learn(frame)
    assert schema.kinds == [kind]
    np.testing.assert_array_equal(schema.read(frame).column(0), expected)
    np.testing.assert_array_equal(schema.read(pa.table({"c": array})).column(0), expected)


@pytest.mark.parametrize("dtype", [pytest.param(object, marks=needs_pandas_3), "M8[us]", "M8[s]"])
def test_times_beyond_the_reach_of_nanoseconds(dtype):
    far = [datetime.datetime(9999, 12, 31), datetime.datetime(1, 1, 1), None]
    frame = pd.DataFrame({"t": pd.Series(far, dtype=dtype)})
    expected = [253402214400.0, -62135596800.0, np.nan]
    np.testing.assert_array_equal(TableSchema.learn(frame).read(frame).column(0), expected)


def test_times_as_objects_of_several_zones_and_without_a_single_one():
    tokyo, utc = pd.Timestamp("1970-01-01 09:00", tz="Asia/Tokyo"), pd.Timestamp("1970-01-02", tz="UTC")
    frame = pd.DataFrame({"t": pd.Series([tokyo, utc, None], dtype=object)})
    schema = TableSchema.learn(frame)
    np.testing.assert_array_equal(schema.read(frame).column(0), [0.0, 86400.0, np.nan])
    nothing = pd.DataFrame({"t": pd.Series([pd.NaT, pd.NaT], dtype=object)})
    assert np.isnan(schema.read(nothing).column(0)).all()
    assert np.isnan(TableSchema.learn(nothing).read(nothing).column(0)).all()


def test_numbers_and_times_do_not_change_places():
    times = pd.DataFrame({"c": pd.date_range("2020", periods=2)})
    numbers = pd.DataFrame({"c": [1.0, np.nan]})
    with pytest.raises(ValueError, match="column 'c' held times in training and holds numbers now"):
        TableSchema.learn(times).read(numbers)
    with pytest.raises(ValueError, match="column 'c' held numbers in training and holds times now"):
        TableSchema.learn(numbers).read(times)
    missing = pd.DataFrame({"c": [np.nan, np.nan]})
    assert np.isnan(TableSchema.learn(times).read(missing).column(0)).all()


def test_masked_values_are_missing():
    X = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(TableSchema.learn(X).read(X).matrix(), [[1.0, np.nan], [3.0, 4.0]])


def test_strings_of_numpy_are_text():
    X = np.array([["b", "x"], ["a", "x"]], dtype=np.dtypes.StringDType())
    schema = TableSchema.learn(X)
    assert schema.categories == [["a", "b"], ["x"]]
    np.testing.assert_array_equal(schema.read(X).column(0), [1.0, 0.0])


def test_long_doubles_too_large_for_a_float_are_refused_without_a_warning():
    X = np.array([[np.longdouble("1e400")], [1.0]])
    if np.isinf(X).any():
        pytest.skip("long doubles are doubles here")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table, sentence in (
            (X, "too large for a float"),
            (pd.DataFrame(X, columns=["c"]), "infinity in column 'c'"),
        ):
            with pytest.raises(ValueError, match=sentence):
                TableSchema.learn(table).read(table)


def test_what_polars_has_beside_frames():
    for X in (pl.DataFrame({"a": [1.0]}).lazy(), pl.Series([1.0])):
        with pytest.raises(TypeError, match=f"got a polars {type(X).__name__}"):
            TableSchema.learn(X)


def test_values_without_a_hash_name_their_column():
    with pytest.raises(TypeError, match="column 'c' cannot be read as categories: unhashable"):
        TableSchema.learn(pd.DataFrame({"c": [{1}, {2}]}))


def test_half_characters_are_refused_before_a_model_cannot_be_saved():
    names = pd.DataFrame([[1.0], [2.0]], columns=pd.Index(["c\ud800"], dtype=object))
    with pytest.raises(ValueError, match=r"the name of column 'c\\ud800' has half a character"):
        TableSchema.learn(names)
    with pytest.raises(ValueError, match=r"column 'c' holds 'p\\ud800', text with half a character"):
        TableSchema.learn(pd.DataFrame({"c": pd.Series(["p\ud800", "q"], dtype=object)}))
    with pytest.raises(ValueError, match=r"y holds 'u\\udc80', a label with half a character"):
        BinnedForestClassifier(2).fit([[0.0], [1.0]], np.array(["u\udc80", "v"], dtype=object))


def test_identifiers_never_stand_alone():
    assert not stands_alone(np.ones(500)).any()


def test_few_categories_stand_alone_however_rare():
    assert stands_alone(np.ones(FEW_CATEGORIES)).all()


def test_the_limit_counts_rows_not_weights():
    mass = np.array([MIN_ROWS, MIN_ROWS - 1] * 10, dtype=float)
    expected = [True, False] * 10
    assert stands_alone(mass).tolist() == expected
    assert stands_alone(3.0 * mass, row_weight=3.0).tolist() == expected


@pytest.mark.parametrize(
    ("weights", "expected"),
    [(None, 1.0), ([], 1.0), ([1, 1, 2], 1.0), ([5, 10], 5.0), ([0.5, 1.5], 1.0), ([999, 1001], 1000.0)],
)
def test_one_row(weights, expected):
    assert row_weight(None if weights is None else np.array(weights)) == expected
