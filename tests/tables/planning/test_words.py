"""Truth values in words, and texts that mean no value."""

from __future__ import annotations

import numpy as np
import pytest
from pandas._libs.parsers import STR_NA_VALUES

from surewood.tables.planning.words import (
    ALWAYS,
    AMONG_NUMBERS,
    are_missing_codes,
    codes_among_words,
    find_number_code,
    find_truth_words,
)


@pytest.mark.parametrize(
    ("texts", "true"),
    [(["Yes", "no"], "yes"), (["F", "T"], "t"), (["nein", "JA"], "ja"), (["off", "on "], "on")],
)
def test_two_words_of_a_pair(texts, true):
    assert find_truth_words(texts)[true] == 1.0


@pytest.mark.parametrize("texts", [["yes"], ["yes", "no", "maybe"], ["m", "f"], []])
def test_anything_else_is_no_truth_value(texts):
    assert find_truth_words(texts) is None


@pytest.mark.parametrize(
    ("texts", "everywhere"),
    [
        ("? - -- . * NA N/A null #DIV/0! #N/A NaN".split(" "), True),  # noqa: SIM905
        (sorted(STR_NA_VALUES), True),  # what pandas reads as missing
        (["unknown", "none", "NONE", "Not available"], False),
    ],
)
def test_codes_are_missing_everywhere_or_among_numbers_only(texts, everywhere):
    padded = [f" {text} " for text in texts]
    assert are_missing_codes(padded, AMONG_NUMBERS).all()
    assert (are_missing_codes(padded, ALWAYS) == everywhere).all()
    assert not are_missing_codes([*padded, "red"], (), ("999",)).any()
    assert are_missing_codes([" red", "999 "], ALWAYS, ("999", "red")).all()


def test_marks_are_values_among_marks():
    assert "-" in codes_among_words(["A", "-"])
    assert "-" not in codes_among_words(["+", "-"])
    assert "na" in codes_among_words(["+", "-"])


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([1, 2, 3, 9999, 9999], 9999.0),
        ([-99, 0.5, 0.7, -99, np.nan], -99.0),
        ([1, 2, 3, -999], None),  # once may be chance
        ([900, 950, 999, 999], None),  # among the others
        ([-500, 400, -999, -999], None),  # no further from them than they are from one another
        ([1, 2, 3, 1000, 1000], None),  # not nines
        ([0, 1, 1, 0], None),
        ([-999, -999, 5], None),
        ([np.nan], None),
    ],
)
def test_numbers_of_nines_far_from_all_others(values, code):
    assert find_number_code(np.array(values, dtype=float)) == code
