"""Terms of the criterion, leaf by leaf."""

import numpy as np
import pytest

from surewood.inspect import BoundDisplay, bound_terms


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
