"""Copies, groups and times decide which rows are held out; labels do not."""

import inspect

import numpy as np
import pandas as pd
import pytest

from surewood.workflow import sampling
from surewood.workflow.errors import WorkflowError
from surewood.workflow.sampling import Sampling, deal, dealing_units, divide, last_part, side_notes


def table(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})


def test_without_copies_rows_are_dealt_as_ever():
    held_out = divide(table(), Sampling(), 0.2, 3)
    expected = np.zeros(40, dtype=bool)
    expected[np.random.default_rng(3).permutation(40)[:8]] = True
    assert (held_out == expected).all()


def test_copies_are_on_one_side_even_under_new_row_numbers():
    frame = pd.concat([table()] * 3, ignore_index=True)
    frame["id"] = [f"r{k:04d}" for k in range(len(frame))]
    held_out = divide(frame, Sampling(), 0.25, 0)
    assert held_out.sum() == 30
    assert (held_out[:40] == held_out[40:80]).all()
    assert (held_out[:40] == held_out[80:]).all()


def test_natural_copies_are_dealt_row_by_row():
    frame = pd.DataFrame({"a": np.arange(60) % 3, "b": np.arange(60) % 2})
    assert dealing_units(frame, "auto").tolist() == list(range(60))
    assert dealing_units(frame, "exclude").max() == 5


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
    for function in (divide, deal, dealing_units, last_part):
        assert "y" not in inspect.signature(function).parameters
    assert "stratif" not in inspect.getsource(sampling)


def test_classes_that_a_side_lacks_are_noted():
    y = pd.Series(["a", "a", "b", "c"])
    notes = side_notes(y, np.array([True, False, True, False]))
    assert notes == [
        "class 'b' has no training row, by chance: the model never predicts it, and its 1 holdout rows count "
        "as errors.",
        "class 'c' has no holdout row; the guarantee still covers all classes together.",
    ]


def test_many_classes_that_a_side_lacks_share_a_note():
    y = pd.Series(np.repeat([f"c{k:02}" for k in range(20)], 2))
    held_out = np.repeat(np.arange(20) < 8, 2)
    assert side_notes(y, held_out) == [
        "8 classes ('c00', 'c01', 'c02', 'c03', 'c04', ...) have no training row, by chance: the model never "
        "predicts them, and their 16 holdout rows count as errors.",
        "12 classes ('c08', 'c09', 'c10', 'c11', 'c12', ...) have no holdout row; the guarantee still covers "
        "all classes together.",
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("some", None, None), "copies=some is unknown; choose among auto, natural, exclude."),
        (("auto", "g", "t"), "groups= and time= cannot be combined"),
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
