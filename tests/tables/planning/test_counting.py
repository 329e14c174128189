"""What a plan makes of the values of a column."""

import numpy as np
import pandas as pd
import pytest

from surewood.tables.planning.column_plan import ColumnPlan
from surewood.tables.planning.counting import DistinctTexts, counted, counted_values, n_unreadable, n_unseen
from surewood.tables.planning.finding import Hints, find_column


def test_missing_and_lost_values_are_counted():
    plan = counted(ColumnPlan("x", "number", thousands=","), pd.Series(["1,000", "?", "red", "1,000", None]))
    assert (plan.n_missing, plan.n_lost, plan.n_distinct) == (3, 1, 2)
    assert plan.changed == "'1,000' -> 1000"


def test_distinct_texts_and_their_rows():
    texts = DistinctTexts.of(pd.Series(["a", "a ", "b", None]))
    assert (texts.texts, texts.counts.tolist(), texts.n_rows, texts.n_known) == (["a", "b"], [2.0, 1.0], 4, 3)
    assert texts.readable(lambda text: 1.0 if text == "a" else None) == 2 / 3


@pytest.mark.parametrize("values", [["b", None, "a ", "b", "a", " b"], [], [None], ["x"], ["b", "a"] * 9])
def test_texts_of_arrow_are_counted_as_others(values):
    texts, counts = counted_values(pd.Series(values, dtype=object))
    parts = [pd.Series(values[k : k + 2], dtype="str") for k in range(0, max(len(values), 1), 2)]
    found, found_counts = counted_values(pd.concat(parts, ignore_index=True))
    assert (found, found_counts.tolist()) == (texts, counts.tolist())


def test_later_values_that_are_new():
    plan = find_column("x", pd.Series(["a", "b", "a"]), Hints())
    assert n_unseen(plan, pd.Series(["a", "c", "?", None, "c"])) == 2
    plan = find_column("x", pd.Series([1.5, 2.5]), Hints())
    assert n_unreadable(plan, pd.Series(["1", "red", "-", None])) == 1
    assert n_unreadable(plan, pd.Series([1.0, np.nan])) == 0
