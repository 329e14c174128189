"""Every type of every model is in a list, every listed type exists, and a file imports nothing by name."""

import importlib
import json
import subprocess
import sys
import zipfile

import pytest

import surewood
from surewood.persistence import ModelFileError
from surewood.persistence.description import names_in
from surewood.persistence.known_types import _PARTS, is_known
from surewood.persistence.renamed_types import RENAMED
from tests.persistence import variety
from tests.persistence.forging import forge, in_schema

HOMES = sorted({home for home in surewood._HOME.values() if home != "surewood"} | _PARTS)
LISTED = [name for home in HOMES for name in getattr(importlib.import_module(home), "SAVED_TYPES", ())]


@pytest.mark.parametrize("estimator", [*variety.names(), None])
def test_every_type_of_a_model_is_listed(estimator, tmp_path):
    for label, model, _ in variety.others() if estimator is None else variety.fitted(estimator):
        path = surewood.save(model, tmp_path / "m", compress=False)
        with zipfile.ZipFile(path) as archive:
            names = names_in(archive.read("schema.json"))
        missing = {name for name in names if name.startswith("surewood.") and not is_known(name)}
        assert not missing, label
        surewood.load(path)


def test_every_listed_name_is_a_class_that_lives_there():
    assert len(LISTED) > 60
    for name in LISTED:
        module, _, kind = name.rpartition(".")
        cls = getattr(importlib.import_module(module), kind)
        assert isinstance(cls, type)
        assert cls.__module__ == module


def test_types_of_older_files_are_listed():
    assert set(RENAMED.values()) <= set(LISTED)


@pytest.mark.parametrize("name", ["surewood.cli.__main__.main", "surewood.save", "os.system", "surewood", ""])
def test_other_names_are_not_known(name):
    assert not is_known(name)


PROGRAM = """
import sys, surewood
from surewood.persistence import ModelFileError
try:
    surewood.load(sys.argv[1])
except ModelFileError as error:
    assert "not trusted" in str(error), error
else:
    raise SystemExit("loaded")
assert sys.argv[2] not in sys.modules, "imported"
"""


@pytest.mark.parametrize(
    ("module", "kind"),
    [("surewood.cli.__main__", "main"), ("antigravity", "fly"), ("surewood.experiments.demo", "main")],
)
@pytest.mark.parametrize("loader", ["ObjectNode", "TypeNode", "FunctionNode", "ConstructorFromReduceNode"])
def test_a_file_imports_no_module_that_it_names(module, kind, loader, tmp_path):
    model = surewood.BinnedForestClassifier(2, random_state=0).fit([[0.0], [1.0]] * 5, [0, 1] * 5)
    path = surewood.save(model, tmp_path / "m")
    guest = {"__module__": module, "__class__": kind, "__loader__": loader, "__id__": 1}
    guest["content"] = {
        "__module__": "builtins", "__class__": "tuple", "__loader__": "TupleNode", "content": [], "__id__": 2,
    }  # fmt: skip
    forge(path, path.with_name("f"), in_schema(lambda s: s["content"]["content"].update(n_jobs=guest)))
    with pytest.raises(ModelFileError, match=f"not trusted: {module}.{kind}"):
        surewood.load(path.with_name("f"))
    if loader == "ObjectNode":
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, path.with_name("f"), module], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


def test_trees_of_scikit_learn_are_only_read_on_demand(tmp_path):
    """scikit-learn follows the children of a tree without looking, so a forged one could crash."""
    from sklearn.tree import DecisionTreeClassifier

    path = surewood.save(DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]), tmp_path / "m")
    with pytest.raises(ModelFileError, match=r"not trusted: sklearn\.tree\._tree\.Tree\."):
        surewood.load(path)
    again = surewood.load(path, trusted=["sklearn.tree._tree.Tree"])
    assert again.predict([[1.0]]) == [1]


def test_libsvm_is_only_read_on_demand(tmp_path):
    from sklearn.svm import SVC

    path = surewood.save(SVC().fit([[0.0], [1.0]], [0, 1]), tmp_path / "m")
    with pytest.raises(ModelFileError, match=r"not trusted: sklearn\.svm\._classes\.SVC\."):
        surewood.load(path)
    assert surewood.load(path, trusted=["sklearn.svm._classes.SVC"]).predict([[1.0]]) == [1]


def test_the_lists_hold_plain_strings():
    assert json.loads(json.dumps(LISTED)) == LISTED
    assert len(set(LISTED)) == len(LISTED)
