"""Descriptions that would take for ever are refused before skops follows them."""

import json
import time
import zipfile

import pytest

import surewood
from surewood.persistence import ModelFileError
from surewood.persistence.description import names_in
from tests.persistence.forging import forge, in_schema


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    model = surewood.BinnedForestClassifier(2, random_state=0).fit([[0.0], [1.0]] * 5, [0, 1] * 5)
    return surewood.save(model, tmp_path_factory.mktemp("m") / "m", compress=False)


def a_list(number, content):
    return {
        "__module__": "builtins", "__class__": "list", "__loader__": "ListNode", "__id__": number,
        "content": content,
    }  # fmt: skip


def test_a_small_text_that_stands_for_a_huge_object_is_refused(path, tmp_path):
    """Sixty lists, each twice in the next: 2**60 parts to follow."""
    node = a_list(1, [])
    for number in range(2, 62):
        node = a_list(number, [node, {**a_list(number - 1, [])}])
    forge(path, tmp_path / "f", in_schema(lambda s: s["content"]["content"].update(n_jobs=node)))
    begin = time.perf_counter()
    with pytest.raises(ModelFileError, match="refer to each other endlessly"):
        surewood.load(tmp_path / "f")
    assert time.perf_counter() - begin < 5


def test_an_array_that_is_read_many_times_is_refused(path, tmp_path):
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".npy"))
    copies = [
        {
            "__module__": "numpy", "__class__": "ndarray", "__loader__": "NdArrayNode", "type": "numpy",
            "file": name, "__id__": number,
        }
        for number in range(5, 50)
    ]  # fmt: skip
    forge(path, tmp_path / "f", in_schema(lambda s: s["content"]["content"].update(n_jobs=a_list(4, copies))))
    with pytest.raises(ModelFileError, match="refer to each other endlessly"):
        surewood.load(tmp_path / "f")


def test_nesting_beyond_the_stack_is_refused(path, tmp_path):
    def change(name, content):
        return b"[" * 100_000 + b"]" * 100_000 if name == "schema.json" else content

    with pytest.raises(ModelFileError, match="cannot be rebuilt"):
        surewood.load(forge(path, tmp_path / "f", change))


def test_names_are_found_at_every_depth():
    inner = {"__module__": "b", "__class__": "C"}
    found = names_in(json.dumps({"__module__": "a", "__class__": "B", "x": [{"y": inner}]}).encode())
    assert found == {"a.B", "b.C"}
