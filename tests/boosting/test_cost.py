"""Costs before a fit."""

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
