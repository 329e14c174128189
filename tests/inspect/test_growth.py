"""What each layer brought."""

import numpy as np
import pytest

from surewood.inspect import LayerGrowthDisplay, layer_table


def test_the_table_has_the_records(margin_forest, three_classes):
    table = layer_table(margin_forest, *three_classes)
    records, kept = margin_forest.layers_, margin_forest.n_layers_
    assert table["held_out_accuracy"].tolist() == [record.accuracy for record in records]
    assert table["effective_sample_size"].tolist() == [record.effective_sample_size for record in records]
    assert table["alpha"][:kept].tolist() == margin_forest.alphas_.tolist()
    assert table["alpha"][kept:].isna().all()
    assert table["kept"].sum() == kept
    last = margin_forest.score(*three_classes)
    assert table["accuracy"][kept - 1] == pytest.approx(last)


def test_four_charts(margin_forest, three_classes):
    display = LayerGrowthDisplay.from_estimator(margin_forest, *three_classes)
    titles = [ax.get_title() for ax in display.axes_]
    assert titles[1:] == ["margin ratio (HEURISTIC)", "α, weight of the layer", "effective sample size"]
    held_out = display.axes_[0].lines[0].get_ydata()
    assert np.array_equal(held_out, display.layers["held_out_accuracy"])
    with pytest.raises(ValueError, match="axes must be four, got 2"):
        LayerGrowthDisplay(display.layers).plot(axes=display.axes_[:2])


def test_a_cascade_forest_has_no_weights(cascade_forest):
    table = layer_table(cascade_forest)
    assert table["alpha"].isna().all()
    LayerGrowthDisplay(table).plot()


def test_a_model_without_layers_is_refused(tree):
    with pytest.raises(ValueError, match="CompositeTreeClassifier has no layers to show"):
        LayerGrowthDisplay.from_estimator(tree)
