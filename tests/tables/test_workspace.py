"""Room for large arrays: parts that are joined, files that are made, reserved and removed, memory."""

from __future__ import annotations

import os
import pickle
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from surewood.tables.workspace import (
    GrowingArray,
    NoSpaceError,
    Workspace,
    alongside,
    available_memory,
    is_mapped,
)


@pytest.mark.parametrize("first_fraction", [1e-3, 0.2, 1.0, 3.0])
def test_parts_join_whatever_was_expected(first_fraction):
    rng = np.random.default_rng(0)
    parts = [rng.integers(0, 9, size=(n, 2)).astype(np.uint16) for n in (3, 0, 100, 1)]
    array = GrowingArray(first_fraction)
    for part in parts:
        array.add(part)
    assert array.joined().dtype == np.uint16
    np.testing.assert_array_equal(array.joined(), np.concatenate(parts))


def test_an_empty_first_part():
    array = GrowingArray(0.5)
    array.add(np.zeros(0))
    array.add(np.ones(5))
    np.testing.assert_array_equal(array.joined(), np.ones(5))


def test_files_live_in_the_folder_and_go_with_it(tmp_path):
    workspace = Workspace(tmp_path)
    array = workspace.array((3, 2), np.int32)
    array[:] = 5
    assert is_mapped(array)
    assert is_mapped(array[1:])
    (folder,) = tmp_path.iterdir()
    assert len(os.listdir(folder)) == 1
    workspace.close()
    assert list(tmp_path.iterdir()) == []
    assert array.sum() == 30  # pages that are mapped stay readable
    assert not is_mapped(array)


def test_arrays_beside_others_are_of_their_kind(tmp_path):
    workspace = Workspace(tmp_path)
    mapped = workspace.array((2,), np.float64)
    assert is_mapped(alongside(mapped, (4,), np.uint8))
    assert not is_mapped(alongside(np.zeros(2), (4,), np.uint8))
    assert alongside(mapped, (0, 3), np.uint8).shape == (0, 3)
    workspace.close()


def test_a_full_disk_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=1000))
    with pytest.raises(NoSpaceError, match=r"binning needs 2\.5 MB of disk in .*which has 1\.0 kB free"):
        Workspace(tmp_path).require(2_500_000, "binning")


def test_a_folder_that_is_none_is_named(tmp_path):
    with pytest.raises(ValueError, match="is not a folder; make it first"):
        Workspace(tmp_path / "absent").array((1,), np.uint8)


def test_a_copy_has_the_place_and_no_files(tmp_path):
    workspace = Workspace(tmp_path)
    workspace.array((1,), np.uint8)
    copy = pickle.loads(pickle.dumps(workspace))
    copy.close()
    assert len(list(tmp_path.iterdir())) == 1
    workspace.close()


def test_available_memory_is_a_plausible_number():
    assert available_memory() is None or 1 << 20 < available_memory() < 1 << 50
