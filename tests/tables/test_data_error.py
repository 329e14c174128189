"""The error for tables that cannot be used."""

import pytest

from surewood.tables import DataError


def test_it_is_caught_as_a_value_error():
    with pytest.raises(ValueError, match="no such table"):
        raise DataError("no such table")
