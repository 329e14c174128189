"""Parquet data sets in the place of X: what is read, what is refused, and what stays behind (nothing)."""

import os
import tempfile
import warnings
from collections import namedtuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.dummy import DummyClassifier

from surewood import BinnedForestClassifier
from surewood.tables import (
    ParquetTable,
    TableSchema,
    as_parquet,
    begin_fit,
    begin_predict,
    workspace,
)
from surewood.tables import parquet as parquet_module
from surewood.tables.parquet import read_training
from tests.contract.parquet_tables import mixed_frame, write_parts


@pytest.fixture
def frame():
    return mixed_frame()


@pytest.fixture
def small_batches(monkeypatch):
    """Many batches a part, so that the seams between them are seen."""
    monkeypatch.setattr(parquet_module, "_MOST_BATCH_ROWS", 64)


def forest(**changes):
    return BinnedForestClassifier(**{"n_estimators": 5, "random_state": 0, **changes})


# --- what is read -----------------------------------------------------------------------------------------


def test_columns_are_read_as_from_a_frame(frame, tmp_path, small_batches):
    folder = write_parts(frame, tmp_path / "table")
    inputs = begin_fit(DummyClassifier(), folder, "label", merge=False)
    whole = begin_fit(DummyClassifier(), frame.drop(columns="label"), frame["label"], merge=False)
    assert inputs.schema == whole.schema
    assert inputs.classes.tolist() == whole.classes.tolist()
    assert inputs.classes.dtype == whole.classes.dtype
    np.testing.assert_array_equal(inputs.y, whole.y)
    np.testing.assert_array_equal(inputs.table.matrix(), whole.table.matrix())
    for j in range(whole.table.n_columns):
        np.testing.assert_array_equal(inputs.table.column(j), whole.table.column(j))
    rows = np.array([599, 3, 3, 250, 0])
    np.testing.assert_array_equal(inputs.table.take(rows).matrix(), whole.table.take(rows).matrix())
    np.testing.assert_array_equal(inputs.table.take(rows).column(2), whole.table.take(rows).column(2))


def test_row_numbers_that_pandas_wrote_are_no_column(tmp_path):
    frame = pd.DataFrame({"x": np.arange(40.0), "y": ["a", "b"] * 20}).sort_values("y")
    folder = tmp_path / "parts"
    folder.mkdir()
    frame[:20].to_parquet(folder / "1.parquet")
    frame[20:].reset_index(drop=True).to_parquet(folder / "2.parquet")
    assert "__index_level_0__" in pq.read_schema(folder / "1.parquet").names
    for source in (folder, folder / "1.parquet"):
        assert forest().fit(source, "y").feature_names_in_.tolist() == ["x"]


@pytest.mark.parametrize(
    "type_", [pa.float32(), pa.int8(), pa.uint64(), pa.decimal128(24, 2), pa.bool_(), pa.float16()]
)
def test_numbers_of_any_width(tmp_path, type_):
    values = [1, 0, None, 1, 0, 1]
    column = pa.array(values, pa.float64() if type_ == pa.float16() else None).cast(type_)
    pq.write_table(pa.table({"x": column, "y": list("ababab")}), tmp_path / "t.parquet")
    inputs = begin_fit(DummyClassifier(), tmp_path / "t.parquet", "y", merge=False)
    np.testing.assert_array_equal(inputs.table.column(0), [1, 0, np.nan, 1, 0, 1])


