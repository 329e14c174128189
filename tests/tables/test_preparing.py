"""Tables of other people: what columns become, in training and later."""

import warnings

import numpy as np
import pandas as pd
import pytest

from surewood.tables import DataError, TablePreparer, read_table


def test_the_form_of_training_dates_reads_later_ones():
    preparer = TablePreparer().fit(pd.DataFrame({"d": ["25/12/2024", "01/02/2024"]}))
    later = preparer.transform(pd.DataFrame({"d": ["03/04/2024"]}))
    assert later["d: month"].tolist() == [4]
    with pytest.raises(DataError, match="column 'd' held dates in training; now it has 'soon' and the like"):
        preparer.transform(pd.DataFrame({"d": ["soon"]}))


def test_kinds_and_drops():
    n = 200
    frame = pd.DataFrame(
        {
            "number": np.arange(n) ** 2,
            "row": np.arange(n),
            "flag": np.arange(n) % 2 == 0,
            "text": np.where(np.arange(n) % 3 == 0, "a", "b"),
            "level": pd.Categorical(["low", "high"] * (n // 2), ["low", "high"], ordered=True),
            "id": [f"id{k}" for k in range(n)],
            "constant": 7,
            "empty": np.nan,
        }
    )
    preparer = TablePreparer().fit(frame)
    assert {name: rule["kind"] for name, rule in preparer.columns_.items()} == {
        "number": "number",
        "flag": "boolean",
        "text": "category",
        "level": "category",
    }
    assert set(preparer.dropped_) == {"id", "row", "constant", "empty"}
    out = preparer.transform(frame)
    assert out["level"].cat.ordered
    assert out["level"].cat.categories.tolist() == ["low", "high"]
    assert out["flag"].tolist()[:2] == [1.0, 0.0]
    assert preparer.get_feature_names_out().tolist() == out.columns.tolist()


def test_a_constant_with_missing_values_is_kept():
    preparer = TablePreparer().fit(pd.DataFrame({"x": [1.0, None, 1.0]}))
    assert preparer.dropped_ == {}


def test_whole_numbers_read_as_float_are_the_same_categories():
    preparer = TablePreparer().fit(pd.DataFrame({"code": ["1", "2", "x"]}))
    later = preparer.transform(pd.DataFrame({"code": [1.0, np.nan, 3.0]}))
    assert later["code"].tolist()[0] == "1"
    assert later["code"].isna().tolist() == [False, True, True]
    assert preparer.unseen_categories(pd.DataFrame({"code": [1.0, np.nan, 3.0]})) == {"code": 1}


def test_no_usable_column():
    with pytest.raises(DataError, match="no usable column besides the target"):
        TablePreparer().fit(pd.DataFrame({"x": [1, 1]}))


def test_a_late_byte_of_an_older_encoding(tmp_path):
    path = tmp_path / "late.csv"
    path.write_bytes(b"name,x\n" + b"plain,1\n" * 20_000 + "Köln,2\n".encode("cp1252"))
    assert read_table(path)["name"].iloc[-1] == "Köln"


def test_scikit_learn_treats_it_as_an_estimator_of_frames():
    from sklearn.base import clone
    from sklearn.utils import get_tags

    preparer = TablePreparer(max_values=7)
    assert clone(preparer).get_params() == {"max_values": 7, "plan": None}
    assert not get_tags(preparer).input_tags.two_d_array
    with pytest.raises(TypeError, match=r"must be a frame of pandas, polars or Arrow, got .*ndarray"):
        preparer.fit(np.zeros((3, 2)))


def test_rows_may_be_dicts():
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.0], "city": ["Rome", "Oslo", "Rome"]})
    preparer = TablePreparer().fit(frame)
    rows = frame.to_dict("records")
    pd.testing.assert_frame_equal(preparer.transform(rows), preparer.transform(frame))


def test_what_is_new_in_a_table_is_said_once_per_call():
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.0], "city": ["Rome", "Oslo", "Rome"]})
    preparer = TablePreparer().fit(frame)
    with pytest.warns(UserWarning, match="new") as told:
        preparer.transform(frame.assign(city=["Bern", "Rome", "Paris"], more=1))
    assert [str(one.message) for one in told] == [
        "2 values are new in 'city' and treated as missing; 1 column is new and not used ('more')."
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        preparer.transform(frame.assign(city=["Oslo", None, "Rome"]))
        preparer.prepare(frame.assign(city="Bern"))
