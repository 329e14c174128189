"""Arrays, nested lists and sparse matrices as sources of columns."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from surewood.tables.array_source import ArraySource, open_array
from surewood.tables.frame_source import FrameSource


@pytest.mark.parametrize("make", [np.array, list, sp.csr_matrix, sp.coo_array])
def test_numbers_stay_numbers_whatever_holds_them(make):
    source = open_array(make([[1.0, 0.0], [3.0, 4.0]]))
    assert isinstance(source, ArraySource)
    assert (source.n_rows, source.n_columns, source.names) == (2, 2, None)
    assert source.numbers(1).tolist() == [0.0, 4.0]
    assert (source.kind(0), source.label(1)) == ("number", "1")


MISSING = np.array([[pd.NA], [1]], dtype=object)


@pytest.mark.parametrize("X", [[[1, "a"], [2, "b"]], np.array([["x"], ["y"]]), MISSING])
def test_text_and_missing_objects_are_read_as_a_frame(X):
    assert isinstance(open_array(X), FrameSource)


def test_masked_values_are_missing():
    source = open_array(np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]]))
    assert source.numbers(0).tolist() == [1.0, 3.0]
    assert np.isnan(source.numbers(1)[0])


@pytest.mark.parametrize("X", [[[10**400]], np.array([[np.longdouble("1e4000")]])])
def test_numbers_too_large_for_a_float_are_refused(X):
    with pytest.raises(ValueError, match=r"contains a number too large for a float|contains infinity"):
        open_array(X)


def test_categories_of_numbers_are_their_values():
    source = open_array(np.array([[2.0], [1.0], [2.0], [np.nan]]))
    values = source.categories(0)
    assert sorted(values) == [1.0, 2.0]
    codes = source.codes(0, pd.Index(values))
    assert [values[int(code)] for code in codes[:3]] == [2.0, 1.0, 2.0]
    assert np.isnan(codes[3])
