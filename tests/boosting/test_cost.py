"""Costs before a fit."""

import pytest

from surewood import BoostedTreesClassifier
from tests.boosting.toy import table


def test_more_rounds_and_columns_cost_more():
    X, y = table(300)
    few = BoostedTreesClassifier(5, n_jobs=1).estimate_cost(X, y)
    many = BoostedTreesClassifier(500, n_jobs=1).estimate_cost(X, y)
    assert many.seconds[1] > few.seconds[1]
    assert many.parts["trees"] > few.parts["trees"]
    wide = X.join(X.add_suffix("_again"))
    more = BoostedTreesClassifier(5, n_jobs=1).estimate_cost(wide, y)
    assert more.parts["histograms"] == 2 * few.parts["histograms"]


def test_one_class_costs_no_boosting():
    X, _ = table(50)
    assert BoostedTreesClassifier().estimate_cost(X, [1] * 50).seconds[1] < 5


def test_what_comes_before_the_first_round_is_counted_once(monkeypatch):
    X, y = table(300)
    clock = [0.0]

    def grown(plan, *_):
        clock[0] += 10.0 + 0.5 * plan.n_rounds

    monkeypatch.setattr("surewood.boosting.cost.grow_model", grown)
    monkeypatch.setattr("surewood.boosting.cost.time.perf_counter", lambda: clock[0])
    cost = BoostedTreesClassifier(200, n_jobs=1).estimate_cost(X, y)
    a_model = 10.0 + 0.5 * 200
    assert cost.seconds[1] == pytest.approx(2 * 5 * 0.8 * a_model + 0.05)


def test_a_part_of_many_rows_is_probed(monkeypatch):
    rows = []
    monkeypatch.setattr("surewood.boosting.cost._PROBE_ROWS", 100)
    monkeypatch.setattr("surewood.boosting.cost.grow_model", lambda *given: rows.append(len(given[5])))
    BoostedTreesClassifier(200, n_jobs=1).estimate_cost(*table(300))
    assert rows == [100, 100]
