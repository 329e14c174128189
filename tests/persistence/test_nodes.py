"""A model file holds a closed list of kinds: everything else is refused, at once and with little memory."""

import importlib
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import surewood
from surewood.persistence import ModelFileError
from surewood.persistence.nodes import _PARTS, SKLEARN, Reader, Writer, named_class
from tests.persistence import variety
from tests.persistence.forging import forge, put_together, with_attribute

X, Y = load_iris(return_X_y=True)
HOMES = sorted({*surewood._HOME.values(), *_PARTS} - {"surewood"})
LISTED = [name for home in HOMES for name in getattr(importlib.import_module(home), "SAVED_TYPES", ())]
FOREST = "surewood.trees.forest_estimator.BinnedForestClassifier"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    model = surewood.BinnedForestClassifier(2, random_state=0).fit(X, Y)
    return surewood.save(model, tmp_path_factory.mktemp("m") / "m", compress=False)


def again(value):
    writer = Writer()
    node = json.loads(json.dumps(writer.node(value, "value")))
    return Reader(writer.arrays).value(node)


@pytest.mark.parametrize(
    "value",
    [
        None, True, 7, -(2**63), 2**64 - 1, 0.1, float("inf"), "é\ud800\0", [], [1, [2.5, None]],
        (), (1, ("a",)), {}, {"a": 1, "": {2: [3]}}, np.float64(0.5), np.int32(7), np.bool_(True),
        np.str_("word"), np.str_(""), np.datetime64("2020-01-01"), np.dtype("<f8"), np.float32,
        slice(1, None, 2),
    ],
    ids=repr,
)  # fmt: skip
def test_values_come_back_as_they_were(value):
    found = again(value)
    assert type(found) is type(value)
    assert found == value
    assert repr(found) == repr(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6).reshape(2, 3)), np.arange(12)[::3],
        np.array(["", "é"]), np.zeros((0, 4), dtype=np.uint16), np.array(1.5), np.array([True, False]),
        np.arange(3, dtype=">i4"), np.array(["2020-01-01"], dtype="M8[D]"),
        np.array(["a", None, 1.5, {"b": 2}], dtype=object),
    ],
    ids=repr,
)  # fmt: skip
def test_arrays_come_back_as_they_were(array):
    found = again(array)
    assert found.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(found, array)
    assert found.flags.f_contiguous == array.flags.f_contiguous or array.ndim < 2


def test_what_is_shared_stays_shared():
    array, model = np.arange(3.0), surewood.BinnedForestClassifier(2, random_state=0).fit(X, Y)
    found = again([array, array, model, (model,)])
    assert found[0] is found[1]
    assert found[2] is found[3][0]
    assert len(set(map(id, found[2].model_.trees.__getstate__().values()))) > 3


class Foreign:
    pass


def in_itself():
    value = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Foreign(), "guest_ is a tests.persistence.test_nodes.Foreign, which a model file cannot hold"),
        (surewood.save, "is a builtins.function"),
        ({1, 2}, "is a builtins.set"),
        (b"bytes", "is a builtins.bytes"),
        ({1.5: 2}, "is a builtins.dict"),
        (np.random.RandomState(0), "is a numpy.random.mtrand.RandomState"),
        (np.random.default_rng(0), "is a numpy.random._generator.Generator"),
        (np.ma.masked_array([1, 2], [True, False]), r"is a numpy.*MaskedArray"),
        (np.array([1 + 2j]), "has the dtype complex128"),
        (np.array(["x" * 10_000]), "has the dtype <U10000"),
        (2**64, "is an integer of more than 64 bits"),
        (np.array([[1, "a"]], dtype=object), "has the dtype object"),
        (np.zeros(2, dtype=[("a", "<f8")]), "has the dtype"),
        (in_itself(), "is nested more than 100 deep"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_other_values_are_refused_when_a_model_is_saved(value, words, tmp_path):
    model = clone(surewood.BinnedForestClassifier(2)).fit(X, Y)
    model.guest_ = value
    with pytest.raises(ValueError, match=words):
        surewood.save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_pipelines_of_scikit_learn_are_saved_and_what_follows_arrays_unchecked_is_not(tmp_path):
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=np.where(X[:, 0] > 5, "x", "y"))
    encoder = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer([("cat", encoder, ["e"])], remainder=SimpleImputer(add_indicator=True))
    model = make_pipeline(columns, surewood.BinnedForestClassifier(3, random_state=0)).fit(frame, Y)
    model.set_params(columntransformer__n_jobs=5000)  # processes
    loaded = surewood.load(surewood.save(model, tmp_path / "m"))
    model.set_params(columntransformer__n_jobs=None)
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    assert loaded[0].n_jobs is None
    for other, name in ((SVC(), r"sklearn\.svm\.SVC"), (DecisionTreeClassifier(), r"sklearn\.tree\.D")):
        with pytest.raises(ValueError, match=rf"is a {name}.*cannot hold; joblib\.dump saves any object"):
            surewood.save(other.fit(X, Y), tmp_path / "n")


