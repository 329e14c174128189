"""Tables of other people: what columns become, in training and later; free text as numbers."""

import warnings

import numpy as np
import pandas as pd
import pytest

import surewood
from surewood.tables import DataError, TablePreparer, read_table
from surewood.tables.preparing import MAX_NUMBERS, fit_text_encoding


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
    told = preparer.differences(pd.DataFrame({"code": [1.0, np.nan, 3.0]}))
    assert told == "1 value is new in 'code' and treated as missing."


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


TEXTS = [f"the {'old chair' if k % 2 else 'new lamp'} in box {k} came {k % 5} days late" for k in range(60)]


def test_texts_alike_are_near():
    encoding = fit_text_encoding(TEXTS)
    assert encoding.n_numbers == MAX_NUMBERS
    chair, chair_too, lamp = encoding.transform(
        pd.Series(["an old chair came late", "old chairs, late", "a new lamp, new lamps"])
    )
    assert chair @ chair_too > chair @ lamp


def test_rows_in_another_order_give_the_same_encoding():
    one, two = fit_text_encoding(TEXTS), fit_text_encoding(TEXTS[::-1])
    np.testing.assert_array_equal(one.directions, two.directions)


@pytest.mark.parametrize("texts", [["only one text"], ["two of", "them now"]])
def test_few_texts(texts):
    numbers = fit_text_encoding(texts).transform(pd.Series([*texts, None, "something else"]))
    assert np.isnan(numbers[len(texts)]).all()
    assert np.isfinite(numbers[[0, -1]]).all()


def test_it_is_saved_with_the_model(tmp_path):
    frame = pd.DataFrame({"note": TEXTS, "x": np.tile([1.5, 2.5, 4.0], 20)})
    y = ["chair" if k % 2 else "lamp" for k in range(60)]
    preparer = TablePreparer().fit(frame)
    assert preparer.plan_["note"].kind == "text"
    assert not preparer.fixed_features_
    model = surewood.BinnedForestClassifier(5, random_state=0)
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(preparer, model).fit(frame, y)
    again = surewood.load(surewood.save(pipeline, tmp_path / "m.surewood"))
    np.testing.assert_array_equal(again.predict_proba(frame), pipeline.predict_proba(frame))
    assert pipeline.score(frame, y) > 0.95
