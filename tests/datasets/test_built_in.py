"""Facts of the catalogue agree with each other."""

import pytest

from surewood.datasets.built_in import catalogue, info
from surewood.tables.data_error import DataError


@pytest.mark.parametrize("name", catalogue())
def test_the_numbers_of_an_entry_add_up(name):
    entry = info(name)
    assert entry.name == name
    assert entry.citation
    if entry.class_counts:
        assert len(entry.class_counts) == entry.classes
        assert sum(entry.class_counts) == entry.rows
        assert list(entry.class_counts) == sorted(entry.class_counts, reverse=True)
    if entry.train_rows is not None:
        assert entry.train_rows + entry.test_rows == entry.rows
    if entry.train_class_counts:
        assert sum(entry.train_class_counts) == entry.train_rows
    assert set(entry.papers.values()) <= {"all", "train", "test", "split"}


def test_unknown_names_get_the_nearest_ones():
    with pytest.raises(DataError, match=r"no data set called 'vowl'; did you mean vowel"):
        info("vowl")
    with pytest.raises(DataError, match="`surewood datasets` lists the names"):
        info("zzzz")