@pytest.mark.parametrize("name", [f"{module}.{kind}" for module, kinds in SKLEARN.items() for kind in kinds])
def test_every_listed_class_of_scikit_learn_comes_back(name, tmp_path):
    cls = named_class(name)
    steps = {"steps": [("forest", surewood.BinnedForestClassifier(2))]}
    options = {"Pipeline": steps, "ColumnTransformer": {"transformers": [("all", "passthrough", [0, 1])]}}
    inputs = {"IsotonicRegression": X[:, 0], "LabelBinarizer": Y}.get(cls.__name__, X)
    model = cls(**options.get(cls.__name__, {}))
    model.fit(*([Y] if cls.__name__ == "LabelBinarizer" else [inputs, Y]))
    loaded = surewood.load(surewood.save(model, tmp_path / "m"))
    for method in ("predict", "predict_proba", "transform"):
        if hasattr(model, method):
            before, after = (getattr(one, method)(inputs) for one in (model, loaded))
            dense = [part.toarray() if hasattr(part, "toarray") else part for part in (before, after)]
            np.testing.assert_array_equal(*dense)


@pytest.mark.parametrize("estimator", [*variety.names(), None])
def test_models_in_many_settings_are_saved(estimator, tmp_path):
    for label, model, _ in variety.others() if estimator is None else variety.fitted(estimator):
        assert type(surewood.load(surewood.save(model, tmp_path / "m"))) is type(model), label


def test_every_listed_name_is_a_class_that_lives_there():
    assert len(LISTED) == len(set(LISTED)) > 50
    for name in LISTED:
        cls = named_class(name)
        assert isinstance(cls, type)
        assert f"{cls.__module__}.{cls.__qualname__}" == name
    for name in (
        "surewood.__main__.main",
        "surewood.save",
        "os.system",
        "surewood",
        "",
        "sklearn.svm.SVC",
    ):
        assert named_class(name) is None


PROGRAM = """
import sys, surewood
from surewood.persistence import ModelFileError
try:
    surewood.load(sys.argv[1])
except ModelFileError as error:
    assert "is no class of a model" in str(error), error
else:
    raise SystemExit("loaded")
assert sys.argv[2] not in sys.modules, "imported"
"""


