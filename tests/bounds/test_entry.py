"""Entries that carry CRITERION, ESTIMATE or HEURISTIC; a GUARANTEE is not theirs to carry."""

import math

import pytest

from surewood.bounds import Entry

ESTIMATE = {"method": "out-of-bag error", "status": "ESTIMATE", "value": 0.1, "sample": "training", "n": 9}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"status": "GUARANTEE"}, "a GUARANTEE is issued by surewood.bounds.issue_guarantee only"),
        ({"delta": 0.05}, "delta belongs to a GUARANTEE only, not to a ESTIMATE"),
        ({"status": "HEURISTIC", "delta": 0.05}, "delta belongs to a GUARANTEE only, not to a HEURISTIC"),
        ({"status": "CRITERION"}, "gamma_scale must be given with a CRITERION"),
        ({"status": "PROMISE"}, "'PROMISE' is not a valid Status"),
        ({"value": math.nan}, "value must not be NaN"),
        ({"n": 0}, "n must be >= 1, got 0"),
    ],
)
def test_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Entry(**(ESTIMATE | change))


def test_a_diagnostic_may_be_infinite():
    assert Entry(**(ESTIMATE | {"status": "HEURISTIC", "value": math.inf})).value == math.inf
