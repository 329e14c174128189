"""The design matrix: standardised, one-hot, imputed, and never infinite."""

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from surewood.tables import DesignEncoder, TableSchema, design


def table_of(frame):
    return TableSchema.learn(frame).read(frame)


def test_numbers_as_scikit_learn_standardises_them():
    X = np.random.default_rng(0).normal(3, 7, (50, 4))
    weight = np.arange(50) % 3.0
    ours = DesignEncoder().fit(table_of(X), weight).transform(table_of(X))
    np.testing.assert_allclose(ours, StandardScaler().fit(X, sample_weight=weight).transform(X))


def test_weight_two_is_the_row_twice():
    X = np.random.default_rng(1).normal(size=(5, 2))
    weighted = DesignEncoder().fit(table_of(X), np.array([2.0, 1, 1, 1, 0]))
    copied = DesignEncoder().fit(table_of(X[[0, 0, 1, 2, 3]]))
    np.testing.assert_allclose(weighted.transform(table_of(X)), copied.transform(table_of(X)))


def test_missing_categories_and_constants():
    frame = pd.DataFrame(
        {"n": [1.0, np.nan, 3.0], "c": ["x", "y", None], "k": [5.0, 5.0, 5.0], "full": ["p", "q", "p"]}
    )
    encoder = DesignEncoder().fit(table_of(frame))
    assert encoder.origin_.tolist() == [0, 0, 1, 1, 1, 2, 3, 3]
    np.testing.assert_allclose(
        encoder.transform(table_of(frame)),
        [[-1, 0, 1, 0, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0, 0, 1], [1, 0, 0, 0, 1, 0, 1, 0]],
    )
    later = pd.DataFrame({"n": [2.0], "c": ["new"], "k": [6.0], "full": [None]})
    schema = TableSchema.learn(frame)
    # An unseen category reads as missing; a column that was never missing has no place for it.
    np.testing.assert_allclose(encoder.transform(schema.read(later)), [[0, 0, 0, 0, 1, 1, 0, 0]])


def test_rare_categories_share_a_column(monkeypatch):
    monkeypatch.setattr(design, "MAX_CATEGORIES", 2)
    frame = pd.DataFrame({"c": list("aaabbbccd")})
    encoder = DesignEncoder().fit(table_of(frame))
    np.testing.assert_array_equal(encoder.transform(table_of(frame)).sum(axis=0), [3, 3, 3])


def test_extreme_values_stay_finite():
    for X in ([[1e300], [-1e300], [0.0]], [[1e-300], [2e-300], [0.0]], [[1e15], [1e15 + 0.125], [1e15]]):
        encoded = DesignEncoder().fit(table_of(np.array(X))).transform(table_of(np.array(X)))
        assert np.isfinite(encoded).all()
        assert np.abs(encoded).max() <= 2.0


def test_without_scaling_numbers_pass():
    X = np.array([[1.0, np.nan], [3.0, 4.0]])
    encoded = DesignEncoder(scale=False).fit(table_of(X)).transform(table_of(X))
    np.testing.assert_array_equal(encoded, [[1, 4, 1], [3, 4, 0]])


def test_values_far_beyond_those_of_training_stay_finite():
    encoder = DesignEncoder().fit(table_of(np.array([[1e-310], [2e-310]])))
    assert np.isfinite(encoder.transform(table_of(np.array([[1.7e308], [-1.7e308]])))).all()


def test_few_rows_have_the_same_design_as_many():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) * [1.0, 1e200, 1e-200, 5.0]
    X[:, 3] = 7.0
    encoder = DesignEncoder().fit(table_of(X))
    X[3, 0] = 1e308
    whole = encoder.transform(table_of(X))
    parts = [encoder.transform(table_of(X[start : start + 50])) for start in range(0, 200, 50)]
    np.testing.assert_array_equal(whole, np.vstack(parts))
