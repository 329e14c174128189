"""Saved models: the same predictions, small, all or nothing, and nothing in the file can run code."""

import json
import pickle
import zipfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import surewood
from surewood.persistence import ModelFileError, model_file, read_card
from surewood.persistence.mapped_arrays import mapped_from
from tests.contract.estimators import exported, small

X, Y = load_iris(return_X_y=True)
each_estimator = pytest.mark.parametrize("cls", exported(), ids=lambda c: c.__name__)


@cache
def fitted(cls):
    return small(cls).fit(X, Y)


def outputs(model):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.transform(X)


@each_estimator
@pytest.mark.parametrize("compress", [True, False])
def test_the_same_model_comes_back(cls, compress, tmp_path):
    model = fitted(cls)
    again = surewood.load(surewood.save(model, tmp_path / "m.surewood", compress=compress))
    np.testing.assert_array_equal(outputs(again), outputs(model))
    assert again.get_params() == model.get_params()


@each_estimator
def test_mapped_from_disk_the_same_model_comes_back(cls, tmp_path):
    model = fitted(cls)
    path = surewood.save(model, tmp_path / "m", compress=False)
    for mode in ("r", "c"):
        np.testing.assert_array_equal(outputs(surewood.load(path, mmap_mode=mode)), outputs(model))


@each_estimator
def test_pickle_and_joblib(cls, tmp_path):
    model = fitted(cls)
    joblib.dump(model, tmp_path / "m")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "m")):
        np.testing.assert_array_equal(outputs(again), outputs(model))


def test_large_arrays_are_mapped_and_read_only(tmp_path):
    rng = np.random.default_rng(0)
    data, labels = rng.normal(size=(2000, 5)), rng.integers(0, 2, 2000)
    model = surewood.BinnedForestClassifier(20, random_state=0).fit(data, labels)
    path = surewood.save(model, tmp_path / "m", compress=False)
    mapped = surewood.load(path, mmap_mode="r")
    base = mapped.forest_.nodes
    while not isinstance(base, np.memmap):
        base = base.base
    assert str(base.filename) == str(path)
    assert mapped.forest_.nodes.ctypes.data % 64 == 0
    assert not mapped.forest_.nodes.flags.writeable
    np.testing.assert_array_equal(mapped.predict_proba(data), model.predict_proba(data))
    with pytest.raises(ValueError, match="mmap_mode must be None, 'r' or 'c', got 'w'"):
        surewood.load(path, mmap_mode="w")
    with pytest.raises(ModelFileError, match="compressed and cannot be mapped; save the model with compress"):
        surewood.load(surewood.save(model, tmp_path / "z"), mmap_mode="r")


def forest():
    return surewood.BinnedForestClassifier(5, random_state=0).fit(X, Y)


