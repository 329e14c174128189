"""Training data: order of the rows, equal rows, folds, layer inputs; Parquet as a frame."""

import os
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from surewood import CascadeForestClassifier, MarginDeepForestClassifier
from surewood.base.parameters import study_settings
from surewood.deepforest.data import (
    InputReader,
    content_keys,
    equal_contents,
    given_folds,
    order_rows,
    prepare,
    usable_folds,
    widen,
)
from surewood.tables import ParquetTable, TableSchema, is_mapped
from surewood.tables import parquet as parquet_module
from surewood.trees.binning import bin_array, learn_bins
from tests.contract.parquet_tables import mixed_frame, write_parts

SMALL = {"n_estimators": 3, "max_layers": 2, "cv": 2, "random_state": 0}


@pytest.mark.parametrize(
    "model",
    [
        MarginDeepForestClassifier(**SMALL, depth_schedule=8, forests=["random", "completely_random"]),
        MarginDeepForestClassifier(**SMALL, depth_schedule=8, forests=["extra"]),
        MarginDeepForestClassifier(
            **SMALL, depth_schedule=8, forests=["random", LogisticRegression()], class_weight="balanced"
        ),
        CascadeForestClassifier(**SMALL, forests=["random", "random"]),
    ],
)
def test_the_same_model_as_from_a_frame(tmp_path, monkeypatch, model):
    monkeypatch.setattr(parquet_module, "_MOST_BATCH_ROWS", 90)
    frame = mixed_frame(300)
    folder = write_parts(frame, tmp_path / "t")
    (tmp_path / "work").mkdir()
    X = frame.drop(columns="label")
    expected = model.fit(X, frame["label"]).predict_proba(X)
    scores = model.held_out_scores_
    model.fit(ParquetTable(folder, "label", workdir=tmp_path / "work"))
    # Batches of another size: a product of another shape may round its last bit differently.
    np.testing.assert_allclose(model.predict_proba(folder), expected, rtol=1e-12)
    np.testing.assert_array_equal(model.held_out_scores_, scores)
    assert os.listdir(tmp_path / "work") == []


def test_class_vectors_become_columns_in_a_file(tmp_path, monkeypatch):
    folder = write_parts(mixed_frame(300), tmp_path / "t")
    seen = []

    def watched(base, vectors, mapper, layer_inputs):
        wide = widen(base, vectors, mapper, layer_inputs)
        seen.append([is_mapped(block) for block in wide.matrix.blocks])
        return wide

    monkeypatch.setattr("surewood.deepforest.margin_growth.widen", watched)
    MarginDeepForestClassifier(**SMALL, depth_schedule=8, forests=["random"]).fit(folder, "label")
    assert seen == [[True, True]]


def codes_of(X):
    return bin_array(X).blocks[0]


def test_whole_numbers_are_counts_and_zero_is_absent():
    X = np.array([[1.0], [2.0], [3.0]])
    source, weight = order_rows(content_keys(codes_of(X)), np.zeros(3, np.int32), np.array([2.0, 0.0, 1.0]))
    assert sorted(source.tolist()) == [0, 0, 2]
    assert weight is None


def test_other_weights_stay_weights_with_mean_one():
    X = np.array([[1.0], [2.0], [3.0]])
    keys = content_keys(codes_of(X))
    for weight in ([0.5, 1.0, 1.5], [1e6, 1.0, 1.0]):
        source, remaining = order_rows(keys, np.zeros(3, np.int32), np.array(weight))
        assert sorted(source.tolist()) == [0, 1, 2]
        np.testing.assert_allclose(remaining.mean(), 1.0)
        np.testing.assert_allclose(remaining, np.array(weight)[source] / np.mean(weight))
    assert order_rows(keys, np.zeros(3, np.int32), np.full(3, 0.3))[1] is None


def prepared(X, y, weight=None, **changes):
    model = MarginDeepForestClassifier(**{**SMALL, "forests": ["random"], **changes})
    parameters = {**model.get_params(deep=False), **study_settings(model)}
    return prepare(model._begin_fit(X, y, weight, merge=False), parameters)


def test_values_come_back_in_the_users_order():
    data = prepared([[1.0], [2.0], [3.0], [4.0]], [0, 0, 0, 1], [2.0, 0.0, 1.0, 1.0])
    values = np.where(data.source == 0, 5.0, 7.0)[:, None]
    values[np.flatnonzero(data.source == 0)[0]] += 2.0  # one of the two copies of row 0
    back = data.to_user_rows(values)
    assert back[:, 0].tolist()[::2] == [6.0, 7.0]
    assert np.isnan(back[1, 0])


