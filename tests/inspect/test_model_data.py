"""A method asked for by name, or one sentence."""

import pytest

from surewood.inspect.model_data import method_of


class Layered:
    layer_table = "not a method"

    def leaf_terms(self, part):
        return part + 1


def test_the_bound_method_is_returned():
    assert method_of(Layered(), "leaf_terms", "leaves")(2) == 3


@pytest.mark.parametrize("name", ["layer_table", "absent"])
def test_what_is_no_method_gets_a_sentence(name):
    with pytest.raises(ValueError, match=r"^Layered has no layers to show\.$"):
        method_of(Layered(), name, "layers")
