"""One error for everything that can be wrong with a model file."""

import pytest

import surewood
from surewood.persistence import ModelFileError


def test_it_is_a_value_error_so_that_callers_of_the_first_version_still_catch_it(tmp_path):
    with pytest.raises(ValueError, match="there is no model file"):
        surewood.load(tmp_path / "none.surewood")
    assert issubclass(ModelFileError, ValueError)
