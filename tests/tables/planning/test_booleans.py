"""Truth values in words."""

import pytest

from surewood.tables.planning.booleans import find_truth_words


@pytest.mark.parametrize(
    ("texts", "true"),
    [(["Yes", "no"], "yes"), (["F", "T"], "t"), (["nein", "JA"], "ja"), (["off", "on "], "on")],
)
def test_two_words_of_a_pair(texts, true):
    assert find_truth_words(texts)[true] == 1.0


@pytest.mark.parametrize("texts", [["yes"], ["yes", "no", "maybe"], ["m", "f"], []])
def test_anything_else_is_no_truth_value(texts):
    assert find_truth_words(texts) is None