def rewrite(path, change):
    """The archive with its members changed by ``change(name, content) -> content``."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, change(name, content))


def test_pipelines_can_be_saved(tmp_path):
    model = make_pipeline(StandardScaler(), surewood.BinnedForestClassifier(5)).fit(X, Y)
    again = surewood.load(surewood.save(model, tmp_path / "m"))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert read_card(tmp_path / "m")["model"] == "sklearn.pipeline.Pipeline"


def test_an_unfitted_model_is_refused_and_leaves_nothing(tmp_path):
    with pytest.raises(NotFittedError):
        surewood.save(surewood.BinnedForestClassifier(), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_keeps_the_old_file(tmp_path, monkeypatch):
    path = surewood.save(forest(), tmp_path / "m")
    before = path.read_bytes()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(OSError, match="No space left"):
        surewood.save(forest(), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("keep", [0, 10, 0.5, -1])
def test_truncated_files(tmp_path, keep):
    path = surewood.save(forest(), tmp_path / "m")
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep) if isinstance(keep, float) else keep])
    with pytest.raises(ModelFileError, match="not a surewood model, or is cut short"):
        surewood.load(path)


def test_an_altered_array_is_noticed(tmp_path):
    path = surewood.save(forest(), tmp_path / "m", compress=False)
    rewrite(path, lambda name, content: content[:-1] + b"\x07" if name.endswith(".npy") else content)
    with pytest.raises(ModelFileError, match="checksum differs"):
        surewood.load(path)


def test_a_flipped_byte_is_noticed(tmp_path):
    path = surewood.save(forest(), tmp_path / "m", compress=False)
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0xFF
    path.write_bytes(bytes(content))
    with pytest.raises(ModelFileError):
        surewood.load(path)


@pytest.mark.parametrize("compress", [True, False])
def test_any_flipped_bit_is_noticed_or_harmless(tmp_path, compress):
    path = surewood.save(forest(), tmp_path / "m", compress=compress)
    proba = forest().predict_proba(X)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    noticed = 0
    for place in rng.integers(0, len(content), 150):
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(damaged))
        try:
            again = surewood.load(path)
        except ModelFileError:  # nothing else: neither zlib.error nor RuntimeError
            noticed += 1
        else:  # a time stamp or the like
            np.testing.assert_array_equal(again.predict_proba(X), proba)
    assert noticed > 100


@pytest.mark.parametrize(
    "change",
    [
        lambda name, content: b"{}" if name == "schema.json" else content,
        lambda name, content: b"no JSON" if name == "schema.json" else content,
        lambda name, content: content[:40] if name.endswith(".npy") else content,
    ],
    ids=["empty", "no JSON", "short arrays"],
)
def test_a_file_with_a_forged_checksum_cannot_be_rebuilt(tmp_path, monkeypatch, change):
    path = surewood.save(forest(), tmp_path / "m")
    rewrite(path, change)
    digest = read_card(path)["sha256"]
    monkeypatch.setattr(model_file, "digest", lambda path, starts: digest)
    with pytest.raises(ModelFileError, match="cannot be rebuilt"):
        surewood.load(path)


@pytest.mark.parametrize("version", ["2", None, [1]])
def test_a_format_that_is_no_number_is_refused(tmp_path, version):
    path = surewood.save(forest(), tmp_path / "m")

    def other(name, content):
        return json.dumps({**json.loads(content), "format": version}) if name == "surewood.json" else content

    rewrite(path, other)
    with pytest.raises(ModelFileError, match="is incomplete"):
        surewood.load(path)


def test_a_mapped_file_does_not_disturb_other_threads(tmp_path):
    """skops has one table of types for all threads; arrays of another file must not come from ours."""
    one = surewood.BinnedForestClassifier(30, random_state=1).fit(X, Y)
    two = surewood.BinnedForestClassifier(30, random_state=2).fit(X, Y)
    ours = surewood.save(one, tmp_path / "one", compress=False)
    theirs = surewood.save(two, tmp_path / "two", compress=False)
    with mapped_from(ours, "r"), ThreadPoolExecutor(1) as pool:
        again = pool.submit(surewood.load, theirs).result()
    np.testing.assert_array_equal(again.predict_proba(X), two.predict_proba(X))


def test_newer_formats_are_refused(tmp_path):
    path = surewood.save(forest(), tmp_path / "m")

    def newer(name, content):
        return json.dumps({**json.loads(content), "format": 99}) if name == "surewood.json" else content

    rewrite(path, newer)
    with pytest.raises(ModelFileError, match=r"has format 99 .* Upgrade surewood"):
        surewood.load(path)


class Foreign:
    pass


def test_unknown_types_are_refused_by_name_unless_trusted(tmp_path):
    model = forest()
    model.guest_ = Foreign()
    path = surewood.save(model, tmp_path / "m")
    name = f"{Foreign.__module__}.Foreign"
    with pytest.raises(ModelFileError, match=f"not trusted: {name}"):
        surewood.load(path)
    assert isinstance(surewood.load(path, trusted=[name]).guest_, Foreign)


def test_our_functions_are_not_types(tmp_path):
    model = forest()
    model.guest_ = surewood.save
    path = surewood.save(model, tmp_path / "m")
    with pytest.raises(ModelFileError, match=r"not trusted: surewood\.persistence\.model_file\.save"):
        surewood.load(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x05\x06" + bytes(18)])
def test_files_that_are_no_models(tmp_path, content):
    path = tmp_path / "m"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="is not a surewood model"):
        surewood.load(path)
    with pytest.raises(ModelFileError, match="there is no model file"):
        surewood.load(tmp_path / "absent")


def test_a_file_without_permission_is_not_called_broken(tmp_path, monkeypatch):
    path = tmp_path / "model.surewood"
    path.write_bytes(b"")

    def refuse(*_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(zipfile, "ZipFile", refuse)
    with pytest.raises(ModelFileError, match=r"model\.surewood may not be read: no permission\.$"):
        read_card(path)
