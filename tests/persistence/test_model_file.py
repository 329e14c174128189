"""Saved models: the same predictions, small, all or nothing; damaged and foreign files are refused."""

import json
import pickle
from functools import cache

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import surewood
from surewood.persistence import ModelFileError, model_file, read_card, read_facts
from tests.contract.estimators import exported, small
from tests.persistence.forging import forge, put_together, taken_apart

X, Y = load_iris(return_X_y=True)
each_estimator = pytest.mark.parametrize("cls", exported(), ids=lambda c: c.__name__)


@cache
def fitted(cls):
    return small(cls).fit(X, Y)


@cache
def forest():
    return surewood.BinnedForestClassifier(5, random_state=0).fit(X, Y)


def outputs(model):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.transform(X)


@each_estimator
@pytest.mark.parametrize(
    ("compress", "mode"), [(True, None), (False, None), (False, "r"), (False, "c")], ids=str
)
def test_the_same_model_comes_back(cls, compress, mode, tmp_path):
    model = fitted(cls)
    again = surewood.load(surewood.save(model, tmp_path / "m", compress=compress), mmap_mode=mode)
    np.testing.assert_array_equal(outputs(again), outputs(model))
    assert again.get_params() == model.get_params()


@each_estimator
def test_pickle_and_joblib(cls, tmp_path):
    model = fitted(cls)
    joblib.dump(model, tmp_path / "m")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "m")):
        np.testing.assert_array_equal(outputs(again), outputs(model))


def test_arrays_are_mapped_and_read_only(tmp_path):
    path = surewood.save(forest(), tmp_path / "m", compress=False)
    nodes = surewood.load(path, mmap_mode="r").forest_.nodes
    base = nodes
    while not isinstance(base, np.memmap):
        base = base.base
    assert str(base.filename) == str(path)
    assert nodes.ctypes.data % 64 == 0
    assert not nodes.flags.writeable
    changeable = surewood.load(path, mmap_mode="c")
    assert changeable.background_.flags.writeable
    assert not changeable.forest_.nodes.flags.writeable  # checked once, followed without looking
    with pytest.raises(ValueError, match="mmap_mode must be None, 'r' or 'c', got 'w'"):
        surewood.load(path, mmap_mode="w")
    read = surewood.load(surewood.save(forest(), tmp_path / "z"), mmap_mode="r")  # compressed
    np.testing.assert_array_equal(outputs(read), outputs(forest()))


def test_facts_and_card(tmp_path):
    facts = {"owner": "me", "table": ["é", None, 0.5]}
    path = surewood.save(forest(), tmp_path / "m", facts=facts)
    assert read_facts(path) == facts
    assert read_facts(surewood.save(forest(), tmp_path / "n")) == {}
    card = read_card(path)
    assert card["format"] == model_file.FORMAT
    assert (card["model"], card["surewood"]) == ("BinnedForestClassifier", surewood.__version__)
    assert len(card["sha256"]) == 64


def test_an_unfitted_model_is_refused_and_leaves_nothing(tmp_path):
    with pytest.raises(NotFittedError):
        surewood.save(surewood.BinnedForestClassifier(), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_keeps_the_old_file(tmp_path, monkeypatch):
    path = surewood.save(forest(), tmp_path / "m")
    before = path.read_bytes()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(model_file.zlib, "compress", full)
    with pytest.raises(OSError, match="No space left"):
        surewood.save(forest(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_format_is_what_its_description_says(tmp_path):
    """Files that the tests write by themselves are read, compressed or not."""
    path = surewood.save(forest(), tmp_path / "m", compress=False)
    for compress in (False, True):
        again = surewood.load(forge(path, tmp_path / "f", lambda header, arrays: None, compress))
        np.testing.assert_array_equal(outputs(again), outputs(forest()))


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x05\x06" + bytes(200), b"surewood", b"surewoo" * 40])
def test_files_that_are_no_models(tmp_path, content):
    path = tmp_path / "m"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="is not a surewood model"):
        surewood.load(path)
    with pytest.raises(ModelFileError, match="there is no model file"):
        surewood.load(tmp_path / "absent")


def test_a_file_without_permission_is_not_called_broken(tmp_path, monkeypatch):
    path = surewood.save(forest(), tmp_path / "m")

    def refuse(*_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(model_file.Path, "open", refuse)
    with pytest.raises(ModelFileError, match=r"may not be read: no permission\.$"):
        read_card(path)


@pytest.mark.parametrize("compress", [True, False])
def test_any_flipped_bit_is_noticed_or_harmless(tmp_path, compress):
    path = surewood.save(forest(), tmp_path / "m", compress=compress)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in [*range(128), *rng.integers(128, len(content), 150)]:
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(damaged))
        if 72 <= place < 128:  # the signature, which no key checks here, and padding
            np.testing.assert_array_equal(outputs(surewood.load(path)), outputs(forest()))
        else:
            with pytest.raises(ModelFileError):
                surewood.load(path)
    for length in (10, 103, 130, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError):
            surewood.load(path)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([["<f8", [9], "C", 24]], "declares 72 bytes, not the 24 that it has"),
        ([["<f8", [-3], "C", 24]], "no shape"),
        ([["<f8", [3.0], "C", 24]], "no shape"),
        ([["<f8", [3], "A", 24]], "no shape"),
        ([["<f8", [1] * 40 + [3], "C", 24]], "no shape"),
        ([["<f8", [0, 2**60], "C", 0]], "no shape"),
        ([["<f8", [10**4000] * 3000, "C", 24]], "no shape"),
        ([["|b1", [0], "C", 0]] * 100_001, "more than 100,000 arrays"),
        ([["<f4", [3], "C", 24]], "declares 12 bytes"),
        ([["<f8", [2**32] * 4, "C", 24]], "declares"),
        ([["<f8", [3], "C", 2**63]], "declares"),
        ([["|O", [3], "C", 24]], "no dtype of a model file"),
        ([["<U0", [2**60], "C", 0]], "no dtype of a model file"),
        ([["<f8,<f8", [3], "C", 24]], "no dtype of a model file"),
        ([[["<f8"], [3], "C", 24]], "no dtype of a model file"),
        ([["|b1", [24], "C", 24]], "truth values"),
        ([["<U6", [1], "C", 24]], "no characters"),
        ([], "its arrays end at byte 128, not 192"),
        ([["<f8", [3], "C", 24]] * 2, "its arrays end at byte 256, not 192"),
        ([["<f8", [3], "C"]], ""),
        (7, ""),
        (None, ""),
    ],
)
@pytest.mark.parametrize("mode", [None, "r"])
def test_arrays_that_are_not_what_they_declare_are_refused(tmp_path, table, words, mode):
    path = put_together(tmp_path / "f", {"arrays": table, "tree": None}, [np.full(3, -1.5)])
    with pytest.raises(ModelFileError, match=f"was altered or damaged after it was saved.*{words}"):
        surewood.load(path, mmap_mode=mode)


