"""Marked arrays: named in tasks, sent once, freed with the array."""

import gc
import os

import joblib
import numpy as np
import pytest
from joblib import delayed

import surewood.parallel.sharing as sharing
from surewood.parallel import run_tasks, share
from surewood.parallel.dask_engine import DaskEngine
from surewood.parallel.process_engine import ProcessEngine
from surewood.parallel.ray_engine import RayEngine
from surewood.parallel.sharing import pack, unpack
from tests.parallel.hazards import given_back, total


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
