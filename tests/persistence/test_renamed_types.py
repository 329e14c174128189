"""Names of moved types in older model files."""

import importlib
import json
import zipfile

import pytest

from surewood.persistence.renamed_types import RENAMED, with_new_names


@pytest.mark.parametrize("name", sorted(set(RENAMED.values())))
def test_every_new_name_exists(name):
    module, _, kind = name.rpartition(".")
    assert isinstance(getattr(importlib.import_module(module), kind), type)


def test_no_type_is_renamed_twice():
    assert not set(RENAMED) & set(RENAMED.values())


def test_names_change_at_every_depth_and_nothing_else_does(tmp_path):
    old = "surewood.trees.forest.BinnedForestClassifier"
    module, _, kind = old.rpartition(".")
    node = {"__module__": module, "__class__": kind, "value": module}
    path = tmp_path / "model.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps({"content": {"steps": [node, {"__class__": "int"}]}}))
        archive.writestr("data.npy", b"bytes")
    renewed = tmp_path / "renewed.zip"
    renewed.write_bytes(with_new_names(path))
    with zipfile.ZipFile(renewed) as archive:
        found = json.loads(archive.read("schema.json"))["content"]["steps"]
        assert archive.read("data.npy") == b"bytes"
    assert f"{found[0]['__module__']}.{found[0]['__class__']}" == RENAMED[old]
    assert found[0]["value"] == module
    assert found[1] == {"__class__": "int"}
