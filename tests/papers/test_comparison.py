"""Means, tests, ranks and their picture; the recommended classifier as a method."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris

from papers import comparison
from papers.comparison import Results, Spread, counted, critical_distance, groups, rank_diagram
from papers.flagship import FLAGSHIP, fit_flagship, flagship_record


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


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_the_quantiles_are_those_of_demsar_s_table(k, q):
    n_sets = 14
    assert critical_distance(k, n_sets) == pytest.approx(q * (k * (k + 1) / (6 * n_sets)) ** 0.5, rel=2e-3)


def test_groups_are_maximal_and_leave_single_methods_out():
    ranks = {"d": 4.0, "a": 1.0, "b": 1.6, "c": 1.9}
    assert groups(ranks, 1.0) == [("a", "b", "c")]
    assert groups(ranks, 0.7) == [("a", "b"), ("b", "c")]
    assert groups(ranks, 0.1) == []


def test_the_picture_names_every_method_with_its_rank():
    chart = rank_diagram("Ranks", {"<b>ours": 1.25, "theirs": 1.75}, 8)
    html = chart["variants"][0]["html"]
    assert "&lt;b&gt;ours 1.25" in html
    assert "theirs 1.75" in html
    assert f"critical distance {critical_distance(2, 8):.2f}" in html
    assert "Over 8 data sets" in chart["caption"]
    assert chart["alt"] == "Ranks: <b>ours 1.25, theirs 1.75"


@pytest.fixture(scope="module")
def parts():
    X, y = load_iris(return_X_y=True)
    test = np.arange(len(y)) % 3 == 0
    return X[~test], y[~test], X[test], y[test]


def test_the_record_has_the_test_error_and_the_weights(parts):
    X, y, X_test, y_test = parts
    record = flagship_record(*parts, 0, 1)
    assert record["method"] == FLAGSHIP
    fitted = fit_flagship(X, y, X_test, 0, 1)
    assert record["metrics"]["error"] == np.mean(fitted.predictions != y_test) < 0.2
    assert record["metrics"]["held_out_error"] == fitted.held_out_error
    assert sum(record["chosen"]["weights"].values()) == pytest.approx(1.0, abs=1e-3)
