"""Our arrays predict what scikit-learn's model predicts."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from surewood.boosting.growing import as_numbers, grow_model
from surewood.boosting.model import softmax
from surewood.boosting.training import _model
from surewood.trees.binning import BinnedMatrix
from tests.boosting.toy import prepared


@pytest.fixture
def theirs(monkeypatch):
    """The models of scikit-learn that were fitted."""
    kept, fit = [], HistGradientBoostingClassifier.fit

    def keeping(self, *args, **given):
        kept.append(self)
        return fit(self, *args, **given)

    monkeypatch.setattr(HistGradientBoostingClassifier, "fit", keeping)
    return kept


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_are_those_of_scikit_learn(theirs, n_classes):
    plan, inputs, matrix = prepared(n_classes=n_classes, n_estimators=30)
    codes, rows = matrix.blocks[0], np.arange(600)
    is_category = matrix.mapper.is_category == 1
    grown = grow_model(plan, codes, is_category, inputs.y, None, rows[:400], rows[400:], 0)
    model = _model([grown], matrix.mapper, n_classes)
    assert model.trees.category_left.size > 0
    expected = theirs[0].predict_proba(as_numbers(codes))
    np.testing.assert_allclose(softmax(model.scores(matrix, 1)), expected, rtol=0, atol=1e-6)


def test_categories_that_a_model_did_not_meet_go_where_missing_values_go(theirs):
    plan, inputs, matrix = prepared(n_classes=2, n_estimators=20)
    codes = matrix.blocks[0].copy()
    rows = np.flatnonzero(codes[1] != 3)
    grown = grow_model(plan, codes, matrix.mapper.is_category == 1, inputs.y, None, rows, rows[:0], 0)
    model = _model([grown], matrix.mapper, 2)
    met = np.flatnonzero(codes[1] == 3)
    assert len(met) > 10
    expected = theirs[0].predict_proba(as_numbers(codes))[met]
    found = softmax(model.scores(BinnedMatrix.of(codes, matrix.mapper), 1))[met]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_the_losses_are_those_of_the_held_out_rows():
    plan, inputs, matrix = prepared(n_estimators=10)
    rows = np.arange(600)
    grown = grow_model(
        plan, matrix.blocks[0], matrix.mapper.is_category == 1, inputs.y, None, rows[:400], rows[400:], 0
    )
    model = _model([grown], matrix.mapper, 3)
    p = softmax(model.scores(matrix, 1))[400:]
    loss = -np.log(p[np.arange(200), inputs.y[400:]]).mean()
    assert len(grown.losses) == len(grown.rounds) + 1
    assert grown.losses[-1] == pytest.approx(loss, abs=1e-5)


def test_columns_without_a_value_are_constant():
    codes = np.array([[255, 255], [3, 255]], dtype=np.uint8)
    np.testing.assert_array_equal(as_numbers(codes), [[0.0, 3.0], [0.0, np.nan]])
