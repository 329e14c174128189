"""Every rule tells types from values and says what it accepts."""

import numpy as np
import pytest

from surewood.estimators.rules import (
    AUTO,
    Boolean,
    Choice,
    Either,
    Fraction,
    Integer,
    Kind,
    ListOf,
    Mapped,
    Nullable,
    Number,
    check_value,
    joined,
)

CASES = [
    # rule, in words, accepted, wrong values, wrong types
    (Integer(), "an integer", [0, -3, np.int64(2)], [], [1.0, True, "1", None]),
    (Integer(1), "an integer of at least 1", [1, np.uint8(7)], [0, -1], [2.0, np.True_]),
    (Integer(2, 255), "an integer from 2 to 255", [2, 255], [1, 256], ["2"]),
    (Number(0.0), "a number of at least 0", [0, 0.5], [-1, float("nan"), float("inf")], ["1", False]),
    (Number(above=0.0, finite=False), "a number above 0", [1e-9, float("inf")], [0, -1.0], [None]),
    (Number(above=0.0, below=1.0), "a number strictly between 0 and 1", [0.5], [0.0, 1, 1.0], [[0.5]]),
    (Number(most=3.0), "a number of at most 3", [3, -9], [3.1], ["3"]),
    (Fraction(), "a fraction above 0 and at most 1", [0.1, 1.0], [0.0, 1.1], [1, 0]),
    (Boolean(), "True or False", [True, np.False_], [], [1, 0, None, "True"]),
    (Choice("a", "b"), "'a' or 'b'", ["a"], ["c", ""], [1, None]),
    (Nullable(Integer(1)), "an integer of at least 1 or None", [None, 1], [0], [0.5]),
    (Either(AUTO, Boolean(), Integer(0)), "'auto', True, False or an integer of at least 0",
     ["auto", True, 3], ["none", -1], [None, 0.5]),
    (ListOf(Integer(1), "counts"), "a list of counts", [[1], (2, 3), np.array([4])], [[], [0]],
     [1, "1", [0.5], np.ones((2, 2), dtype=int), {1: 2}]),
    (Mapped(("x", "y")), "None or a dictionary with keys among 'x', 'y'", [None, {}, {"x": 1}],
     [{"z": 1}], [["x"], "x"]),
    (Kind("even", lambda v: isinstance(v, int), lambda v: v % 2 == 0), "even", [2], [3], ["2"]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "words", "accepted", "wrong", "odd"), CASES, ids=lambda c: str(c)[:30])
def test_a_rule_accepts_and_refuses(rule, words, accepted, wrong, odd):
    assert rule.accepts == words
    for value in accepted:
        check_value("name", value, rule)
    for values, error in ((wrong, ValueError), (odd, TypeError)):
        for value in values:
            with pytest.raises(error) as caught:
                check_value("name", value, rule)
            assert str(caught.value) == f"name must be {words}, got {value!r}."


def test_lists_are_worded_as_english():
    assert [joined(["a"]), joined(["a", "b"]), joined("abc")] == ["a", "a or b", "a, b or c"]
