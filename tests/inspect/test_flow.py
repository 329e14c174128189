"""The flow of points through cascades."""

from itertools import pairwise

import numpy as np
import pytest

from surewood.inspect import CascadeFlowDisplay, cascade_flow


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
