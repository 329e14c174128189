"""Rows that were counted are recognised, whatever order, container or batch they come in."""

import numpy as np
import pandas as pd
import pytest

from surewood.monitor.seen_rows import SeenRows

X = np.random.default_rng(0).normal(size=(40, 3))


def test_rows_of_an_earlier_batch_are_not_new():
    seen = SeenRows()
    seen.remember(SeenRows.hashes(X[:25]), np.zeros(25, dtype=bool))
    seen.remember(SeenRows.hashes(X[5:10]), np.ones(5, dtype=bool))
    seen.remember(SeenRows.hashes(X[5:10]), np.zeros(5, dtype=bool))  # a label is not forgotten
    order = np.random.default_rng(1).permutation(40)
    rows = SeenRows.hashes(X[order])
    for again in (seen, SeenRows(seen.text())):
        np.testing.assert_array_equal(again.new(rows, labelled=False), order >= 25)
        np.testing.assert_array_equal(again.new(rows, labelled=True), (order < 5) | (order >= 10))
        assert not again.new(rows, labelled=True, among=np.zeros(40, dtype=bool)).any()


def test_columns_are_found_by_name():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    names = ["a", "b", "c"]
    np.testing.assert_array_equal(
        SeenRows.hashes(frame[["c", "a", "b"]], names), SeenRows.hashes(frame, names)
    )


def test_text_that_no_monitor_wrote_is_refused():
    seen = SeenRows()
    seen.remember(SeenRows.hashes(X), np.zeros(40, dtype=bool))
    text = seen.text()
    for forged in (text[:-5], text + text, "?", "AAAA"):
        with pytest.raises(ValueError, match="hashes of rows must"):
            SeenRows(forged)
