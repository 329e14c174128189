"""What a model file or a pickle says about a schema is checked."""

import pickle

import numpy as np
import pandas as pd
import pytest

from surewood.tables import TableSchema


@pytest.mark.parametrize("forms", ["text", ["numbers"], [7, None], ["no such form", None], [None, "numbers"]])
def test_forged_forms_of_text_are_refused(forms):
    schema = TableSchema.learn(pd.DataFrame({"a": ["1.5", "2.5"], "b": ["x", "y"]}))
    state = schema.__getstate__()
    pickle.loads(pickle.dumps(schema))
    state["text_forms"] = forms
    with pytest.raises(ValueError, match="text_forms"):
        TableSchema.__new__(TableSchema).__setstate__(state)


def test_what_is_derived_from_categories_is_never_read_from_a_file():
    schema = TableSchema.learn(pd.DataFrame({"a": ["x", "y"]}))
    again = TableSchema.__new__(TableSchema)
    again.__setstate__({**schema.__getstate__(), "_category_indexes": [pd.Index(["y", "x"])]})
    assert again.read(pd.DataFrame({"a": ["x", "y"]})).column(0).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("categories", [["x", "y"], 7, "text", False, (), {}])
def test_only_a_column_of_categories_has_any(categories):
    schema = TableSchema.learn(np.zeros((2, 1)))
    with pytest.raises(ValueError, match="a column of categories must have a list of them, and no other"):
        TableSchema.__new__(TableSchema).__setstate__({**schema.__getstate__(), "categories": [categories]})
