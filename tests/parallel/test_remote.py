"""Bundles: order kept, sizes sensible, results whatever the engine's order.

Marked arrays: named in tasks, sent once, freed with the array.
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

import surewood
import surewood.parallel.remote as sharing
from surewood.parallel import remote, run_tasks, share
from surewood.parallel.engines import DaskEngine, ProcessEngine, RayEngine
from surewood.parallel.remote import bundle_spans, in_words, pack, run_bundle, run_remotely, unpack
from tests.parallel.hazards import given_back, total


@given(st.lists(st.floats(0, 5), min_size=1, max_size=60), st.integers(1, 8))
def test_spans_cover_all_tasks_in_order(cost, workers):
    spans = bundle_spans(np.array(cost), workers)
    assert [k for first, last in spans for k in range(first, last)] == list(range(len(cost)))
    held = [sum(cost[first:last]) for first, last in spans]
    assert max(held) <= remote.LONGEST_BUNDLE + max(cost)


class Backwards:
    """An engine that answers in the wrong order."""

    key, n_workers = "backwards", 3

    def upload(self, arrays):
        return arrays

    def is_lost(self, reference):
        return False

    def run(self, packages):
        for number, blob, arrays in reversed(list(packages)):
            yield number, run_bundle(surewood.__version__, blob, list(arrays), *arrays.values())


def test_results_come_in_the_order_of_the_tasks():
    tasks = [delayed(abs)(-k) for k in range(20)]
    assert list(run_remotely(Backwards(), tasks, 1.0)) == list(range(20))
    assert list(run_remotely(Backwards(), tasks)) == list(range(20))


class Unreachable(Backwards):
    def run(self, packages):
        raise AssertionError("nothing should be sent")
        yield


def test_little_work_and_single_tasks_stay_here():
    assert list(run_remotely(Unreachable(), [delayed(abs)(-1)] * 5, 1e-4)) == [1] * 5
    assert list(run_remotely(Unreachable(), [delayed(abs)(-1)], 100.0)) == [1]


def test_another_version_on_the_worker_is_refused():
    with pytest.raises(
        RuntimeError, match=r"has surewood .*, this program 0\.0\.0.*Install the same version"
    ):
        run_bundle("0.0.0", pack([])[0], [])


def test_workers_without_surewood_are_told_apart_from_other_missing_modules():
    assert "do not have surewood" in str(in_words(ModuleNotFoundError("x", name="surewood.trees")))
    other = ModuleNotFoundError("x", name="pandas")
    assert in_words(other) is other


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
    assert sharing.find(small) is None


def test_an_array_is_forgotten_when_it_dies():
    table = np.zeros(100_000)
    share(table)
    known = len(sharing._entries)
    del table
    gc.collect()
    assert len(sharing._entries) == known - 1


@pytest.fixture
def on_processes(everything_remote):
    with joblib.parallel_config("loky", n_jobs=2):
        yield


@pytest.mark.parametrize(
    ("engine", "kind"),
    [
        pytest.param("on_dask", DaskEngine, id="dask"),
        pytest.param("on_ray", RayEngine, id="ray"),
        pytest.param("on_processes", ProcessEngine, id="loky"),
    ],
)
def test_sent_once_and_given_back_by_name(engine, kind, request, monkeypatch):
    request.getfixturevalue(engine)
    sent = []
    upload = kind.upload
    monkeypatch.setattr(kind, "upload", lambda self, arrays: sent.extend(arrays) or upload(self, arrays))
    table = np.random.default_rng(0).normal(size=(40, 1000))
    share(table)
    for _ in range(2):
        found = list(run_tasks([delayed(total)(table, k) for k in range(40)], -1))
        assert found == [float(row.sum()) for row in table]
    assert sum(array is table for array in sent) == 1
    for same, part in run_tasks([delayed(given_back)(table) for _ in range(3)], -1):
        assert same is table
        np.testing.assert_array_equal(part, table[:2])


def test_mapped_files_are_removed(everything_remote):
    table = np.random.default_rng(0).normal(size=(40, 1000))
    share(table)
    with joblib.parallel_config("loky", n_jobs=2):
        list(run_tasks([delayed(total)(table, k) for k in range(4)], -1))
    path = sharing.find(table).remote[("processes",)].path
    assert os.path.exists(path)
    del table
    gc.collect()
    assert not os.path.exists(path)
