"""Targets that are quantities."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from surewood.tables import DataError
from surewood.tables.planning.labels import clean_labels, read_bins, settle_quantity

QUANTITIES = {
    "amounts such as": [f"${value:,}" for value in range(900, 1300)],
    "percentages such as": [f"{value}%" for value in range(40)],
    "numbers with fractions such as": [0.5, 1.0, 1.5, 2.0],
    "31 different numbers in 3,100 rows": list(range(31)) * 100,
    "11 different numbers in 22 rows": list(range(11)) * 2,
}
CLASSES = {
    "grades": [1, 2, 3, 4, 5] * 20,
    "zeros and ones": [0.0, 1.0] * 20,
    "two prices": ["$5", "$10"] * 20,
    "codes": ["01067", "80331"] * 20,
    "texts": ["yes", "no", "perhaps"] * 20,
    "digits": list(range(10)) * 10,
    "truth": [True, False] * 20,
}


@pytest.mark.parametrize("why", QUANTITIES)
def test_quantities_are_refused_with_what_to_do(why):
    y = pd.Series(QUANTITIES[why])
    with pytest.raises(DataError, match=rf"is a quantity \({why}.*bins=\S+ makes .* classes=True") as refused:
        settle_quantity(y, "t")
    bins = str(refused.value).partition("bins=")[2].partition(" ")[0]
    made = settle_quantity(y, "t", bins=read_bins(bins))
    assert made.nunique() in (2, 3)
    assert settle_quantity(y, "t", classes=True).nunique() == y.nunique()


@pytest.mark.parametrize("what", CLASSES)
def test_classes_stay_what_they_are(what):
    y = pd.Series(CLASSES[what])
    pd.testing.assert_series_equal(settle_quantity(y, "t"), y)


def test_ranges_begin_with_their_lower_value():
    y = pd.Series([-1.0, 0, 99.5, 100, 5000], name="t")
    made = settle_quantity(y, "t", bins=(0, 100, 1000))
    assert made.tolist() == ["below 0", "0 to 100", "0 to 100", "100 to 1000", "1000 and more"]
    german = settle_quantity(pd.Series(["1.234,50 €", "7,00 €"]), "t", bins=(10,))
    assert german.tolist() == ["10 and more", "below 10"]


@pytest.mark.parametrize("bins", ["", "x", "5,3", "1,1", "nan", "inf"])
def test_bins_are_increasing_numbers(bins):
    with pytest.raises(DataError, match="must be increasing numbers with commas"):
        read_bins(bins)


def test_bins_need_numbers():
    with pytest.raises(DataError, match=r"bins= needs a target of numbers; 't' has 'yes' and the like\."):
        settle_quantity(pd.Series(["yes", "no"]), "t", bins=(1,))
    with pytest.raises(DataError, match=r"classes=True cannot be combined with bins=\."):
        settle_quantity(pd.Series(np.arange(9)), "t", bins=(1,), classes=True)


def test_labels_are_trimmed_and_counted():
    labels, n_trimmed, coded = clean_labels(pd.Series(["yes", "yes ", " no", "no"]))
    assert (labels.tolist(), n_trimmed, coded) == (["yes", "yes", "no", "no"], 2, [])


def test_codes_are_missing_and_names_are_not():
    found, _, coded = clean_labels(pd.Series(["a", "N/A", "", "None", "b"]))
    assert found.isna().tolist() == [False, True, True, False, False]
    assert coded == ["N/A"]
    assert clean_labels(pd.Series(["+", "-"]))[0].tolist() == ["+", "-"]


def test_numbers_stay_as_they_are():
    labels = pd.Series([0, 1, 1])
    assert clean_labels(labels)[0] is labels
