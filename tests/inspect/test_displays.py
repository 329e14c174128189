"""Displays: their data against obvious computations, and drawings on the axes they are given."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from surewood import CompositeTreeClassifier
from surewood.bounds import margin_ratio, margins
from surewood.inspect import (
    BoundDisplay,
    CapacityMapDisplay,
    CascadeFlowDisplay,
    LayerGrowthDisplay,
    MarginDistributionDisplay,
    bound_terms,
    cascade_flow,
    layer_table,
    row_degrees,
    staged_margins,
)
from surewood.inspect.displays import method_of, new_axes, tidy

plt = pytest.importorskip("matplotlib.pyplot")


def test_given_axes_are_used():
    figure, (left, right) = plt.subplots(1, 2)
    assert new_axes(left) == (figure, left)
    assert new_axes([left, right], 2) == (figure, [left, right])
    plt.close(figure)


def test_new_axes_are_made_and_tidied():
    figure, axes = new_axes(None, 3)
    assert len(axes) == 3
    tidy(axes[0])
    assert not axes[0].spines["top"].get_visible()
    assert axes[0].spines["left"].get_visible()
    plt.close(figure)


class Layered:
    layer_table = "not a method"

    def leaf_terms(self, part):
        return part + 1


def test_the_bound_method_is_returned():
    assert method_of(Layered(), "leaf_terms", "leaves")(2) == 3


@pytest.mark.parametrize("name", ["layer_table", "absent"])
def test_what_is_no_method_gets_a_sentence(name):
    with pytest.raises(ValueError, match=r"^Layered has no layers to show\.$"):
        method_of(Layered(), name, "layers")


def test_the_terms_sum_to_the_criterion(forest):
    for part, value in enumerate(forest.criterion_):
        assert BoundDisplay(*bound_terms(forest, part)).value == pytest.approx(value)


def test_a_cascade_has_its_ledgers_terms(cascade, cascades):
    terms, gamma = bound_terms(cascade)
    ledger = cascade.ledger()
    assert gamma == ledger.gamma_scale
    assert np.array_equal(terms["term"], ledger.term)
    assert BoundDisplay(terms, gamma).value == pytest.approx(cascade.search_[0].score / ledger.points.sum())
    assert len(bound_terms(cascades, 2)[0]) == cascades.cascades_[2].n_leaves


def test_a_generic_cascade_has_them_too(generic_cascade):
    terms, _ = bound_terms(generic_cascade)
    assert len(terms) == len(generic_cascade.ledger())


def test_bars_are_as_long_as_the_terms(tree):
    display = BoundDisplay.from_estimator(tree)
    drawn = sum(bar.get_width() for bar in display.ax_.patches)
    assert drawn == pytest.approx(display.value)
    assert "CRITERION" in display.ax_.get_xlabel()


def test_many_leaves_become_one_bar(tree):
    terms, gamma = bound_terms(tree)
    display = BoundDisplay(terms, gamma).plot(max_leaves=1)
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names[1] == f"{len(terms) - 1} other leaves"
    assert sum(bar.get_width() for bar in display.ax_.patches) == pytest.approx(display.value)


def test_a_model_without_a_ledger_is_refused(margin_forest, cascades):
    with pytest.raises(ValueError, match="MarginDeepForestClassifier has no leaf ledger to show"):
        BoundDisplay.from_estimator(margin_forest)
    with pytest.raises(ValueError, match="part must be below 3, the number of cascades; got 3"):
        bound_terms(cascades, 3)


def test_degrees_are_those_of_the_leaves(forest, moons):
    X, _ = moons
    ledger = forest.ledger().set_index(["tree", "leaf"])["degree"]
    leaf = forest.apply(X[:20])
    expected = [[ledger[t, k] for t, k in enumerate(row)] for row in leaf]
    assert np.array_equal(row_degrees(forest, X[:20]), np.mean(expected, axis=1))
    assert np.array_equal(row_degrees(forest, X[:20], 1), np.array(expected)[:, 1])


def test_a_cascade_uses_the_degree_of_the_exit(cascade, moons):
    X, _ = moons
    degrees = np.array([node.degree for node in cascade.cascades_[0].nodes])
    assert np.array_equal(row_degrees(cascade, X), degrees[cascade.decision_path(X)])


def test_the_map_shows_what_the_rows_get(tree, moons):
    X, _ = moons
    display = CapacityMapDisplay.from_estimator(tree, X, grid_resolution=12)
    assert display.degree.shape == (12, 12)
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    assert np.array_equal(display.degree.ravel(), row_degrees(tree, grid))
    assert len(display.ax_.collections) == 2


def test_frames_with_categories_and_odd_names():
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "$x^{": random.normal(size=80),
            "job": pd.Categorical(random.choice(["a", "b"], 80)),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 9, 80), "D"),
            "z": np.where(random.random(80) < 0.2, np.nan, random.normal(size=80)),
        }
    )
    y = (X["$x^{"] > 0).astype(int)
    model = CompositeTreeClassifier(max_depth=1, C=1.0, random_state=0).fit(X, y)
    display = CapacityMapDisplay.from_estimator(model, X, features=("$x^{", "z"), grid_resolution=5)
    display.figure_.canvas.draw()
    assert display.names == ("$x^{", "z")
    with pytest.raises(ValueError, match="features must be numeric columns; 'job' is not"):
        CapacityMapDisplay.from_estimator(model, X, features=("job", "z"))
    with pytest.raises(ValueError, match="'age', which is not a column of X"):
        CapacityMapDisplay.from_estimator(model, X, features=("age", "z"))


def test_models_without_degrees_are_refused(margin_forest, three_classes, forest, moons):
    with pytest.raises(ValueError, match="MarginDeepForestClassifier has no degrees to show"):
        row_degrees(margin_forest, three_classes[0])
    with pytest.raises(ValueError, match="part must be between 0 and 3, got 4"):
        row_degrees(forest, moons[0], 4)


def test_who_does_not_leave_arrives_at_the_next_leaf(cascades, three_classes):
    flows = cascade_flow(cascades, *three_classes)
    assert list(flows) == [str(label) for label in cascades.classes_]
    for name, leaves in flows.items():
        assert leaves[0].arrive == len(three_classes[1])
        for one, after in pairwise(leaves):
            assert after.arrive == one.arrive - one.points
        assert leaves[-1].points == leaves[-1].arrive
        assert leaves[-1].threshold is None
        assert leaves[0].threshold == cascades.cascades_[int(name)].nodes[0].threshold


def test_accuracies_are_those_of_exits(cascade, moons):
    leaves = cascade_flow(cascade, *moons)["all"]
    exits = cascade.exits(*moons)
    assert [leaf.accuracy for leaf in leaves] == exits["accuracy"].tolist()
    assert all(leaf.accuracy is None for leaf in cascade_flow(cascade, moons[0])["all"])


def test_a_generic_cascade_flows_too(generic_cascade, moons):
    X, y = moons
    leaves = cascade_flow(generic_cascade, X, y)["all"]
    assert sum(leaf.points for leaf in leaves) == len(y)
    right = sum(leaf.points * (leaf.accuracy or 0.0) for leaf in leaves)
    assert right / len(y) == pytest.approx(generic_cascade.score(X, y))


def test_bars_and_words(cascade, moons):
    display = CascadeFlowDisplay.from_estimator(cascade, *moons)
    leaves = display.exits
    heights = [bar.get_height() for bar in display.ax_.patches]
    assert heights == [leaf.arrive for leaf in leaves] + [leaf.points for leaf in leaves]
    words = "".join(text.get_text() for text in display.ax_.texts)
    assert f"{leaves[0].accuracy:.1%} correct" in words
    assert f"{leaves[0].threshold:.3g} go on" in words


def test_from_predictions(cascade, moons):
    X, y = moons
    display = CascadeFlowDisplay.from_predictions(y, cascade.predict(X), cascade.decision_path(X))
    expected = cascade_flow(cascade, X, y)["all"]
    assert [leaf.points for leaf in display.exits] == [leaf.points for leaf in expected]
    assert [leaf.accuracy for leaf in display.exits] == [leaf.accuracy for leaf in expected]


def test_one_cascade_is_chosen_by_its_class(cascades, three_classes):
    display = CascadeFlowDisplay.from_estimator(cascades, *three_classes, part=2)
    assert display.ax_.get_title() == "2 against the rest"
    with pytest.raises(ValueError, match="part must be one of 0, 1, 2; got 5"):
        CascadeFlowDisplay.from_estimator(cascades, *three_classes, part=5)


def test_what_does_not_flow_is_said(tree, moons):
    with pytest.raises(ValueError, match="CompositeTreeClassifier has no flow of rows to show"):
        cascade_flow(tree, *moons)
    with pytest.raises(ValueError, match=r"leaf must have one entry per row \(3\), got 2"):
        CascadeFlowDisplay.from_predictions(np.zeros(3), np.zeros(3), [0, 1])


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


def test_one_set_of_margins_a_kept_layer(margin_forest, three_classes):
    X, y = three_classes
    found = staged_margins(margin_forest, X, y)
    assert list(found) == [f"layer {t}" for t in range(1, margin_forest.n_layers_ + 1)]
    curves = layer_table(margin_forest, X, y)
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


def test_margins_are_drawn_on_given_axes(tree, moons):
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
