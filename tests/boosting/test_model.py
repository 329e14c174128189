"""The frozen model refuses parts that do not belong together, and adds up in parts."""

from dataclasses import replace

import numpy as np
import pytest

from surewood.boosting import model as module
from surewood.boosting.training import train
from tests.boosting.toy import prepared


@pytest.fixture(scope="module")
def fitted():
    plan, inputs, matrix = prepared(300, n_estimators=10)
    return train(plan, inputs, 0).model, matrix


def test_rows_in_parts_have_the_same_scores(fitted, monkeypatch):
    model, matrix = fitted
    whole = model.scores(matrix, 1)
    monkeypatch.setattr(module, "_MOST_VALUES", 7 * model.trees.n_trees)
    np.testing.assert_array_equal(model.scores(matrix, 1), whole)


def test_scores_are_sums_of_leaf_values(fitted):
    model, matrix = fitted
    leaves = model.trees.apply(matrix).astype(np.int64)
    values = model.values[model.trees.node_start[:-1] + leaves].astype(np.float64)
    expected = np.add.reduceat(values, model.output_start[:-1], axis=1) + model.baseline
    np.testing.assert_allclose(model.scores(matrix, 1), expected)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: {"values": m.values[:-1]},
        lambda m: {"values": np.full_like(m.values, np.nan)},
        lambda m: {"values": m.values.astype(np.float64)},
        lambda m: {"output_start": m.output_start[:-1]},
        lambda m: {"output_start": m.output_start[[0, 2, 1, 3]]},
        lambda m: {"output_start": m.output_start + 1},
        lambda m: {"baseline": m.baseline[:2]},
        lambda m: {"baseline": np.full_like(m.baseline, np.inf)},
        lambda m: {"importances": m.importances[:1]},
        lambda m: {"trees": m.trees.trees(0, 3)},
    ],
)
def test_parts_that_do_not_belong_together_are_refused(fitted, change):
    model, _ = fitted
    with pytest.raises(ValueError, match=r"must"):
        replace(model, **change(model))


def test_evidence_is_an_estimate_chosen_on_its_rows(fitted):
    (evidence,) = fitted[0].evidence()
    assert evidence.used_for_selection
    assert evidence.n == 300
