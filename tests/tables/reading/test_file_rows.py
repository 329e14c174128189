"""Rows of several files."""

import numpy as np
import pytest

from surewood.tables.reading.file_rows import FileRows, row_name


def rows(*names):
    return FileRows.of([(name, "line", np.array([2, 3 + k])) for k, name in enumerate(names)])


def test_rows_are_named_by_file_and_line():
    found = rows("x/a.csv", "x/b.csv")
    assert [found.name(row) for row in range(1, 5)] == [
        *("a.csv line 2", "a.csv line 3", "b.csv line 2", "b.csv line 4"),
    ]
    assert found.file_of_each() == ["a.csv", "a.csv", "b.csv", "b.csv"]
    assert rows("x/a.csv", "y/a.csv").name(3) == "y/a.csv line 2"
    assert (found.name(0), found.name(5)) == ("row 0", "row 5")
    assert (row_name(3, "row", found), row_name(3, "row", None)) == ("b.csv line 2", "row 3")


def test_files_without_rows():
    empty = FileRows.of([("a.csv", "line", np.array([], dtype=int)), ("b.csv", "line", np.array([2]))])
    assert empty.name(1) == "b.csv line 2"


@pytest.mark.parametrize(
    "change",
    [
        {"files": ("a", 3)},
        {"units": ("line",)},
        {"ends": np.array([2.0, 4.0])},
        {"ends": np.array([3, 2])},
        {"ends": np.array([2, 9])},
        {"numbers": [1, 2]},
    ],
)
def test_saved_rows_are_checked(change):
    state = rows("a.csv", "b.csv").__dict__ | change
    with pytest.raises(ValueError, match="the files"):
        FileRows.__new__(FileRows).__setstate__(state)
