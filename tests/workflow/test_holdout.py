"""Which rows are held out, and which targets are refused."""

import numpy as np
import pandas as pd
import pytest

from surewood.workflow.errors import WorkflowError
from surewood.workflow.holdout import check_classes, choose_holdout, stratified_rows


def test_rare_classes_keep_two_training_rows():
    y = pd.Series(["a"] * 40 + ["b"] * 2)
    for seed in range(20):
        held_out, moved = choose_holdout(y, 0.5, seed)
        assert (y[~held_out] == "b").sum() == 2
        assert held_out.sum() == 21 - moved


def test_a_sample_has_every_class():
    y = pd.Series([0] * 1000 + [1] * 3)
    rows = stratified_rows(y, 100, 0)
    assert (y[rows] == 1).sum() == 2
    assert len(np.unique(rows)) == len(rows) == 102


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (["x"] * 4, "has only one class, 'x'; nothing can be learned"),
        ([0.5, 1.0, 1.5, 2.0], "holds numbers with fractions; classes are needed"),
        (["x", "x", "y"], r"class 'y' of the target 't' has fewer than 2 rows; remove those rows or merge"),
        ([f"id{k}" for k in range(40)], "most of them with one row; is it the right column"),
    ],
)
def test_targets_that_cannot_be_learned(labels, sentence):
    with pytest.raises(WorkflowError, match=sentence):
        check_classes(pd.Series(labels), "t")
