"""The error that ends an experiment is a ValueError with its sentence."""

import pytest

from surewood.experiments.errors import ExperimentError


def test_it_is_caught_as_a_value_error_and_keeps_its_sentence():
    with pytest.raises(ValueError, match=r"^no such paper\.$"):
        raise ExperimentError("no such paper.")
