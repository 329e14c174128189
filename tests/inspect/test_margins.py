"""Margins a layer, and their drawing."""

import numpy as np
import pytest

from surewood.bounds import margin_ratio, margins
from surewood.deepforest.figures import layer_curves
from surewood.inspect import MarginDistributionDisplay, staged_margins


def test_one_set_of_margins_a_kept_layer(margin_forest, three_classes):
    X, y = three_classes
    found = staged_margins(margin_forest, X, y)
    assert list(found) == [f"layer {t}" for t in range(1, margin_forest.n_layers_ + 1)]
    curves = layer_curves(margin_forest, X, y)
    for values, accuracy, ratio in zip(found.values(), curves["accuracy"], curves["margin_ratio"]):
        assert margin_ratio(values) == pytest.approx(ratio)
        assert np.mean(values > 0) <= accuracy  # a tie may still fall to the right class


def test_other_models_have_the_margins_of_their_scores(tree, cascade, moons):
    X, y = moons
    assert np.array_equal(staged_margins(tree, X, y)["model"], margins(tree.predict_proba(X), y))
    assert np.array_equal(staged_margins(cascade, X, y)["model"], cascade.margins(X, y))


def test_shares_are_drawn_with_their_ratio(margin_forest, three_classes):
    display = MarginDistributionDisplay.from_estimator(margin_forest, *three_classes, layers=[1])
    assert list(display.margins) == ["layer 1"]
    steps = display.ax_.patches[0].get_data()
    assert steps.values.sum() == pytest.approx(1.0)
    words = display.ax_.get_legend().get_texts()[0].get_text()
    assert f"{display.margin_ratios['layer 1']:.3f}" in words


def test_from_predictions_is_from_estimator(tree, moons):
    X, y = moons
    one = MarginDistributionDisplay.from_estimator(tree, X, y)
    other = MarginDistributionDisplay.from_predictions(y, tree.predict_proba(X))
    assert np.array_equal(one.margins["model"], other.margins["model"])


def test_given_axes_are_used(tree, moons):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    display = MarginDistributionDisplay.from_estimator(tree, *moons, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure


def test_what_cannot_be_drawn_is_said(margin_forest, three_classes, tree, moons):
    with pytest.raises(ValueError, match=r"layers has 9; the model has layer 1"):
        MarginDistributionDisplay.from_estimator(margin_forest, *three_classes, layers=[9])
    with pytest.raises(ValueError, match="labels that the model was not trained on, such as 7"):
        staged_margins(tree, moons[0], np.full(len(moons[1]), 7))
