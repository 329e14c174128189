"""How many rows: against counting upwards."""

import math

import pytest

from surewood.bounds import clopper_pearson, rows_needed


def slow(rate, goal, delta):
    n = 1
    while clopper_pearson(math.floor(rate * n), n, delta=delta) > goal:
        n += 1
    return n


CASES = [
    (0.03, 0.05),
    (0.0, 0.01),
    (0.2, 0.25),
    (0.1, 0.35),
    (1 / 3, 0.5),
    (0.07, 0.09),
    (0.45, 0.55),
    (0.01, 0.9),
]


@pytest.mark.parametrize(("rate", "goal"), CASES)
@pytest.mark.parametrize("delta", [0.05, 0.3])
def test_is_the_smallest_number(rate, goal, delta):
    assert rows_needed(rate, goal, delta=delta) == slow(rate, goal, delta)


def test_rates_from_below_are_mirrored_and_parts_need_more_rows():
    assert rows_needed(0.95, 0.9, quantity="recall") == rows_needed(1 - 0.95, 1 - 0.9)
    assert rows_needed(0.03, 0.05, fraction=0.1) == 10 * rows_needed(0.03, 0.05)
    assert rows_needed(0.03, 0.05, n_models=5) == rows_needed(0.03, 0.05, delta=0.01)


def test_close_limits_need_many_rows_and_little_time():
    n = rows_needed(0.1, 0.1005)
    assert clopper_pearson(math.floor(0.1 * n), n) <= 0.1005
    assert n > 900_000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rows_needed(0.1, 0.1), "limit must be above expected=0.1, got 0.1"),
        (lambda: rows_needed(0.9, 0.95, quantity="recall"), "limit must be below expected=0.9, got 0.95"),
        (lambda: rows_needed(0.1, 0.2, quantity="auc"), "quantity must be one of accuracy, error, fpr"),
        (lambda: rows_needed(0.1, 0.2, fraction=0), "fraction must be > 0, got 0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_rates_that_no_number_of_rows_can_tell_apart_are_refused():
    with pytest.raises(ValueError, match="limit must differ more from expected"):
        rows_needed(0.5, 0.5 + 1e-12)
