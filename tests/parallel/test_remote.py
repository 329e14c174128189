"""Bundles: order kept, sizes sensible.

Marked arrays: named in tasks, given back by name, forgotten with the array.
"""

from __future__ import annotations

import gc
import os

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import delayed

from surewood.parallel import remote, run_tasks, share, worker_count
from surewood.parallel.remote import bundle_spans, mark_of, pack, run_bundle, run_remotely, unpack
from tests.parallel.hazards import given_back, total


@given(st.lists(st.floats(0, 5), min_size=1, max_size=60), st.integers(1, 8))
def test_spans_cover_all_tasks_in_order(cost, workers):
    spans = bundle_spans(np.array(cost), workers)
    assert [k for first, last in spans for k in range(first, last)] == list(range(len(cost)))
    held = [sum(cost[first:last]) for first, last in spans]
    assert max(held) <= remote.LONGEST_BUNDLE + max(cost)


def test_little_work_and_single_tasks_stay_here():
    with joblib.parallel_config("loky", n_jobs=2):
        assert list(run_remotely(2, [delayed(os.getpid)()] * 5, 1e-4)) == [os.getpid()] * 5
        assert list(run_remotely(2, [delayed(os.getpid)()], 100.0)) == [os.getpid()]


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_more_work_goes_to_processes_and_comes_back_in_order(backend):
    with joblib.parallel_config(backend, n_jobs=2):
        found = list(run_tasks([delayed(_number_here)(k) for k in range(20)], 2, seconds=1.0))
    assert [k for k, _ in found] == list(range(20))
    assert os.getpid() not in {process for _, process in found}


def _number_here(k):
    return k, os.getpid()


def test_tasks_on_a_worker_give_nothing_to_other_workers():
    with joblib.parallel_config("loky", n_jobs=2):
        assert list(run_tasks([delayed(worker_count)(2) for _ in range(3)], 2)) == [0, 0, 0]


def test_another_version_on_the_worker_is_refused():
    with pytest.raises(
        RuntimeError, match=r"has surewood .*, this program 0\.0\.0.*Install the same version"
    ):
        run_bundle("0.0.0", pack([])[0], [])


class Holder:
    def __init__(self, table):
        self.table = table


def test_a_marked_array_is_a_name_wherever_it_stands():
    table = np.arange(100_000.0)
    before = len(pack([table])[0])
    share(table)
    blob, arrays = pack([Holder(table), (lambda: table)])
    assert len(blob) < 10_000 < before
    assert next(iter(arrays.values())) is table
    holder, closure = unpack(blob, arrays)
    assert holder.table is table
    assert closure() is table


def test_views_and_copies_of_a_marked_array_travel_themselves():
    table = np.arange(100_000.0)
    share(table)
    blob, arrays = pack([table[:10], table.copy()])
    assert not arrays
    part, whole = unpack(blob, {})
    np.testing.assert_array_equal(part, table[:10])
    np.testing.assert_array_equal(whole, table)


def test_small_arrays_and_other_things_are_not_marked():
    small = np.zeros(10)
    share(small, None, "text")
    assert mark_of(small) is None


def test_an_array_is_forgotten_when_it_dies():
    table = np.zeros(100_000)
    share(table)
    known = len(remote._marked)
    del table
    gc.collect()
    assert len(remote._marked) == known - 1


@pytest.fixture
def on_processes(everything_remote):
    with joblib.parallel_config("loky", n_jobs=2):
        yield


@pytest.mark.parametrize("engine", ["on_dask", "on_ray", "on_processes"])
def test_arrays_are_given_back_by_name(engine, request):
    request.getfixturevalue(engine)
    table = np.random.default_rng(0).normal(size=(40, 1000))
    share(table)
    found = list(run_tasks([delayed(total)(table, k) for k in range(40)], -1))
    assert found == [float(row.sum()) for row in table]
    for same, part in run_tasks([delayed(given_back)(table) for _ in range(3)], -1):
        assert same is table
        np.testing.assert_array_equal(part, table[:2])