def test_times_are_seconds_whatever_their_unit(tmp_path):
    moments = pd.Series(pd.to_datetime(["1970-01-02 00:00:00", None, "2001-09-09 01:46:40"]))
    columns = {u: pa.array(moments).cast(pa.timestamp(u)) for u in ("s", "ms", "us", "ns")}
    columns["zone"] = pa.array(moments.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin"))
    columns["day"] = columns["s"].cast(pa.date32(), safe=False)
    columns["span"] = pa.array(pd.to_timedelta([1, None, 90], unit="s"))
    pq.write_table(pa.table({**columns, "y": list("aba")}), tmp_path / "t.parquet")
    table = begin_fit(DummyClassifier(), tmp_path / "t.parquet", "y", merge=False).table
    for j in range(5):
        np.testing.assert_array_equal(table.column(j), [86400.0, np.nan, 1e9])
    np.testing.assert_array_equal(table.column(5), [86400.0, np.nan, 11574 * 86400.0])
    np.testing.assert_array_equal(table.column(6), [1.0, np.nan, 90.0])


def test_one_dictionary_over_all_parts(tmp_path):
    for k, values in enumerate((["b", "d"], ["a", None], ["c", "d"])):
        part = pd.DataFrame({"c": values, "y": [0, 1]})
        part["c"] = part["c"].astype("category") if k == 1 else part["c"]  # text either way
        part.to_parquet(tmp_path / f"{k}.parquet")
    inputs = begin_fit(DummyClassifier(), tmp_path, "y", merge=False)
    assert inputs.schema.categories == [["a", "b", "c", "d"]]
    np.testing.assert_array_equal(inputs.table.column(0), [1, 3, 0, np.nan, 2, 3])


def test_numbers_named_as_categories(tmp_path):
    pd.DataFrame({"zip": [30, 10, 20, 10], "x": [1.0, 2, 3, 4], "y": [0, 1, 0, 1]}).to_parquet(
        tmp_path / "t.parquet"
    )
    inputs = begin_fit(
        DummyClassifier(), tmp_path / "t.parquet", "y", categorical_features=["zip"], merge=False
    )
    assert inputs.schema.categories == [[10, 20, 30], None]
    np.testing.assert_array_equal(inputs.table.column(0), [2, 0, 1, 0])
    with pytest.raises(ValueError, match="names 'nix', which is not a column"):
        begin_fit(DummyClassifier(), tmp_path / "t.parquet", "y", categorical_features=["nix"])


@pytest.mark.parametrize("labels", [[3, 1, 1, 3], [True, False, False, True], [2.0, 1.0, 1.0, 2.0]])
def test_labels_keep_their_type(tmp_path, labels):
    pd.DataFrame({"x": [1.0, 2, 3, 4], "y": labels}).to_parquet(tmp_path / "t.parquet")
    model = forest().fit(tmp_path / "t.parquet", "y")
    assert model.classes_.dtype == np.asarray(labels).dtype
    assert model.classes_.tolist() == sorted(set(labels))


def test_weights_from_a_column_and_from_an_array(frame, tmp_path):
    frame["w"] = np.random.default_rng(1).integers(0, 3, len(frame)).astype(float)
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    X = frame.drop(columns=["label", "w"])
    expected = forest().fit(X, frame["label"], frame["w"]).predict_proba(X)
    named = forest().fit(ParquetTable(path, "label", weight="w"))
    np.testing.assert_array_equal(named.predict_proba(X), expected)
    np.testing.assert_array_equal(forest().fit(path, "label", "w").predict_proba(X), expected)
    array = forest().fit(ParquetTable(path, "label", columns=list(X)), sample_weight=frame["w"].to_numpy())
    np.testing.assert_array_equal(array.predict_proba(X), expected)
    with pytest.raises(ValueError, match="both given"):
        forest().fit(ParquetTable(path, "label", weight="w"), sample_weight=np.ones(len(frame)))


def test_rows_without_a_label_are_left_out_and_counted(frame, tmp_path, small_batches):
    lost = np.arange(0, len(frame), 7)
    holes = frame.copy()
    holes.loc[lost, "label"] = None
    folder = write_parts(holes, tmp_path / "t")
    with pytest.warns(UserWarning, match=r"86 of 600 rows have no label in column 'label' and were left out"):
        streamed = forest(oob_score=True).fit(folder, "label")
    known = frame.drop(index=lost)
    X = frame.drop(columns="label")
    whole = forest(oob_score=True).fit(known.drop(columns="label"), known["label"])
    np.testing.assert_array_equal(streamed.predict_proba(X), whole.predict_proba(X))
    assert streamed.oob_decision_function_.shape == (600, 2)
    assert np.isnan(streamed.oob_decision_function_[lost]).all()
    kept = np.delete(streamed.oob_decision_function_, lost, axis=0)
    np.testing.assert_array_equal(kept, whole.oob_decision_function_)


def test_a_split_divides_the_rows_without_writing(frame, tmp_path, small_batches):
    folder = write_parts(frame.assign(row=np.arange(len(frame))), tmp_path / "t")
    train, held = ParquetTable(folder, "row").split(0.25, seed=3)
    sides = [t.read_target() for t in (train, held)]
    assert sorted(np.concatenate(sides).tolist()) == list(range(600))
    assert 0.15 < len(sides[1]) / 600 < 0.35
    again = ParquetTable(folder, "row").split(0.25, seed=3)[1].read_target()
    np.testing.assert_array_equal(again, sides[1])
    assert held.open().n_rows == len(sides[1])
    X = frame.drop(columns="label")
    by_hand = forest().fit(X.iloc[sides[0]], frame["label"].iloc[sides[0]])
    train, held = ParquetTable(folder, "label", columns=list(X)).split(0.25, seed=3)
    streamed = forest().fit(train)
    np.testing.assert_array_equal(streamed.predict(held), by_hand.predict(X.iloc[sides[1]]))
    with pytest.raises(ValueError, match="between 0 and 1"):
        train.split(1.0)


def test_prediction_reads_the_training_columns_by_name(frame, tmp_path):
    X = frame.drop(columns="label")
    model = forest().fit(X, frame["label"])
    shuffled = frame[list(frame.columns)[::-1]].assign(more=1)
    shuffled.to_parquet(tmp_path / "t.parquet")
    np.testing.assert_array_equal(model.predict_proba(tmp_path / "t.parquet"), model.predict_proba(X))
    X.drop(columns="text").to_parquet(tmp_path / "less.parquet")
    with pytest.raises(ValueError, match=r"less\.parquet has no column 'text'"):
        model.predict(str(tmp_path / "less.parquet"))
    with pytest.raises(ValueError, match="trained without column names"):
        forest().fit(np.eye(4), [0, 1, 0, 1]).predict(tmp_path / "t.parquet")


def test_later_files_may_have_new_categories_but_not_text_for_numbers(frame, tmp_path):
    X = frame.drop(columns="label")
    model = forest().fit(X, frame["label"])
    later = X.assign(text="never seen")
    later.to_parquet(tmp_path / "later.parquet")
    np.testing.assert_array_equal(
        model.predict_proba(tmp_path / "later.parquet"), model.predict_proba(X.assign(text=None))
    )
    X.assign(float="text").to_parquet(tmp_path / "text.parquet")
    with pytest.raises(ValueError, match=r"column 'float' held numbers in training and holds text in .*text"):
        model.predict(tmp_path / "text.parquet")


def test_an_arrow_table_is_a_table(frame):
    X = frame.drop(columns="label")
    model = forest().fit(pa.Table.from_pandas(X, preserve_index=False), frame["label"])
    np.testing.assert_array_equal(model.predict_proba(X), forest().fit(X, frame["label"]).predict_proba(X))
    assert model.feature_names_in_.tolist() == list(X)


def test_a_list_of_files_is_a_division_by_files(frame, tmp_path):
    folder = write_parts(frame, tmp_path / "t")
    parts = sorted(folder.iterdir())
    labels = ParquetTable(parts[1:], "label").read_target()
    np.testing.assert_array_equal(labels, frame["label"].iloc[200:])


# --- what is refused --------------------------------------------------------------------------------------


def test_the_way_it_is_called():
    assert as_parquet(np.eye(2), [0, 1]) is None
    assert as_parquet("a.parquet", "y") == ParquetTable("a.parquet", target="y")
    with pytest.raises(ValueError, match="must be the name of the target column, got list"):
        as_parquet("a.parquet", [0, 1])
    with pytest.raises(ValueError, match="give only one of them"):
        as_parquet(ParquetTable("a.parquet", target="z"), "y")


@pytest.fixture
def broken(frame, tmp_path):
    """A folder of three parts, and a function that spoils the second one."""
    folder = write_parts(frame[["float", "text", "label"]], tmp_path / "parts")
    second = folder / "part-1.parquet"

    def spoil(change):
        change(pd.read_parquet(second)).to_parquet(second)
        return folder

    spoil.folder, spoil.second = folder, second
    return spoil


def refused(folder, match, error=ValueError, **changes):
    """A fit ends with the sentence, leaves the estimator as it was, and no file behind."""
    with tempfile.TemporaryDirectory() as work:
        model = forest(**changes)
        with pytest.raises(error, match=match):
            model.fit(ParquetTable(folder, "label", workdir=work))
        assert not hasattr(model, "forest_")
        assert not hasattr(model, "classes_")
        assert os.listdir(work) == []


def test_a_part_with_a_column_less_or_more(broken):
    folder = broken(lambda part: part.drop(columns="text"))
    refused(folder, r"part-1\.parquet has no column 'text', which .*part-0\.parquet has")
    broken(lambda part: part.assign(text="x", more=1))
    refused(folder, r"part-1\.parquet has a column 'more', which .*part-0\.parquet has not")


def test_a_column_that_changes_its_type(broken):
    folder = broken(lambda part: part.assign(float=part["float"].map(str)))
    refused(folder, r"column 'float' is (large_)?string in .*part-1\.parquet and double in .*part-0\.parquet")
    broken(lambda part: part.assign(float=1))
    refused(folder, r"column 'float' is int64 in .*part-1\.parquet and double")


def test_a_part_that_is_cut_short(broken):
    whole = broken.second.read_bytes()
    broken.second.write_bytes(whole[: len(whole) // 2])
    refused(broken.folder, r"part-1\.parquet is not a readable Parquet file, or is cut short")
    broken.second.write_bytes(b"")
    refused(broken.folder, r"part-1\.parquet is not a readable Parquet file, or is cut short")


def test_a_part_whose_pages_are_damaged(broken):
    whole = bytearray(broken.second.read_bytes())
    whole[4:400] = b"\xff" * 396
    broken.second.write_bytes(bytes(whole))
    refused(broken.folder, r"part-1\.parquet is not a readable Parquet file, or is cut short")


def test_an_empty_part_and_no_part(broken, tmp_path):
    folder = broken(lambda part: part.iloc[:0])
    refused(folder, r"part-1\.parquet has no rows")
    (tmp_path / "nothing").mkdir()
    refused(tmp_path / "nothing", "is a folder without Parquet files")
    refused(tmp_path / "absent.parquet", r"there is no file .*absent\.parquet", FileNotFoundError)
    refused([], "list of Parquet files is empty")


def test_infinities_name_the_file_and_the_column(broken):
    folder = broken(lambda part: part.assign(float=np.inf))
    refused(folder, r"infinity in column 'float' of .*part-1\.parquet")


def test_the_target(broken, tmp_path):
    with pytest.raises(ValueError, match=r"has no column 'nix'"):
        forest().fit(broken.folder, "nix")
    with pytest.raises(ValueError, match="requires y to be passed: name the target column"):
        forest().fit(broken.folder)
    for part in broken.folder.iterdir():
        pd.read_parquet(part).assign(label=None).to_parquet(part)
    refused(broken.folder, "column 'label' of .* has no label in any row")


def test_a_target_of_numbers_is_refused_as_in_memory(broken):
    broken(lambda part: part.assign(float=part["float"].fillna(0.5)))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        forest().fit(ParquetTable(broken.second, "float"))


def test_too_many_classes_or_categories(broken, monkeypatch):
    monkeypatch.setattr(parquet_module, "MAX_CATEGORIES", 3)
    refused(broken.folder, "column 'text' has more than 3 different values .* looks like an identifier")
    monkeypatch.setattr(parquet_module, "MAX_CLASSES", 1)
    refused(broken.folder, "column 'label' has more than 1 different values .* is it the target")


def test_weights_that_are_none(frame, tmp_path):
    for values, match in (
        (-1.0, "missing, infinite or negative"),
        (np.nan, "missing, infinite or negative"),
        ("text", "holds text"),
    ):
        frame.assign(w=values).to_parquet(tmp_path / "t.parquet")
        with pytest.raises(ValueError, match=rf"weight column 'w' of .*t\.parquet .*{match}"):
            forest().fit(ParquetTable(tmp_path / "t.parquet", "label", weight="w"))


def test_columns_that_cannot_be_read(tmp_path):
    pq.write_table(pa.table({"x": [[1], [2]], "y": [0, 1]}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="column 'x' has type list"):
        forest().fit(tmp_path / "t.parquet", "y")
    pq.write_table(pa.table({"y": [0, 1]}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="has no column to learn from"):
        forest().fit(tmp_path / "t.parquet", "y")
    pq.write_table(pa.table([[1], [2], [0]], names=["x", "x", "y"]), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="more than one column called 'x'"):
        forest().fit(tmp_path / "t.parquet", "y")


def test_an_ordered_category_in_two_orders(tmp_path):
    for k, order in enumerate((["low", "high"], ["high", "low"])):
        levels = pd.Categorical(["low", "high"], categories=order, ordered=True)
        pd.DataFrame({"x": levels, "y": [0, 1]}).to_parquet(tmp_path / f"{k}.parquet")
    with pytest.raises(ValueError, match=r"ordered category 'x' of .*1\.parquet lists its values in another"):
        forest().fit(tmp_path, "y")


def test_no_space_is_known_before_anything_is_written(broken, monkeypatch, tmp_path):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(workspace.shutil, "disk_usage", lambda _: usage(10**9, 10**9, 100))
    refused(broken.folder, r"the binned table needs 2\.4 kB of disk in .*, which has 100 B free", OSError)
    with pytest.raises(ValueError, match=r"workdir=.* is not a folder"):
        forest().fit(ParquetTable(broken.folder, "label", workdir=tmp_path / "absent"))


def test_a_disk_that_fills_up_meanwhile(broken, monkeypatch):
    def full(handle, n_bytes):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(workspace, "_reserve", full)
    refused(broken.folder, r"a mapped array needs 1\.2 kB of disk", OSError)


def test_a_fit_that_is_interrupted_leaves_nothing(broken, monkeypatch):
    def interrupt(*arguments, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("surewood.trees.forest_training.grow_forest", interrupt)
    refused(broken.folder, "^$", KeyboardInterrupt)


def test_a_successful_fit_leaves_nothing(broken, tmp_path):
    (tmp_path / "work").mkdir()
    forest().fit(ParquetTable(broken.folder, "label", workdir=tmp_path / "work"))
    assert os.listdir(tmp_path / "work") == []


def test_the_reader_meets_a_schema_without_categories(tmp_path):
    schema = TableSchema(["category"], ["c"], [[]])
    pd.DataFrame({"c": ["a", "b"]}).to_parquet(tmp_path / "t.parquet")
    opened = ParquetTable(tmp_path / "t.parquet").open()
    table = parquet_module.RowStream(opened, schema, 2, None, workspace.Workspace()).table()
    assert table.n_categories.tolist() == [1]
    assert np.isnan(table.column(0)).all()


def test_an_unfitted_model_says_so(broken):
    with pytest.raises(ValueError, match="not fitted yet"):
        begin_predict(forest(), broken.folder)


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