@pytest.mark.parametrize(
    "header", [b"", b"{}", b"[1]", b"no JSON", b"\xff", b"[" * 100_000, b"9" * 5000, b'{"arrays":[]}']
)
def test_headers_that_are_none_are_refused(tmp_path, header):
    with pytest.raises(ModelFileError, match=r"was altered or damaged|cannot be rebuilt"):
        surewood.load(put_together(tmp_path / "f", header, []))


@pytest.mark.parametrize("nested", [b"[]", b"{}", b"[" * 300 + b"]" * 300, b'{"":{}}'])
def test_headers_that_would_fill_the_memory_are_refused(tmp_path, nested):
    facts = b",".join([nested] * (1 + (1 << 20) // nested.count(nested[:1])))
    with pytest.raises(ModelFileError, match=r"has more than 1,048,576 lists and objects; no model does\.$"):
        surewood.load(put_together(tmp_path / "f", b'{"tree":null,"facts":[%s],"arrays":[]}' % facts, []))


def test_files_that_unpack_to_more_than_they_plausibly_hold_are_refused(tmp_path, monkeypatch):
    """Scaled down: 40 MB of zeros in 40 kB, and a limit of 10 MB; then a header of 17 MB."""
    monkeypatch.setattr(model_file, "_ALWAYS_FINE", 10 << 20)
    path = put_together(tmp_path / "f", {"tree": None}, [np.zeros(5 << 20)], compress=True)
    with pytest.raises(ModelFileError, match=r"bytes and would unpack to 4.*no model does that\.$"):
        surewood.load(path)
    put_together(path, b" " * (17 << 20), [], compress=True)
    with pytest.raises(ModelFileError, match=r"has a header of 17,\d+,\d+ bytes; no model does that"):
        surewood.load(path)
    put_together(path, b" " * (17 << 20), [], compress=True, length=100)
    with pytest.raises(ModelFileError, match="was altered or damaged"):
        read_card(path)


def test_a_file_larger_than_memory_is_refused_unless_it_is_mapped(tmp_path, monkeypatch):
    path = surewood.save(forest(), tmp_path / "m", compress=False)
    header, arrays = taken_apart(path)
    text = len(json.dumps(header, separators=(",", ":")))
    monkeypatch.setattr(
        model_file, "_available_memory", lambda: 24 * text + sum(array.nbytes for array in arrays) // 2
    )
    with pytest.raises(ModelFileError, match=r"would need [\d,]+ bytes of memory; [\d,]+ are available\.$"):
        surewood.load(path)
    np.testing.assert_array_equal(outputs(surewood.load(path, mmap_mode="r")), outputs(forest()))


def test_other_formats_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match=r"has format 99; surewood .* reads format \d+\.$"):
        surewood.load(put_together(tmp_path / "f", {"tree": None}, [], format=99))


@pytest.mark.parametrize("key", ["secret", b"secret"])
def test_a_signed_file_is_read_with_its_key_and_without(tmp_path, key):
    path = surewood.save(forest(), tmp_path / "m", key=key)
    for options in ({}, {"key": "secret"}, {"key": b"secret"}):
        np.testing.assert_array_equal(outputs(surewood.load(path, **options)), outputs(forest()))


def test_another_key_an_unsigned_file_and_a_forged_one_are_refused(tmp_path):
    signed = surewood.save(forest(), tmp_path / "m", key="secret", compress=False)
    with pytest.raises(ModelFileError, match="was not signed with this key, or was altered since"):
        surewood.load(signed, key="other")
    forged = forge(signed, tmp_path / "f", lambda header, arrays: header.update(facts={"error": 0}))
    with pytest.raises(ModelFileError, match="is not signed, but a key was given"):
        surewood.load(forged, key="secret")
    forged.write_bytes(forged.read_bytes()[:72] + signed.read_bytes()[72:104] + forged.read_bytes()[104:])
    with pytest.raises(ModelFileError, match="was not signed with this key, or was altered since"):
        surewood.load(forged, key="secret")
    with pytest.raises(ValueError, match=r"^key must not be empty\.$"):
        surewood.save(forest(), tmp_path / "n", key="")
    assert not (tmp_path / "n").exists()
