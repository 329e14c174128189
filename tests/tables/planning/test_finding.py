"""What a plan makes of the values of a column.

Labels as people write them.

What a column is, by its values.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from surewood.tables import DataError
from surewood.tables.planning.column_plan import ColumnPlan
from surewood.tables.planning.finding import (
    DistinctTexts,
    Hints,
    counted,
    find_column,
    n_unreadable,
    n_unseen,
)
from surewood.tables.planning.numbers import AmbiguousNumbers


def kind(values, name="x", **hints):
    return find_column(name, pd.Series(values), Hints(**hints)).kind


def test_missing_and_lost_values_are_counted():
    plan = counted(ColumnPlan("x", "number", thousands=","), pd.Series(["1,000", "?", "red", "1,000", None]))
    assert (plan.n_missing, plan.n_lost, plan.n_distinct) == (3, 1, 2)
    assert plan.changed == "'1,000' -> 1000"


def test_distinct_texts_and_their_rows():
    texts = DistinctTexts.of(pd.Series(["a", "a ", "b", None]))
    assert (texts.texts, texts.counts.tolist(), texts.n_rows, texts.n_known) == (["a", "b"], [2.0, 1.0], 4, 3)
    assert texts.readable(lambda text: 1.0 if text == "a" else None) == 2 / 3


def test_later_values_that_are_new():
    plan = find_column("x", pd.Series(["a", "b", "a"]), Hints())
    assert n_unseen(plan, pd.Series(["a", "c", "?", None, "c"])) == 2
    plan = find_column("x", pd.Series([1.5, 2.5]), Hints())
    assert n_unreadable(plan, pd.Series(["1", "red", "-", None])) == 1
    assert n_unreadable(plan, pd.Series([1.0, np.nan])) == 0


def test_one_question_mark_does_not_make_numbers_text():
    plan = find_column("x", pd.Series([*map(str, range(50)), "?"]), Hints())
    assert (plan.kind, plan.n_missing, plan.n_lost) == ("number", 1, 0)


def test_one_word_in_twenty_is_lost_and_two_make_it_a_category():
    numbers = [str(k % 7) for k in range(19)]
    assert find_column("x", pd.Series([*numbers, "red"]), Hints()).n_lost == 1
    assert kind([*numbers[1:], "red", "blue"]) == "category"


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("x", list(range(1, 31)), "drop"),
        ("x", [k + k // 4 for k in range(30)], "drop"),  # rows held out leave gaps
        ("x", list(range(30, 0, -1)), "number"),
        ("customerID", [31 * k % 1009 for k in range(30)], "drop"),
        ("paid", [31 * k % 1009 for k in range(30)], "number"),
        ("x", [f"a{k}" for k in range(30)], "drop"),
        ("x", [20240101 + k for k in range(28)], "date"),
        ("x", ["7"] * 30, "drop"),
        ("x", [None] * 30, "drop"),
        ("x", [True, False] * 5, "boolean"),
    ],
)
def test_identifiers_constants_and_days(name, values, found):
    assert kind(values, name) == found


def test_free_text_is_told_from_identifiers_by_its_words():
    assert kind([f"box {k} came late again" for k in range(40)]) == "text"
    assert kind([f"box-{k}" for k in range(40)]) == "drop"


def test_what_the_user_says_is_obeyed_or_refused():
    assert kind(["1", "2", "x1"], kind="category") == "category"
    assert kind([1, 2, 1], kind="category") == "category"
    with pytest.raises(
        DataError, match=r"^column 'x' cannot be read as a number: it has 'red' and the like\.$"
    ):
        kind(["red", "blue"], kind="number")


def test_numbers_of_which_two_readings_fit_are_not_guessed():
    with pytest.raises(AmbiguousNumbers):
        kind(["17,027", "1,250"])
    assert find_column("x", pd.Series(["17,027", "2,500"]), Hints(file_decimal=".")).thousands == ","


def test_a_category_keeps_its_order():
    column = pd.Series(pd.Categorical(["low", "high", "low"], ["low", "mid", "high"], ordered=True))
    plan = find_column("x", column, Hints())
    assert (plan.categories, plan.ordered) == (("low", "high"), True)


def test_numbers_that_look_dealt_out_are_noted_and_named_ones_are_not_used():
    dealt = pd.Series([10_000 + 7919 * k % 90_000 for k in range(200)])
    plan = find_column("visits", dealt, Hints())
    assert (plan.kind, plan.reason) == ("number", "numbers of 5 digits, 100 % different: an identifier?")
    for name in ("Kundennummer", "customer", "account number", "order_id"):
        assert kind(dealt, name) == "drop"
    for name in ("number", "total number", "numbered", "customers", "superuser"):
        assert kind(dealt, name) == "number"
    nearly = dealt.where(dealt.index > 5, dealt.iloc[0])
    assert kind(nearly, "customer") == "drop"
    assert find_column("visits", nearly, Hints()).reason == "numbers"
    assert find_column("income", dealt * dealt.index, Hints()).reason == "numbers"
    assert kind([k // 2 + 1000 for k in range(200)], "customer") == "number"
    assert find_column("visits", dealt, Hints(kind="number")).reason == "numbers"


def test_the_plan_says_how_many_categories_are_rare():
    often = [f"town {k % 12}" for k in range(180)]
    assert find_column("town", pd.Series(often), Hints()).reason == "12 distinct texts"
    rare = [*often, "hamlet", "village", "hamlet"]
    found = find_column("town", pd.Series(rare), Hints())
    assert found.reason == "14 distinct texts, 2 in fewer than 10 rows"
    assert find_column("x", pd.Series(["a", "b", "c"] * 3), Hints()).reason == "3 distinct texts"
