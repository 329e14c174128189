"""Free text as numbers."""

import numpy as np
import pandas as pd
import pytest

import surewood
from surewood.tables import TablePreparer
from surewood.tables.preparing import MAX_NUMBERS, fit_text_encoding

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
