"""Labels as people write them."""

import pandas as pd

from surewood.tables.planning.labels import clean_labels


def test_labels_are_trimmed_and_counted():
    found = clean_labels(pd.Series(["yes", "yes ", " no", "no"]))
    assert (found.values.tolist(), found.n_trimmed, found.coded) == (["yes", "yes", "no", "no"], 2, ())


def test_codes_are_missing_and_names_are_not():
    found = clean_labels(pd.Series(["a", "N/A", "", "None", "b"]))
    assert found.values.isna().tolist() == [False, True, True, False, False]
    assert found.coded == ("N/A",)
    assert clean_labels(pd.Series(["+", "-"])).values.tolist() == ["+", "-"]


def test_numbers_stay_as_they_are():
    labels = pd.Series([0, 1, 1])
    assert clean_labels(labels).values is labels
