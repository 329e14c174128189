"""Members of an aligned archive can be mapped; others are left to be read."""

import io
import zipfile

import numpy as np
import pytest

from surewood.persistence.mapped_arrays import align, map_member


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.fixture
def archive(tmp_path):
    plain, aligned = tmp_path / "plain.zip", tmp_path / "aligned.zip"
    arrays = {
        "large.npy": np.arange(5000.0).reshape(100, 50),
        "fortran.npy": np.asfortranarray(np.arange(6000.0).reshape(60, 100)),
        "small.npy": np.arange(3),
        "objects.npy": np.array(["x"] * 9000, dtype=object),
    }
    with zipfile.ZipFile(plain, "w") as file:
        for name, array in arrays.items():
            file.writestr(name, npy(array))
    align(plain, aligned)
    return aligned, arrays


@pytest.mark.parametrize("name", ["large.npy", "fortran.npy"])
def test_large_arrays_are_mapped_with_their_values_and_order(archive, name):
    path, arrays = archive
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        found = map_member(path, file.getinfo(name), "r")
    np.testing.assert_array_equal(found, arrays[name])
    assert found.flags.f_contiguous == arrays[name].flags.f_contiguous
    assert found.ctypes.data % 64 == 0
    assert not found.flags.writeable


@pytest.mark.parametrize("name", ["small.npy", "objects.npy"])
def test_small_arrays_and_objects_are_read(archive, name):
    path, _ = archive
    with zipfile.ZipFile(path) as file:
        assert map_member(path, file.getinfo(name), "r") is None


def test_compressed_members_are_read(tmp_path):
    path = tmp_path / "deflated.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("large.npy", npy(np.arange(5000.0)))
    with zipfile.ZipFile(path) as file:
        assert map_member(path, file.getinfo("large.npy"), "r") is None
