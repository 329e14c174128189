"""Conditions of a guarantee."""

import pytest

from surewood.bounds.condition import CHECKED, Condition, OnSample, stated


def test_a_condition_says_who_stated_it():
    assert str(Condition("hard votes", False, CHECKED)) == "hard votes: no (checked)"
    first, second = stated({"a": True, "b": 0})
    assert (first.holds, second.holds) == (True, False)
    assert first.source == "stated by the model"


@pytest.mark.parametrize("n_models", [0, -1, 1.5, True])
def test_the_number_of_models_is_at_least_one(n_models):
    with pytest.raises(ValueError, match="n_models must be an integer >= 1"):
        OnSample(n_models=n_models)
