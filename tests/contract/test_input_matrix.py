"""The default models on every form in which a table, its labels and its weights may come.

The other classifiers are tried in small settings in the neighbouring files; here nothing is made smaller.
Whatever holds the same values gives the same probabilities.
"""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from surewood import DeepCascadeSVMClassifierCV, SurewoodClassifier
from tests.contract.messy_table import messy

pytestmark = pytest.mark.slow
each_model = pytest.mark.parametrize("cls", [SurewoodClassifier, DeepCascadeSVMClassifierCV])

RNG = np.random.default_rng(0)
X = RNG.integers(0, 50, (90, 3))  # whole numbers: every type below holds them
CODES = np.digitize(X[:, 0] + 0.5 * X[:, 1] + 5 * RNG.standard_normal(90), [28, 46])
COUNTS = RNG.integers(1, 4, 90)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


@cache
def expected(cls, named=False, weighted=False):
    """Probabilities after a fit to plain numbers; a weight is a multiple of the row."""
    rows = np.repeat(np.arange(90), COUNTS) if weighted else slice(None)
    model = cls(random_state=0).fit((FRAME if named else X.astype(float))[rows], CODES[rows])
    return model.predict_proba(FRAME if named else X)


def in_objects(values):
    return np.array(values, dtype=object)


CONTAINERS = {
    **{dtype: X.astype(dtype) for dtype in ("f4", "f2", "i8", "i1", "u8", "u1", ">f8", ">i4", "O")},
    "list": X.tolist(),
    "columns first": np.asfortranarray(X),
    "every second row": np.repeat(X, 2, axis=0)[::2],
    "backwards": X[::-1][::-1],
    "masked": np.ma.masked_array(X, mask=False),
    "frame": FRAME,
    "frame with another index": FRAME.set_index(RNG.integers(0, 9, 90)),
    "nullable": FRAME.convert_dtypes(),
    "nullable arrow": FRAME.convert_dtypes(dtype_backend="pyarrow"),
    "small types": FRAME.astype({"a": "u1", "b": "f4", "c": "O"}),
    "polars": pl.from_pandas(FRAME),
    "arrow": pa.Table.from_pandas(FRAME),
    **{form.__name__: form(X) for form in (sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array)},
}
LABELS = {
    "list": (CODES.tolist(), [0, 1, 2]),
    "whole numbers in floats": (CODES.astype(float), [0.0, 1.0, 2.0]),
    "negative": (CODES.astype("i1") - 1, [-1, 0, 1]),
    "large": (CODES + 2**53, [2**53, 2**53 + 1, 2**53 + 2]),
    "text": (np.array(["x", "y", "z"])[CODES], ["x", "y", "z"]),
    "objects": (in_objects(["x", "y", "z"])[CODES], ["x", "y", "z"]),
    "numpy strings": (np.array(["x", "y", "z"], np.dtypes.StringDType())[CODES], ["x", "y", "z"]),
    "series": (pd.Series(CODES, index=range(90, 0, -1)), [0, 1, 2]),
    "nullable": (pd.Series(CODES).astype("Int64"), [0, 1, 2]),
    "categories": (pd.Categorical.from_codes(CODES, ["x", "y", "z"]), ["x", "y", "z"]),
    "polars": (pl.Series(CODES), [0, 1, 2]),
    "column": (CODES[:, None], [0, 1, 2]),
}
WEIGHTS = {
    **{dtype: COUNTS.astype(dtype) for dtype in ("i8", "u1", "f4", "O")},
    "list": COUNTS.tolist(),
    "series": pd.Series(COUNTS, index=range(90, 0, -1)),
}


@each_model
@pytest.mark.parametrize("form", CONTAINERS)
def test_the_same_values_in_another_container_give_the_same_model(cls, form):
    table = CONTAINERS[form]
    named = hasattr(table, "columns")
    model = cls(random_state=0).fit(table, CODES)
    np.testing.assert_array_equal(model.predict_proba(table), expected(cls, named))


@each_model
@pytest.mark.parametrize("form", LABELS)
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_labels_come_back_as_they_were(cls, form):
    labels, classes = LABELS[form]
    model = cls(random_state=0).fit(X, labels)
    assert model.classes_.tolist() == classes
    np.testing.assert_array_equal(model.predict_proba(X), expected(cls))
    assert set(model.predict(X).tolist()) <= set(classes)


@each_model
def test_truth_values_are_labels(cls):
    model = cls(random_state=0).fit(X, CODES > 0)
    assert model.classes_.tolist() == [False, True]
    assert model.predict(X).dtype == bool


@each_model
@pytest.mark.parametrize("form", WEIGHTS)
def test_weights_of_every_type_are_multiples_of_rows(cls, form):
    model = cls(random_state=0).fit(X, CODES, sample_weight=WEIGHTS[form])
    np.testing.assert_allclose(model.predict_proba(X), expected(cls, weighted=True), atol=1e-9)


@each_model
@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "categories"])
def test_messy_tables_are_read_alike(cls, form):
    frame, y = messy()
    forms = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame),
        "categories": frame.astype({"text": "category"}),
    }
    model = cls(random_state=0).fit(forms[form], y)
    reference = cls(random_state=0).fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(forms[form]), reference.predict_proba(frame))


REFUSED = {
    "infinity": (np.where(X == 7, np.inf, X), CODES, None, "infinity"),
    "complex numbers": (X + 1j, CODES, None, "Complex data not supported"),
    "one column alone": (X[:, 0], CODES, None, "Reshape your data"),
    "no rows": (X[:0], CODES[:0], None, "minimum of 1 is required|0 sample"),
    "fewer labels": (X, CODES[:-1], None, "inconsistent"),
    "a missing label": (X, [None, *CODES[1:].tolist()], None, "missing labels|NaN"),
    "a target of measurements": (X, RNG.standard_normal(90), None, "Unknown label type"),
    "two targets": (X, np.c_[CODES, CODES], None, "1d array|multioutput"),
    "fewer weights": (X, CODES, COUNTS[:-1], "shape"),
    "a negative weight": (X, CODES, -COUNTS, "[Nn]egative"),
    "a missing weight": (X, CODES, np.where(COUNTS == 1, np.nan, COUNTS), "NaN"),
}


@each_model
@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_used_is_refused_in_one_sentence(cls, what):
    table, labels, weight, words = REFUSED[what]
    with pytest.raises(ValueError, match=words):
        cls(random_state=0).fit(table, labels, sample_weight=weight)
