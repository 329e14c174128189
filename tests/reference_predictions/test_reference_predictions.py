"""Predictions on small tables are what they were, bit for bit on the kind of machine that pinned them."""

import inspect
import warnings

import numpy as np
import pytest

import surewood
from tests.reference_predictions.make_reference_predictions import (
    HERE,
    SETTINGS,
    applies,
    machine,
    outputs,
    tables,
)

TABLES = tables()
PAIRS = [(name, table) for name in SETTINGS for table, (X, y, _) in TABLES.items() if applies(name, X, y)]


def test_every_estimator_is_pinned():
    public = {name: getattr(surewood, name) for name in surewood.__all__}
    exported = {name for name, member in public.items() if inspect.isclass(member) and hasattr(member, "fit")}
    assert exported == set(SETTINGS) == {file.stem for file in HERE.glob("*.npz")}


@pytest.mark.parametrize(("name", "table"), PAIRS)
def test_predictions_are_what_they_were(name, table):
    with np.load(HERE / f"{name}.npz") as pinned:
        expected, pinned_on = pinned[table], str(pinned["machine"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outputs(name, *TABLES[table])
    if machine() == pinned_on:
        np.testing.assert_array_equal(found, expected)
    else:  # another processor or BLAS rounds sums in another order
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
