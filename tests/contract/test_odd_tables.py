"""Tables that say little or say it oddly: every classifier fits them, or refuses them in one sentence."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import surewood
from tests.contract.estimators import classifiers, deterministic

each_classifier = pytest.mark.parametrize("cls", classifiers(), ids=lambda cls: cls.__name__)
Y = np.r_[np.zeros(15, int), np.ones(35, int)]


@each_classifier
@pytest.mark.parametrize("value", [1.0, np.nan])
def test_without_a_usable_column_the_majority_class_is_predicted(cls, value):
    model = deterministic(cls).fit(np.full((50, 2), value), Y)
    assert model.predict([[1.0, 1.0], [np.nan, 5.0]]).tolist() == [1, 1]


def odd_columns(n, rng):
    """Columns that hardly vary, or vary beyond what sums and squares of floats can hold."""
    k = np.arange(n)
    return {
        "last bits": 1 + np.finfo(float).eps * rng.integers(0, 3, n),
        "far from zero": 1e6 + 1e-9 * rng.standard_normal(n),
        "one row differs": np.where(k == 3, 1 + 1e-15, 1.0),
        "denormal": 5e-324 * rng.integers(0, 9, n),
        "one denormal": np.where(k == n // 2, 5e-324, 0.0),
        "very small": 1e-308 * rng.uniform(-1, 1, n),
        "very large": 1e308 * rng.uniform(-1, 1, n),
        "one very large": np.where(k == 7, 1e308, 1.0),
        "large and small": np.where(k % 2 == 0, 1e308, 1e-308),
        "both signs": np.where(k % 2 == 0, 1e308, -1e308),
        "one missing": np.where(k == 5, np.nan, 3.0),
    }


ODD = list(odd_columns(10, np.random.default_rng(0)))


@each_classifier
@pytest.mark.parametrize("names", [*([name] for name in ODD), ODD], ids=[*ODD, "all"])
@pytest.mark.filterwarnings("error")
def test_odd_columns_do_not_hide_an_informative_one(cls, names):
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(40, int), np.ones(80, int)]
    odd = odd_columns(len(y), rng)
    X = np.c_[*(odd[name] for name in names), 2 * y - 1 + 0.6 * rng.standard_normal(len(y))]
    model = deterministic(cls).fit(X[::2], y[::2])
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (model.predict(X[1::2]) == y[1::2]).mean() >= 0.85  # the majority class: 2 / 3


@each_classifier
def test_masked_values_are_missing_values(cls):
    rng = np.random.default_rng(0)
    X = np.ma.masked_array(rng.standard_normal((50, 3)), mask=rng.random((50, 3)) < 0.2)
    plain = X.filled(np.nan)
    masked = deterministic(cls).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(masked, deterministic(cls).fit(plain, Y).predict_proba(plain))


LONG = [2**53 + k for k in range(50)]


@pytest.mark.parametrize(
    "X",
    [
        np.array([LONG]).T,
        np.array([LONG], dtype=np.uint64).T,
        pd.DataFrame({"id": LONG}),
        pd.DataFrame({"id": pd.array(LONG, dtype="Int64")}),
        pd.DataFrame({"id": pd.array(LONG, dtype="int64[pyarrow]")}),
        pa.table({"id": LONG}),
    ],
    ids=["int64", "uint64", "frame", "Int64", "pyarrow", "arrow"],
)
def test_long_identifiers_are_not_rounded_silently(X):
    with pytest.warns(UserWarning, match=r"column (0|'id'): whole numbers beyond 2\*\*53 are rounded"):
        deterministic(surewood.BinnedForestClassifier).fit(X, Y)


@pytest.mark.filterwarnings("error")
def test_whole_numbers_that_floats_hold_are_read_without_a_word():
    X = np.array([[2**53 - k, k] for k in range(50)])
    deterministic(surewood.BinnedForestClassifier).fit(X, Y)


def test_whole_numbers_beyond_64_bits_are_read():
    X = pd.DataFrame({"x": [10**25 + k * 10**24 for k in range(50)]})
    model = deterministic(surewood.BinnedForestClassifier).fit(X, Y)
    assert model.predict(X).tolist()[0] == 0
    assert model.predict(X).tolist()[-1] == 1