@pytest.mark.parametrize("name", ["surewood.cli.fit.fit", "antigravity.fly"])
def test_a_file_imports_no_module_that_it_names(name, path, tmp_path):
    change = with_attribute("BinnedForestClassifier", "n_jobs", {"object": [name, {}]})
    forged, module = forge(path, tmp_path / "f", change), name.rpartition(".")[0]
    done = subprocess.run([sys.executable, "-c", PROGRAM, forged, module], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def nested(node, times):
    for _ in range(times):
        node = [node]
    return node


def doubled(times):
    """Objects that hold the one before twice: 2**times of them to walk over."""
    nodes = [{"object": [FOREST, {}]}]
    for number in range(times):
        nodes.append({"object": [FOREST, {"a": {"same": number}, "b": {"same": number}}]})
    return nodes


COLLIDING = [(2**61 - 1) * k for k in range(100_000)]
ATTACKS = {
    "unknown kind": ({"set": [1, 2]}, "there is no node of the kind 'set'"),
    "set of colliding integers": ({"set": COLLIDING}, "there is no node of the kind 'set'"),
    "dict of colliding integers": ({"dict": [[k, 0] for k in COLLIDING]}, "in the place of a whole number"),
    "list of colliding integers": (COLLIDING, "in the place of a whole number"),
    "attribute in the place of a method": (
        {"object": [FOREST, {"predict": {"type": "<f8"}}]},
        "'predict' of BinnedForestClassifier is no attribute",
    ),
    "dict with a key that is a list": ({"dict": [[[1], 0]]}, "in the place of a whole number"),
    "dict without values": ({"dict": [["a"]]}, ""),
    "seed sequence": (
        {"object": ["numpy.random.bit_generator.SeedSequence", {"pool_size": 2**62}]},
        "is no class of a model",
    ),
    "random generator": ({"object": ["numpy.random.mtrand.RandomState", {}]}, "is no class of a model"),
    "masked array": ({"object": ["numpy.ma.MaskedArray", {"data": {"array": 0}}]}, "is no class of a model"),
    "sparse matrix": ({"object": ["scipy.sparse.csr_matrix", {}]}, "is no class of a model"),
    "nested archive": ({"npz": ["UEsDBA=="]}, "there is no node of the kind 'npz'"),
    "function": ({"object": ["os.system", {}]}, "is no class of a model"),
    "name that is a list": ({"object": [["os"], {}]}, ""),
    "object without state": ({"object": [FOREST]}, ""),
    "state that is a list": ({"object": [FOREST, [1]]}, ""),
    "two kinds": ({"tuple": [], "labels": []}, "a node must have one kind"),
    "no kind": ({}, "a node must have one kind"),
    "tuple of a number": ({"tuple": 3}, "must have a list"),
    "array that is not there": ({"array": 10**6}, ""),
    "array before the first": ({"array": -1}, "a negative number"),
    "array by a word": ({"array": "a"}, "in the place of a whole number"),
    "object that is not complete": ({"same": 10**6}, ""),
    "dtype of objects": ({"dtype": "|O"}, "no dtype of a model file"),
    "dtype of long texts": ({"dtype": "<U9999999"}, "no dtype of a model file"),
    "kind with a long name": ({"\x1b[2J" * 1_000_000: []}, r"there is no node of the kind.{,200}$"),
    "type of another library": ({"type": "os"}, "no dtype of a model file"),
    "slice of words": ({"slice": ["a", None, None]}, "in the place of a whole number"),
    "deep": (nested(1, 500), "it is nested more than 100 deep"),
    "beyond the stack": (nested(1, 900), "nested more than 100 deep"),
    "doubled forty times": (doubled(40), "more than 10,000 objects"),
    "a million objects": ([{"object": [FOREST, {}]}] * 100_000, "more than 10,000 objects"),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_nodes_that_no_model_has_are_refused(attack, path, tmp_path):
    node, words = ATTACKS[attack]
    forged = forge(path, tmp_path / "f", with_attribute("BinnedForestClassifier", "n_jobs", node))
    with pytest.raises(ModelFileError, match=f"cannot be rebuilt: .*{words}"):
        surewood.load(forged)


def test_an_array_that_occurs_many_times_is_refused(path, tmp_path):
    def change(header, arrays):
        arrays.append(np.zeros(1 << 20))
        with_attribute("BinnedForestClassifier", "n_jobs", [{"array": len(arrays) - 1}] * 1000)(
            header, arrays
        )

    def of_an_object(header, arrays):
        arrays.append(np.zeros(1 << 20))
        large = {"object": [FOREST, {"estimators_": {"array": len(arrays) - 1}}]}
        with_attribute("BinnedForestClassifier", "n_jobs", [large, *[{"same": 0}] * 1000])(header, arrays)

    for attack in (change, of_an_object):
        with pytest.raises(ModelFileError, match="its arrays occur too often"):
            surewood.load(forge(path, tmp_path / "f", attack))


@pytest.mark.parametrize(
    "root",
    [None, 3, [], {"array": 0}, {"tuple": []}, {"object": ["surewood.trees.flat_tree.FlatForest", {}]},
     {"object": ["surewood.tables.schema.TableSchema", {}]}],
)  # fmt: skip
def test_roots_that_are_no_estimators_are_refused(tmp_path, root):
    with pytest.raises(ModelFileError, match="cannot be rebuilt"):
        surewood.load(put_together(tmp_path / "f", {"tree": root}, [np.zeros(3)]))
