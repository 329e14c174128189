"""Words of the command line as Python values."""

import pytest

from surewood.cli.option_values import parse_memory, parse_parameters
from surewood.workflow.errors import WorkflowError


def test_values_are_python_values_else_text():
    words = ["a=1", "b=[1, 2]", "c=None", "d=TRUE", "e=x=y", "f= spaced "]
    assert parse_parameters(words) == {"a": 1, "b": [1, 2], "c": None, "d": True, "e": "x=y", "f": "spaced"}
    with pytest.raises(WorkflowError, match=r"^--set takes name=value, got 'a'\.$"):
        parse_parameters(["a"])


def test_memory_is_a_number_of_bytes_or_a_size():
    assert (parse_memory("1073741824"), parse_memory("4GB"), parse_memory(None)) == (1073741824, "4GB", None)
