"""Means, spreads, paired tests, ranks and bars from records."""

import math

import pytest

from surewood.experiments import comparison
from surewood.experiments.comparison import Results, Spread, count_bar, counted


def errors(values, method, n=5):
    metrics = {"n_train": 300, "n_test": 100}
    return [
        {"dataset": "alpha", "repeat": k, "method": method, "metrics": {"error": e, **metrics}}
        for k, e in enumerate(values[:n])
    ]


def test_spread_tests_and_ranks_of_the_worked_example():
    # theory.md §9, number 11
    a, b = [0.22, 0.25, 0.21, 0.24, 0.23], [0.20, 0.22, 0.20, 0.21, 0.22]
    results = Results(errors(a, "A") + errors(b, "B"), repeats=5)
    found = results.paired("alpha", "A", "B")
    assert (round(found.p, 6), round(found.p_corrected, 5)) == (0.005528, 0.02599)
    assert results.cell("alpha", "A", 100) == "23.00 ± 1.58"  # divisor 4
    assert results.ranks(["alpha"], ["A", "B"]) == {"A": 2.0, "B": 1.0}


def test_what_is_not_complete_says_so():
    results = Results(errors([0.2, 0.3], "A"), repeats=5)
    assert results.cell("alpha", "A") == "0.25 ± 0.07 (2 of 5 repeats)"
    assert results.cell("alpha", "B") == "missing"
    assert not results.complete("alpha", "A")
    assert results.ranks(["alpha"], ["A"]) == {}


def test_repeats_may_differ_by_set_and_enough_of_them_count():
    results = Results(errors([0.2] * 5, "A"), repeats={"alpha": 10, "beta": 5}, enough=5)
    assert results.cell("alpha", "A") == "0.20 ± 0.00 (5 of 10 repeats)"
    assert results.complete("alpha", "A")
    assert results.ranked_sets(["alpha", "beta"], ["A"]) == ["alpha"]
    assert not Results(errors([0.2] * 4, "A"), repeats=10, enough=5).complete("alpha", "A")


@pytest.mark.parametrize(
    ("good", "have", "met"), [("abc", "abcd", True), ("a", "ab", None), ("a", "abcd", False)]
)
def test_a_bar_is_open_while_missing_sets_may_decide(good, have, met):
    assert count_bar("three", 3, list(good), list(have), list("abcd"))["met"] is met


def test_a_single_repeat_has_no_spread_and_no_test():
    results = Results(errors([0.2], "A") + errors([0.1], "B"))
    assert math.isnan(Spread.of([0.2]).sd)
    assert Spread.of([0.2]).text(100) == "20.00"
    assert results.paired("alpha", "A", "B") is None
    assert comparison.test_cell(results, "alpha", "A", "B") == "–"


def test_only_repeats_that_both_methods_have_are_paired():
    results = Results(errors([0.2, 0.3, 0.4], "A") + errors([0.1, 0.25], "B"))
    assert results.paired("alpha", "A", "B").n == 2


def test_counted_values_are_sorted():
    assert counted(["b", "a", "b"]) == "a ×1, b ×2"
    assert counted([]) == "–"
