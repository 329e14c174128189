"""Texts that mean no value."""

import pandas as pd
import pytest

from surewood.tables.planning.missing_codes import (
    ALWAYS,
    AMONG_NUMBERS,
    are_missing_codes,
    codes_among_words,
    is_missing_code,
)


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
