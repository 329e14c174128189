"""Labels as class codes."""

import numpy as np
import pytest

from surewood.inspect.labels import class_codes


def test_positions_in_the_classes():
    codes = class_codes(np.array(["a", "b", "c"]), ["c", "a", "c"])
    assert codes.tolist() == [2, 0, 2]
    assert codes.dtype == np.int64
    assert class_codes([10, 20], np.array([[20], [10]])).tolist() == [1, 0]


def test_an_unknown_label_is_named():
    with pytest.raises(ValueError, match="labels that the model was not trained on, such as 'd'"):
        class_codes(["a"], ["a", "d"])
