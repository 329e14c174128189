"""Folds of comparisons."""

import numpy as np
import pandas as pd
import pytest

from surewood.workflow.errors import WorkflowError
from surewood.workflow.splits import divided_groups, grouped_splits, make_splits


def test_groups_stay_whole_in_every_fold():
    rng = np.random.default_rng(0)
    y, groups = pd.Series(rng.integers(0, 2, 90)), rng.integers(0, 12, 90).astype(str)
    splits = make_splits(y, 3, 2, 0, groups)
    assert len(splits) == 6
    for train, held in splits:
        assert not set(groups[train]) & set(groups[held])


def test_rows_are_stratified_without_groups():
    y = pd.Series([0] * 30 + [1] * 15)
    for _, held in make_splits(y, 3, 1, 0):
        assert (y.iloc[held] == 1).sum() == 5


def test_too_few_groups_are_refused():
    with pytest.raises(WorkflowError, match="there are 2 groups for 5 folds; take folds=2"):
        make_splits(pd.Series([0, 1] * 5), 5, 1, 0, np.array(["a", "b"] * 5))


@pytest.mark.parametrize("cv", [None, True, "auto", object()])
def test_what_is_no_cv_gives_no_splits(cv):
    assert grouped_splits(cv, pd.Series([0, 1, 0, 1]), np.array(["a", "a", "b", "b"])) is None


def test_pairs_are_taken_as_they_are():
    pairs = [([0, 1], [2, 3]), ([0, 3], [1])]
    splits = grouped_splits(iter(pairs), pd.Series([0, 1, 0, 1]), np.array(["a", "a", "b", "b"]))
    assert [(a.tolist(), b.tolist()) for a, b in splits] == pairs
    assert divided_groups(splits, np.array(["a", "a", "b", "b"])) == ["a"]
