"""Weights of rows and of classes."""

import numpy as np
import pandas as pd
import pytest

from surewood.workflow import WorkflowError
from surewood.workflow.row_weights import class_weights, row_weights


def test_weights_are_numbers_as_people_write_them():
    column = pd.Series(["1,000.5", "2", "0"], name="w")
    assert row_weights(column, np.array([2, 3, 4]), "line").tolist() == [1000.5, 2.0, 0.0]


@pytest.mark.parametrize("bad", ["-1", "?", None])
def test_a_bad_weight_is_refused_with_its_line(bad):
    column = pd.Series(["1", "2", bad], name="w")
    with pytest.raises(WorkflowError, match=r"^weight=w: line 4 has .*, which is not a weight\.$"):
        row_weights(column, np.array([2, 3, 4]), "line")


def test_class_weights_from_words():
    labels = np.array([0, 1])
    assert class_weights("balanced", labels) == "balanced"
    assert class_weights("0=1,1=2.5", labels) == {0: 1.0, 1: 2.5}
    with pytest.raises(WorkflowError, match=r"^class_weight=2: there is no such class; classes are 0, 1\.$"):
        class_weights({2: 1.0}, labels)
    with pytest.raises(WorkflowError, match="is neither balanced nor of the form"):
        class_weights("equal", labels)
