"""Samples of rows, and which targets are refused."""

import numpy as np
import pandas as pd
import pytest

from surewood.workflow.errors import WorkflowError
from surewood.workflow.holdout import check_classes, settle_rare, stratified_rows


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
        ([f"id{k}" for k in range(40)], "most of them with one row; is it the right column"),
    ],
)
def test_targets_that_cannot_be_learned(labels, sentence):
    with pytest.raises(WorkflowError, match=sentence):
        check_classes(pd.Series(labels), "t")


def test_classes_of_one_row_are_dropped_merged_or_kept():
    y = pd.Series(["a", "a", "b", "b", "c", "d"])
    labels, kept, notes = settle_rare(y, "drop")
    assert labels[kept].tolist() == ["a", "a", "b", "b"]
    assert notes == ["classes 'c', 'd' have one row each, which were dropped (rare=keep keeps them)."]
    labels, kept, notes = settle_rare(y, "merge")
    assert labels[kept].tolist() == ["a", "a", "b", "b", "other", "other"]
    assert notes == ["classes 'c', 'd' have one row each and were merged as 'other'."]
    labels, kept, notes = settle_rare(y, "keep")
    assert (labels.tolist(), kept.all(), notes) == (y.tolist(), True, [])


def test_one_rare_class_alone_cannot_be_merged():
    _, kept, notes = settle_rare(pd.Series([1, 1, 2, 2, 3]), "merge")
    assert kept.tolist() == [True, True, True, True, False]
    assert notes == ["class '3' has one row, which was dropped (rare=keep keeps it)."]
