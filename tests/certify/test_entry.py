"""The type refuses what theory.md §6.6 forbids."""

import dataclasses
import math
import pickle

import pytest

from surewood.bounds import Condition, Status
from surewood.certify import Entry, Method

HOLDS = (Condition("the points influenced nothing about the model", True, "stated by the caller"),)
GUARANTEE = {
    "method": Method.HOLDOUT,
    "status": Status.GUARANTEE,
    "value": 0.1,
    "sample": "holdout",
    "n": 100,
    "variant": "exact",
    "delta": 0.05,
    "conditions": HOLDS,
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gamma_scale": 0.1}, "gamma_scale must be 1 for a GUARANTEE, got 0.1"),
        ({"gamma_scale": 1.5}, "gamma_scale must be 1 for a GUARANTEE, got 1.5"),
        ({"method": "composite tree criterion"}, "proves nothing: it cannot be a GUARANTEE"),
        ({"method": Method.CASCADE, "variant": "print_in"}, "variant 'print_in' of cascade bound cannot be"),
        (
            {"method": Method.CASCADE, "variant": "print_out"},
            "variant 'print_out' of cascade bound cannot be",
        ),
        ({"method": Method.COMPOSITE_TREE, "variant": "paper"}, "only rigorous"),
        ({"variant": ""}, "only exact"),
        ({"delta": None}, r"delta must be in \(0, 1\) for a GUARANTEE, got None"),
        ({"delta": 1.0}, r"delta must be in \(0, 1\) for a GUARANTEE, got 1.0"),
        ({"value": 1.2}, r"value must be in \[0, 1\] for a GUARANTEE, got 1.2"),
        ({"value": math.nan}, "value must not be NaN"),
        ({"conditions": ()}, "conditions must be listed for a GUARANTEE"),
        ({"conditions": (*HOLDS, Condition("hard votes", False))}, "not so: hard votes"),
        ({"biased": True}, "a GUARANTEE cannot be biased"),
        ({"n": 0}, "n must be >= 1, got 0"),
        ({"n_models": 0}, "n_models must be >= 1, got 0"),
        ({"status": Status.ESTIMATE}, "delta belongs to a GUARANTEE only, not to a ESTIMATE"),
        ({"status": Status.HEURISTIC}, "delta belongs to a GUARANTEE only"),
        ({"status": Status.CRITERION, "delta": None}, "gamma_scale must be given with a CRITERION"),
        ({"status": "PROMISE"}, "'PROMISE' is not a valid Status"),
    ],
)
def test_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Entry(**(GUARANTEE | change))


def test_a_refused_change_cannot_be_made_later():
    entry = Entry(**GUARANTEE, gamma_scale=1.0)
    with pytest.raises(ValueError, match="gamma_scale must be 1"):
        dataclasses.replace(entry, gamma_scale=0.01)
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.value = 0.0


def test_accepted_and_picklable():
    entry = Entry(**GUARANTEE, decomposition={"errors": 3})
    assert pickle.loads(pickle.dumps(entry)) == entry
    assert (
        Entry(method="margin ratio", status="HEURISTIC", value=math.inf, sample="training", n=5).value
        == math.inf
    )


def test_a_bound_with_complexities_must_say_that_they_are_not_scaled():
    fields = {
        "method": Method.COMPOSITE_TREE,
        "status": Status.GUARANTEE,
        "value": 0.5,
        "sample": "training",
        "n": 9,
        "variant": "rigorous",
        "delta": 0.05,
        "conditions": (Condition("c", True),),
    }
    with pytest.raises(ValueError, match="gamma_scale must be 1 for a GUARANTEE, got None"):
        Entry(**fields)
    assert Entry(**fields, gamma_scale=1.0).value == 0.5
