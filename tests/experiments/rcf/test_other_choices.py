"""Other choices from the same grids, read from the counts in the records."""

import numpy as np
import pytest

from surewood.experiments.error_grids import pack
from surewood.experiments.rcf.other_choices import hindsight, pooled, restricted


def test_a_pooled_choice_is_one_point_for_all_repeats():
    axes = {"r": [1, 2], "depth": [2], "rule": [0.1], "trees": [10]}
    counts = [([1, 2], [5, 1]), ([9, 2], [5, 3])]
    records = [
        {
            "metrics": {"n_validation": 10, "n_test": 10},
            "grid": pack(axes, np.array(v).reshape(2, 1, 1, 1), np.array(t).reshape(2, 1, 1, 1)),
        }
        for v, t in counts
    ]
    spread, chosen = pooled(records, 4)
    assert spread.mean == pytest.approx(0.2)
    assert chosen == {"r": 2, "depth": 2, "rule": 0.1, "trees": 10}
    assert pooled([], 4) is None
    assert hindsight(records).mean == pytest.approx(0.2)
    assert restricted(records, 4, [0.1]).mean == pytest.approx(
        0.4
    )  # r = 1 wins the first repeat, r = 2 the other


def test_without_grids_there_is_no_other_choice():
    bare = [{"metrics": {"n_validation": 10, "n_test": 10}}]
    assert hindsight(bare) is None
    assert restricted(bare, 4, [0.1]) is None
