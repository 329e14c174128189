"""Truth values in words.

Texts that mean no value.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from surewood.tables.planning.words import (
    ALWAYS,
    AMONG_NUMBERS,
    are_missing_codes,
    codes_among_words,
    find_number_code,
    find_truth_words,
    is_missing_code,
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


@pytest.mark.parametrize("text", "? - -- . * NA N/A null #DIV/0! #N/A NaN".split(" "))  # noqa: SIM905
def test_codes_of_the_issue_are_missing_everywhere(text):
    assert is_missing_code(f" {text} ", ALWAYS)


@pytest.mark.parametrize("text", ["unknown", "none", "Not available"])
def test_words_are_missing_among_numbers_only(text):
    assert is_missing_code(text, AMONG_NUMBERS)
    assert not is_missing_code(text, ALWAYS)


def test_what_pandas_reads_as_missing_is_missing_here():
    from pandas._libs.parsers import STR_NA_VALUES

    assert [text for text in STR_NA_VALUES if not is_missing_code(text, ALWAYS)] == []
    assert pd.isna(float("nan"))


def test_marks_are_values_among_marks():
    assert "-" in codes_among_words(["A", "-"])
    assert "-" not in codes_among_words(["+", "-"])
    assert "na" in codes_among_words(["+", "-"])


@pytest.mark.parametrize("codes", [ALWAYS, AMONG_NUMBERS, ()])
def test_many_texts_at_once(codes):
    texts = [*sorted(AMONG_NUMBERS), " N/A ", "None", "none", "NONE", "999", "red", ""]
    for extra in ((), ("999", "red")):
        found = are_missing_codes(texts, codes, extra)
        assert found.tolist() == [is_missing_code(text, codes, extra) for text in texts]
    assert are_missing_codes([], codes).tolist() == []


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
