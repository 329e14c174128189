"""Blocks of rows: the same arrays in threads and elsewhere."""

import joblib
import numpy as np
import pytest

from surewood.parallel import over_rows


def double(factor, rows, out, counts):
    out[:] = factor * rows
    counts[:] = len(rows)


def doubled(n_jobs=None):
    X = np.arange(70.0).reshape(35, 2)
    out, counts = np.zeros((35, 2)), np.zeros(35, dtype=np.int32)
    over_rows(double, (2.0,), lambda a, b: (X[a:b],), [out, counts], n_rows=35, rows_a_task=10, n_jobs=n_jobs,
              seconds_a_row=1e-6)  # fmt: skip
    return out, counts


def test_threads():
    for n_jobs in (1, 2):
        out, counts = doubled(n_jobs)
        np.testing.assert_array_equal(out, 2.0 * np.arange(70.0).reshape(35, 2))
        assert counts.tolist() == [10] * 30 + [5] * 5


def fail(rows, out):
    raise ValueError("bad rows")


def test_a_failing_block_tells_the_others():
    stop = np.zeros(1, dtype=np.uint8)
    with pytest.raises(ValueError, match="bad rows"):
        over_rows(fail, (), lambda a, b: (a,), [np.zeros(9)], n_rows=9, rows_a_task=2, n_jobs=2,
                  seconds_a_row=1e-6, stop=stop)  # fmt: skip
    assert stop[0] == 1


def test_on_dask(on_dask):
    for own, other in zip(doubled(), doubled(1)):
        np.testing.assert_array_equal(own, other)


def test_little_work_is_not_sent(monkeypatch):
    with joblib.parallel_config("loky", n_jobs=2):
        out, _ = doubled()
    np.testing.assert_array_equal(out, doubled(1)[0])
