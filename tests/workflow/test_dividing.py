"""Groups and times decide which rows are held out, labels do not; refused targets; folds."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest

from surewood.workflow.dividing import (
    Sampling,
    check_classes,
    deal,
    divide,
    divided_groups,
    first_of_equal_rows,
    grouped_splits,
    last_part,
    make_splits,
    settle_rare,
    side_notes,
    stratified_rows,
)
from surewood.workflow.errors import WorkflowError


def table(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})


def test_without_copies_rows_are_dealt_as_ever():
    held_out = divide(table(), Sampling(), 0.2, 3)
    expected = np.zeros(40, dtype=bool)
    expected[np.random.default_rng(3).permutation(40)[:8]] = True
    assert (held_out == expected).all()


def test_equal_rows_are_dealt_row_by_row():
    frame = pd.concat([table()] * 3, ignore_index=True)
    assert (divide(frame, Sampling(), 0.25, 0) == deal(np.arange(120), 0.25, 0)).all()


def test_repeated_rows_are_found_under_new_row_numbers_but_not_with_another_label_or_group():
    frame = pd.concat([table()] * 2, ignore_index=True)
    frame["id"] = [f"r{k:04d}" for k in range(len(frame))]
    y = pd.Series(np.arange(80) % 2)
    first, copies = first_of_equal_rows(frame, y, Sampling())
    assert copies == "entered_again"
    assert first.tolist() == [True] * 40 + [False] * 40
    y[50] = 7
    assert first_of_equal_rows(frame, y, Sampling())[0][50]
    grouped = frame.assign(who=np.arange(80) // 40)
    assert first_of_equal_rows(grouped, y, Sampling(groups=["who"]))[0].all()


def test_groups_stay_whole():
    frame = table().assign(who=np.arange(40) % 7)
    held_out = divide(frame, Sampling(groups=["who"]), 0.3, 0)
    assert held_out.any()
    assert not set(frame["who"][held_out]) & set(frame["who"][~held_out])


def test_two_groups_have_one_on_each_side():
    frame = table().assign(who=np.arange(40) % 2)
    assert divide(frame, Sampling(groups=["who"]), 0.05, 0).sum() == 20


def test_the_last_part_is_cut_between_moments():
    assert last_part(np.array([5.0, 1, 2, 3, 4]), 0.2).tolist() == [True, False, False, False, False]
    assert last_part(np.repeat([1.0, 2.0], 5), 0.1).sum() == 5


def test_all_rows_of_a_unit_are_on_one_side():
    units = np.random.default_rng(0).integers(0, 9, 50)
    held_out = deal(units, 0.4, 1)
    for unit in range(9):
        assert len(set(held_out[units == unit])) <= 1


def test_no_function_that_divides_takes_a_label():
    for function in (divide, deal, last_part):
        assert "y" not in inspect.signature(function).parameters
        assert "stratif" not in inspect.getsource(function)


def test_classes_that_a_side_lacks_are_noted():
    y = pd.Series(["a", "a", "b", "c"])
    notes = side_notes(y, np.array([True, False, True, False]))
    assert notes == [
        "class 'b' has no training row, by chance: the model never predicts it, which makes 1 error on the "
        "holdout.",
        "class 'c' has no holdout row; the guarantee still covers all classes together.",
    ]


def test_many_classes_that_a_side_lacks_share_a_note():
    y = pd.Series(np.repeat([f"c{k:02}" for k in range(20)], 2))
    held_out = np.repeat(np.arange(20) < 8, 2)
    assert side_notes(y, held_out) == [
        "8 classes ('c00', 'c01', 'c02', 'c03', 'c04', ...) have no training row, by chance: the model never "
        "predicts them, which makes 16 errors on the holdout.",
        "12 classes ('c08', 'c09', 'c10', 'c11', 'c12', ...) have no holdout row; the guarantee still covers "
        "all classes together.",
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("some", None, None), "copies=some is unknown; choose among check, count, leave_out."),
        (("check", "g", "t"), "groups= and time= cannot be combined"),
    ],
)
def test_arguments_that_cannot_be(arguments, sentence):
    with pytest.raises(WorkflowError, match=sentence):
        Sampling.of(*arguments)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (Sampling(groups=["same"]), "groups=same: all rows belong to one group; at least two are needed."),
        (
            Sampling(time="words"),
            "time=words: the column must hold numbers or dates, without missing values.",
        ),
        (Sampling(time="same"), "time= has a single moment"),
    ],
)
def test_columns_that_divide_nothing(given, sentence):
    frame = table().assign(same=1, words="soon")
    with pytest.raises(WorkflowError, match=sentence):
        divide(frame, given, 0.2, 0)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (Sampling(groups=["nobody"]), "groups=nobody: t.csv has no such column."),
        (Sampling(time="y"), "time=y: this is the target."),
    ],
)
def test_columns_that_are_not_there(given, sentence):
    with pytest.raises(WorkflowError, match=sentence):
        given.check_columns(["x", "z"], "t.csv", "y")


def test_a_sample_has_every_class():
    y = pd.Series([0] * 1000 + [1] * 3)
    rows = stratified_rows(y, 100, 0)
    assert (y[rows] == 1).sum() == 2
    assert len(np.unique(rows)) == len(rows) == 102


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (["x"] * 4, "has only one class, 'x'; nothing can be learned"),
        ([f"id{k}" for k in range(40)], "most of them with one row; is it the right column"),
    ],
)
def test_targets_that_cannot_be_learned(labels, sentence):
    with pytest.raises(WorkflowError, match=sentence):
        check_classes(pd.Series(labels), "t")


def test_classes_of_one_row_are_dropped_merged_or_kept():
    y = pd.Series(["a", "a", "b", "b", "c", "d"])
    labels, kept, notes = settle_rare(y, "drop")
    assert labels[kept].tolist() == ["a", "a", "b", "b"]
    assert notes == ["classes 'c', 'd' have one row each, which were dropped (rare=keep keeps them)."]
    labels, kept, notes = settle_rare(y, "merge")
    assert labels[kept].tolist() == ["a", "a", "b", "b", "other", "other"]
    assert notes == ["classes 'c', 'd' have one row each and were merged as 'other'."]
    labels, kept, notes = settle_rare(y, "keep")
    assert (labels.tolist(), kept.all(), notes) == (y.tolist(), True, [])


def test_one_rare_class_alone_cannot_be_merged():
    _, kept, notes = settle_rare(pd.Series([1, 1, 2, 2, 3]), "merge")
    assert kept.tolist() == [True, True, True, True, False]
    assert notes == ["class '3' has one row, which was dropped (rare=keep keeps it)."]


def test_groups_stay_whole_in_every_fold():
    rng = np.random.default_rng(0)
    y, groups = pd.Series(rng.integers(0, 2, 90)), rng.integers(0, 12, 90).astype(str)
    splits = make_splits(y, 3, 2, 0, groups)
    assert len(splits) == 6
    for train, held in splits:
        assert not set(groups[train]) & set(groups[held])


def test_rows_are_stratified_without_groups():
    y = pd.Series([0] * 30 + [1] * 15)
    for _, held in make_splits(y, 3, 1, 0):
        assert (y.iloc[held] == 1).sum() == 5


def test_too_few_groups_are_refused():
    with pytest.raises(WorkflowError, match="there are 2 groups for 5 folds; take folds=2"):
        make_splits(pd.Series([0, 1] * 5), 5, 1, 0, np.array(["a", "b"] * 5))


@pytest.mark.parametrize("cv", [None, 5, 0.25, "auto", object()])
def test_folds_that_an_estimator_deals_are_not_divided_here(cv):
    assert grouped_splits(cv, pd.Series([0, 1, 0, 1]), np.array(["a", "a", "b", "b"])) is None


def test_pairs_are_taken_as_they_are():
    pairs = [([0, 1], [2, 3]), ([0, 3], [1])]
    splits = grouped_splits(iter(pairs), pd.Series([0, 1, 0, 1]), np.array(["a", "a", "b", "b"]))
    assert [(a.tolist(), b.tolist()) for a, b in splits] == pairs
    assert divided_groups(splits, np.array(["a", "a", "b", "b"])) == ["a"]
