"""Declared sizes are checked before reading; a signature says who wrote a file."""

import io
import json
import zipfile

import numpy as np
import pytest

import surewood
from surewood.persistence import ModelFileError, archive
from tests.persistence.forging import forge

X, Y = [[0.0], [1.0]] * 5, [0, 1] * 5


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    model = surewood.BinnedForestClassifier(2, random_state=0).fit(X, Y)
    return surewood.save(model, tmp_path_factory.mktemp("m") / "m")


def test_a_file_that_unpacks_to_thousands_of_times_its_size_is_refused(path, tmp_path, monkeypatch):
    """Scaled down: 40 MB of zeros in 40 kB, and a limit of 10 MB."""
    monkeypatch.setattr(archive, "_ALWAYS_FINE", 10 << 20)
    forged = forge(path, tmp_path / "f", lambda name, content: content, zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(forged, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("more.npy", bytes(40 << 20))
    monkeypatch.setattr(archive, "digest", None)
    with pytest.raises(ModelFileError, match=r"bytes and would unpack to 4.*no model does that\.$"):
        surewood.load(forged)


def test_a_file_larger_than_memory_is_refused_unless_it_is_mapped(tmp_path, monkeypatch):
    model = surewood.BinnedForestClassifier(2, random_state=0).fit(X, Y)
    path = surewood.save(model, tmp_path / "m", compress=False)
    with zipfile.ZipFile(path) as file:
        arrays = sum(one.file_size for one in file.infolist() if one.filename.endswith(".npy"))
        text = sum(one.file_size for one in file.infolist()) - arrays
    monkeypatch.setattr(archive, "_available_memory", lambda: 24 * text + arrays // 2)
    with pytest.raises(ModelFileError, match=r"would need [\d,]+ bytes of memory; [\d,]+ are available\.$"):
        surewood.load(path)
    assert surewood.load(path, mmap_mode="r").predict([[1.0]]) == [1]


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        npy(np.zeros(3)).replace(b"(3,)", b"(9,)"),
        npy(np.zeros(3)).replace(b"(3,)", b"(-3,)"),
        npy(np.zeros(3)).replace(b"'<f8'", b"'|O8'"),
        npy(np.zeros(3)).replace(b"<f8", b"<f4"),
        npy(np.zeros((3, 1)))[:-1],
        b"\x93NUMPY\x07\x00",
        b"",
    ],
    ids=["longer", "negative", "objects", "narrower", "short", "version", "empty"],
)
def test_headers_that_lie_are_refused(path, tmp_path, content):
    forged = forge(path, tmp_path / "f", lambda name, old: content if name.endswith(".npy") else old)
    with pytest.raises(ModelFileError, match="cannot be rebuilt"):
        surewood.load(forged)


def test_a_header_of_many_sides_overflows_nothing(path, tmp_path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }" % (b"4294967296, " * 4)
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    forged = forge(path, tmp_path / "f", lambda name, old: content if name.endswith(".npy") else old)
    with pytest.raises(ModelFileError, match="cannot be rebuilt"):
        surewood.load(forged)


def test_available_memory_is_a_plausible_number():
    assert archive._available_memory() is None or 1 << 20 < archive._available_memory() < 1 << 50


@pytest.mark.parametrize("key", ["secret", b"secret"])
def test_a_signed_file_is_read_with_its_key_and_without(tmp_path, key):
    model = surewood.BinnedForestClassifier(2, random_state=0).fit(X, Y)
    path = surewood.save(model, tmp_path / "m", key=key)
    for options in ({}, {"key": "secret"}, {"key": b"secret"}):
        assert surewood.load(path, **options).predict([[1.0]]) == [1]


def test_another_key_an_unsigned_file_and_a_forged_one_are_refused(path, tmp_path):
    model = surewood.BinnedForestClassifier(2, random_state=0).fit(X, Y)
    signed = surewood.save(model, tmp_path / "m", key="secret")
    with pytest.raises(ModelFileError, match="was not signed with this key, or was altered since"):
        surewood.load(signed, key="other")
    with pytest.raises(ModelFileError, match="is not signed, but a key was given"):
        surewood.load(path, key="secret")
    forged = forge(signed, tmp_path / "f", lambda name, content: content.replace(b"\x01", b"\x02"))
    with pytest.raises(ModelFileError, match="was not signed with this key, or was altered since"):
        surewood.load(forged, key="secret")
    with pytest.raises(ValueError, match=r"^key must not be empty\.$"):
        surewood.save(model, tmp_path / "n", key="")


def test_the_signature_covers_the_whole_card(tmp_path):
    model = surewood.BinnedForestClassifier(2, random_state=0).fit(X, Y)
    card = archive.read_card(surewood.save(model, tmp_path / "m", key="secret"))
    for name in set(card) - {"signature"}:
        assert archive.signature("secret", {**card, name: "other"}) != card["signature"]
    assert json.dumps(card)