def test_copies_of_a_row_are_one_content():
    X = np.arange(4000.0)[:, None]
    y = np.arange(4000) % 2
    assert prepared(X, y).training.content is None
    X[1] = X[0]
    assert len(np.unique(prepared(X, y).training.content)) == 3999
    weighted = prepared(X[2:], y[2:], np.where(np.arange(3998) == 5, 2.0, 1.0)).training
    assert (weighted.n_rows, len(np.unique(weighted.content))) == (3999, 3998)


def test_equal_rows_in_different_folds_have_an_order_of_their_own():
    keys, y, fold = np.zeros(4, np.uint64), np.zeros(4, np.int32), np.array([1, 0, 1, 0])
    shuffle = np.array([3, 2, 1, 0])
    (one, _), (two, _) = (order_rows(keys, y, None, folds) for folds in (fold, fold[shuffle]))
    np.testing.assert_array_equal(fold[one], fold[shuffle][two])


def contents(X, weight=None):
    table = TableSchema.learn(X).read(X)
    return equal_contents(table, content_keys(codes_of(X)), weight)


def test_rows_with_equal_values_are_one_content_in_any_order():
    X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [np.nan, 4.0], [np.nan, 4.0], [5.0, 6.0]])
    found = contents(X)
    assert (found[:, None] == found).tolist() == [
        [np.array_equal(a, b, equal_nan=True) for b in X] for a in X
    ]
    assert contents(X[[0, 1, 5]]) is None
    assert contents(X[[0, 1, 5]], np.array([2.0, 1.0, 1.0])) is not None
    assert contents(X[[0, 1, 5]], np.array([1.0, 0.0, 1.0])) is None


def test_rows_of_one_bin_and_different_values_have_an_order():
    X = np.arange(4000.0)[:, None]  # more values than bins
    X[1] = X[0]
    y = np.zeros(4000, np.int32)
    shuffle = np.random.default_rng(0).permutation(4000)
    one, _ = order_rows(content_keys(codes_of(X)), y, None, None, contents(X))
    two, _ = order_rows(content_keys(codes_of(X[shuffle])), y, None, None, contents(X[shuffle]))
    np.testing.assert_array_equal(X[one], X[shuffle][two])


def test_never_below_two_folds_and_absent_classes_do_not_count():
    with pytest.warns(UserWarning, match="using 2 folds"):
        assert usable_folds(np.array([0, 0, 0, 1]), 5, np.array(["a", "b"])) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert usable_folds(np.array([0] * 9), 5, np.array(["a", "b"])) == 5


def test_a_splitter_gives_the_folds():
    fold = given_folds(KFold(3), np.arange(7) % 2)
    assert fold.tolist() == [0, 0, 0, 1, 1, 2, 2]


def test_equal_rows_count_once():
    y, content = np.array([0, 0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 3, 4, 4, 5])
    with pytest.warns(UserWarning, match="class 'b' has 2 different rows, fewer than cv=4: using 2 folds"):
        assert usable_folds(y, 4, np.array(["a", "b"]), content) == 2


def test_large_tables_get_one_row_major_copy(monkeypatch):
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    assert len(prepared(X, y).training.inputs.matrix.row_blocks) == 0
    monkeypatch.setattr("surewood.deepforest.data._ROW_COPY_BYTES", 1)
    assert len(prepared(X, y).training.inputs.matrix.row_blocks) == 1


def test_a_classifier_that_takes_missing_values_gets_the_table_itself():
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["x", "y", "x"]})
    table = TableSchema.learn(frame).read(frame)
    raw = (
        InputReader.learn(learn_bins(table), table, None, [HistGradientBoostingClassifier()])
        .read(table)
        .numbers
    )
    np.testing.assert_array_equal(raw, [[1.0, 0.0], [np.nan, 1.0], [3.0, 0.0]])
    encoded = InputReader.learn(learn_bins(table), table, None, [LogisticRegression()]).read(table).numbers
    assert np.isfinite(encoded).all()
    assert encoded.shape == (3, 4)  # number, its indicator, two categories
    assert InputReader.learn(learn_bins(table), table, None).read(table).numbers is None
