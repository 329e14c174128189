import numpy as np

from surewood.deepforest.contrast_units import ContrastUnits


def drawn(X, n_units=40, n_kept=15, seed=0):
    return ContrastUnits.draw(X, n_units, n_kept, np.random.RandomState(seed))


def test_units_are_squared_distances_along_contrasts_beyond_a_threshold():
    X = np.random.default_rng(0).normal(size=(60, 7)) * [1, 10, 100, 1e-3, 1, 1, 1]
    units = drawn(X)
    scaled = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    kept = units.rows.astype(np.float64)
    assert all((np.abs(scaled - row).max(axis=1) < 1e-6).any() for row in kept)  # training rows
    values = units.values(units.projections(X))
    for j in range(units.n_units):
        along = scaled @ (kept[units.first[j]] - kept[units.second[j]])
        far = np.maximum(0.0, units.slope[j] * along - units.threshold[j])
        np.testing.assert_allclose(values[:, j], far**2, atol=2e-4)
    ends = units.first != units.second
    shares = (values > 0).mean(axis=0)[ends]
    assert shares.min() >= 0.05
    assert shares.max() <= 0.95


def test_equal_rows_and_constant_columns_give_units_of_nothing():
    X = np.ones((30, 5))
    np.testing.assert_array_equal(drawn(X).values(drawn(X).projections(X + 1.0)), 0.0)


def test_huge_numbers_have_a_range():
    X = np.array([[-1.7e308, 1.0], [1.7e308, 2.0], [0.0, 3.0]])
    units = drawn(X)
    assert np.isfinite(units.values(units.projections(X))).all()
