"""Quantile sketches: exact while few values are distinct, within their stated error beyond."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood.trees.sketch import Distribution, QuantileSketch


def ranks(values, weights, at):
    """Weight up to each point, by definition."""
    order = np.argsort(values, kind="stable")
    cumulative = np.append(0.0, np.cumsum(weights[order]))
    return cumulative[np.searchsorted(values[order], at, side="right")]


def sketched(column, weight, n_batches, size):
    sketch = QuantileSketch(size)
    for rows in np.array_split(np.arange(len(column)), n_batches):
        sketch.add(column[rows], None if weight is None else weight[rows])
    return sketch


COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "sorted": lambda rng, n: np.sort(rng.exponential(size=n)),
    "heavy": lambda rng, n: np.where(rng.random(n) < 0.4, 1.25, rng.normal(size=n)),
    "two scales": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n),
    "integers": lambda rng, n: rng.integers(0, 3000, n).astype(float),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", COLUMNS)
def test_ranks_are_within_the_stated_error(name, weighted):
    rng = np.random.default_rng(0)
    n = 40_000
    column = COLUMNS[name](rng, n)
    weight = rng.exponential(size=n) ** 3 if weighted else None
    full = np.ones(n) if weight is None else weight
    sketch = sketched(column, weight, 60, size=256)
    found = sketch.distribution()
    points = np.concatenate([column[:2000], rng.normal(size=500)])
    off = np.abs(ranks(found.values, found.weights, points) - ranks(column, full, points)) / full.sum()
    assert off.max() <= sketch.rank_error + 1e-12
    assert sketch.rank_error < 8 / 256  # at most one gathering a level: log2(60) levels
    assert found.total == pytest.approx(full.sum())
    assert len(found.values) <= 3 * 256 * 7


def test_the_error_at_the_size_of_the_benchmark():
    """150 batches with the default size: below a twentieth of a percent."""
    rng = np.random.default_rng(1)
    sketch = QuantileSketch()
    for _ in range(150):
        sketch.add(rng.normal(size=33_000))
    assert 0 < sketch.rank_error < 0.0005


@pytest.mark.parametrize("weighted", [False, True])
def test_few_distinct_values_are_exact(weighted):
    rng = np.random.default_rng(2)
    column = rng.integers(0, 255, 5000).astype(float)
    weight = rng.integers(0, 4, 5000).astype(float) if weighted else None
    sketch = sketched(column, weight, 33, size=255)
    found = sketch.distribution()
    values = np.unique(column)
    full = np.ones(5000) if weight is None else weight
    np.testing.assert_array_equal(found.values, values)
    np.testing.assert_array_equal(found.weights, [full[column == v].sum() for v in values])
    assert sketch.rank_error == 0.0


def test_heavy_values_keep_their_weight():
    rng = np.random.default_rng(3)
    column = np.where(rng.random(20_000) < 0.3, 7.0, rng.normal(size=20_000))
    found = sketched(column, None, 20, size=64).distribution()
    assert found.weights[found.values == 7.0] == (column == 7.0).sum()


def test_missing_values_and_rows_of_weight_0_do_not_count():
    sketch = QuantileSketch()
    sketch.add(np.array([np.nan, 1.0, 2.0, 2.0]), np.array([1.0, 0.0, 1.0, 3.0]))
    sketch.add(np.array([np.nan, np.nan]))
    found = sketch.distribution()
    assert found.values.tolist() == [2.0]
    assert found.weights.tolist() == [4.0]
    assert QuantileSketch().distribution().total == 0.0
    assert QuantileSketch().rank_error == 0.0


def test_sketches_of_parts_merge():
    rng = np.random.default_rng(4)
    column = rng.normal(size=30_000)
    whole = sketched(column[:15_000], None, 20, size=128)
    whole.merge(sketched(column[15_000:], None, 25, size=128))
    found = whole.distribution()
    off = np.abs(ranks(found.values, found.weights, column) - ranks(column, np.ones(30_000), column))
    assert off.max() / 30_000 <= whole.rank_error + 1e-12 < 0.1
    assert found.total == 30_000


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=300), st.integers(2, 40))
def test_gathering_never_moves_a_rank_by_more_than_it_says(values, size):
    column = np.array(values)
    exact = Distribution.of(column)
    gathered = exact.gather(size)
    off = np.abs(
        ranks(gathered.values, gathered.weights, column) - ranks(exact.values, exact.weights, column)
    )
    assert off.max() <= gathered.error + 1e-9 <= len(column)
    assert set(gathered.values) <= set(exact.values)
    assert gathered.total == pytest.approx(len(column))
