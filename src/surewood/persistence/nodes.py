"""A model as a tree of nodes that JSON can hold, and back: a closed list of kinds, nothing else.

None, truth values, numbers, text and lists stand for themselves. Every other node is an object of one entry,
its kind and its content:

======  ========================================================================================
tuple   a list of nodes
dict    a list of pairs of a key, text or a whole number, and a node
array   the number of an array of the file
labels  a list of nodes: a one-dimensional array of Python objects, such as names of columns
scalar  the number of an array without axes: its value
dtype   a dtype of NumPy as text
type    the same: the class of its scalars
slice   start, stop and step
object  the name of a class and the node of each attribute
same    the number of an object that is already complete: that object again
======  ========================================================================================

Classes are looked up in lists, never imported because a file names them: `SAVED_TYPES` of the packages whose
objects are parts of models, and some of scikit-learn, all of which predict with NumPy alone. Objects get
their state as `pickle` would give it, so a class that checks its state checks that of a file, too; what is
annotated with a class of ours must be of that class.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

import surewood

#: Packages and modules below the families of models whose objects are parts of models.
_PARTS = (
    "surewood.base", "surewood.bounds", "surewood.families", "surewood.svm", "surewood.tables",
    "surewood.trees",
)  # fmt: skip
SKLEARN = {
    "sklearn.compose": ("ColumnTransformer",),
    "sklearn.decomposition": ("PCA",),
    "sklearn.discriminant_analysis": ("LinearDiscriminantAnalysis",),
    "sklearn.impute": ("MissingIndicator", "SimpleImputer"),
    "sklearn.isotonic": ("IsotonicRegression",),
    "sklearn.linear_model": ("LogisticRegression", "RidgeClassifier"),
    "sklearn.naive_bayes": ("GaussianNB",),
    "sklearn.pipeline": ("Pipeline",),
    "sklearn.preprocessing": (
        "FunctionTransformer", "LabelBinarizer", "MaxAbsScaler", "MinMaxScaler", "Normalizer",
        "OneHotEncoder", "OrdinalEncoder", "RobustScaler", "StandardScaler",
    ),
    "sklearn.svm": ("LinearSVC",),
}  # fmt: skip
#: Text of at most 9,999 characters: each value of an array takes the room of the longest.
PLAIN_DTYPE = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U[1-9]\d{0,3}|<M8\[(D|h|m|s|ms|us|ns)\]")
_DEEPEST = 100
#: Larger ones could be chosen so that all of them have one hash.
_WHOLE = range(-(2**63), 2**64)
#: Objects of a model, those that occur again counted again: what walks over a model never walks for long.
_MOST_OBJECTS = 10_000
#: Bytes of arrays that occur again, alone or in an object that does, each time counted: what checks them, or
#: predicts with them, is done soon. Or four times those of all arrays, where that is more.
_MOST_REPEATED = 1 << 24


def named_class(name: str) -> type | None:
    """The class of this name, if it is in one of the lists.

    Examples
    --------
    >>> named_class("surewood.trees.flat_tree.FlatForest"), named_class("surewood.__main__.main")
    (<class 'surewood.trees.flat_tree.FlatForest'>, None)
    """
    module, _, kind = name.rpartition(".")
    if kind in SKLEARN.get(module, ()):
        cls: type = getattr(import_module(module), kind)
        return cls
    for home in {*surewood._HOME.values(), *_PARTS} - {"surewood"}:
        if name.startswith(f"{home}.") and name in getattr(import_module(home), "SAVED_TYPES", ()):
            cls = getattr(import_module(module), kind)
            return cls
    return None


def _name_of(cls: type) -> str:
    """The name of a class in the lists; scikit-learn's are named by their public modules."""
    modules = cls.__module__.split(".")
    if modules[0] == "sklearn":
        modules = [module for module in modules if not module.startswith("_")]
    return ".".join((*modules, cls.__qualname__))


class Writer:
    """Turns a model into nodes and collects its arrays."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no other object gets the same id
        self._n_objects = 0

    def node(self, value: Any, place: str, depth: int = 0) -> Any:
        """The node of a value; `place` says where it is, for the message that refuses it."""
        if value is None or type(value) in (bool, float, str) or (type(value) is int and value in _WHOLE):
            return value
        if depth > _DEEPEST:
            raise ValueError(f"{place} is nested more than {_DEEPEST} deep and cannot be saved.")
        if type(value) is int:
            raise ValueError(f"{place} is an integer of more than 64 bits, which a model file cannot hold.")
        if type(value) in (list, tuple):
            nodes = [self.node(entry, place, depth + 1) for entry in value]
            return nodes if type(value) is list else {"tuple": nodes}
        if type(value) is dict and all(type(key) in (str, int) for key in value):
            pairs = [[key, self.node(entry, f"{place}[{key!r}]", depth + 1)] for key, entry in value.items()]
            return {"dict": pairs}
        if type(value) in (np.ndarray, np.memmap):
            return self._array_node(value, place, depth)
        if isinstance(value, np.generic):
            return {"scalar": self._add_array(np.asarray(value), place)}
        if isinstance(value, np.dtype) and PLAIN_DTYPE.fullmatch(value.str):
            return {"dtype": value.str}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"type": np.dtype(value).str}
        if type(value) is slice:
            return {"slice": [self.node(end, place) for end in (value.start, value.stop, value.step)]}
        return self._object_node(value, place, depth)

    def _array_node(self, array: NDArray[Any], place: str, depth: int) -> dict[str, Any]:
        if array.dtype == object and array.ndim == 1:
            return {"labels": [self.node(entry, place, depth + 1) for entry in array]}
        if id(array) not in self._numbers:
            self._numbers[id(array)] = self._add_array(array, place)
            self._kept.append(array)
        return {"array": self._numbers[id(array)]}

    def _add_array(self, array: NDArray[Any], place: str) -> int:
        array = np.asarray(array)
        if array.dtype.byteorder == ">":
            array = array.astype(array.dtype.newbyteorder("<"))
        if not PLAIN_DTYPE.fullmatch(array.dtype.str):
            raise ValueError(f"{place} has the dtype {array.dtype}, which a model file cannot hold.")
        self.arrays.append(array if array.flags.forc else np.ascontiguousarray(array))
        return len(self.arrays) - 1

    def _object_node(self, value: Any, place: str, depth: int) -> dict[str, Any]:
        if id(value) in self._numbers:
            return {"same": self._numbers[id(value)]}
        name = _name_of(type(value))
        if named_class(name) is not type(value):
            raise ValueError(
                f"{place} is a {name}, which a model file cannot hold; joblib.dump saves any object, but "
                "loading it runs code."
            )
        if isinstance(value, tuple):
            state: Any = [self.node(entry, f"{name}[{k}]", depth + 1) for k, entry in enumerate(value)]
        else:
            attributes: dict[str, Any] = value.__getstate__() or {}  # type: ignore[assignment]
            state = {key: self.node(entry, f"{name}.{key}", depth + 1) for key, entry in attributes.items()}
        self._numbers[id(value)] = self._n_objects
        self._n_objects += 1
        self._kept.append(value)
        return {"object": [name, state]}


class Reader:
    """Rebuilds a model from nodes that a stranger may have written; raises ValueError and the like."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self._arrays = arrays
        self._unused = set(range(len(arrays)))
        self._most_repeated = max(_MOST_REPEATED, 4 * sum(array.nbytes for array in arrays))
        self._repeated = self._n_bytes = 0
        self._objects: list[tuple[Any, int, int]] = []  # each with the numbers of objects and bytes inside it
        self._n_objects = 0
        self._classes: dict[str, type] = {}

    def model(self, node: Any) -> Any:
        """The model of a root node, which must be an estimator."""
        kind, content = _parted(node)
        if kind != "object" or not issubclass(self._class(content), BaseEstimator):
            raise ValueError("the file holds no estimator")
        return self.value(node)

    def value(self, node: Any, depth: int = 0) -> Any:
        """The value of a node."""
        if node is None or type(node) in (bool, float, str):
            return node
        if type(node) is int:
            return _whole(node)
        if depth > _DEEPEST:
            raise ValueError(f"it is nested more than {_DEEPEST} deep")
        if type(node) is list:
            return [self.value(entry, depth + 1) for entry in node]
        kind, content = _parted(node)
        if kind == "object":
            return self._object(content, depth)
        if kind == "same":
            found, n_objects, n_bytes = self._objects[_index(content)]
            self._count(n_objects)
            self._repeat(n_bytes)
            return found
        if kind == "array" or kind == "scalar":
            array = self._array(_index(content))
            return array if kind == "array" else array[()]
        if kind == "dtype" or kind == "type":
            dtype = plain_dtype(content)
            return dtype if kind == "dtype" else dtype.type
        if type(content) is not list:
            raise ValueError(f"a node of the kind {kind!r} must have a list")
        if kind == "tuple":
            return tuple(self.value(entry, depth + 1) for entry in content)
        if kind == "dict":
            return {_key(key): self.value(entry, depth + 1) for key, entry in content}
        if kind == "labels":
            labels = np.empty(len(content), dtype=object)
            for k, entry in enumerate(content):
                labels[k] = self.value(entry, depth + 1)
            return labels
        if kind == "slice":
            return slice(*(None if end is None else _whole(end) for end in content))
        raise ValueError(f"there is no node of the kind {kind!r}")

    def _array(self, number: int) -> NDArray[Any]:
        array = self._arrays[number]
        self._n_bytes += array.nbytes
        if number not in self._unused:
            self._repeat(array.nbytes)
        self._unused.discard(number)
        return array

    def _repeat(self, n_bytes: int) -> None:
        self._repeated += n_bytes
        if self._repeated > self._most_repeated:
            raise ValueError("its arrays occur too often")

    def _object(self, content: Any, depth: int) -> Any:
        cls = self._class(content)
        n_objects, n_bytes = self._n_objects, self._n_bytes
        self._count(1)
        if issubclass(cls, tuple):
            made: Any = cls(*self.value(content[1], depth + 1))
        else:
            state = {_attribute(cls, key): self.value(entry, depth + 1) for key, entry in content[1].items()}
            if cls.__module__.startswith("sklearn.") and "n_jobs" in state:
                state["n_jobs"] = None  # it would start as many processes
            n_jobs = state.get("n_jobs")
            if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
                raise ValueError("n_jobs is no number of threads")
            made = cls.__new__(cls)
            if hasattr(made, "__setstate__"):
                made.__setstate__(state)
            else:
                made.__dict__.update(state)
        _refuse_other_types(made)
        self._objects.append((made, self._n_objects - n_objects, self._n_bytes - n_bytes))
        return made

    def _class(self, content: Any) -> type:
        name, _ = content
        if name not in self._classes:
            cls = named_class(name) if isinstance(name, str) else None
            if cls is None:
                raise ValueError(f"{str(name)[:200]!r} is no class of a model")
            self._classes[name] = cls
        return self._classes[name]

    def _count(self, n_objects: int) -> None:
        self._n_objects += n_objects
        if self._n_objects > _MOST_OBJECTS:
            raise ValueError(f"it has more than {_MOST_OBJECTS:,} objects")


def _refuse_other_types(made: Any) -> None:
    """Refuse an object with an attribute that is declared to be of a class of ours and is of another."""
    cls: Any = type(made)
    tests = _tests_of(cls)
    if not tests:
        return
    held = made._asdict() if hasattr(made, "_asdict") else vars(made)
    for name, is_one in tests.items():
        if name in held and not is_one(held[name]):
            raise ValueError(f"{name} of {cls.__name__} is a {type(held[name]).__name__}")


@cache
def _tests_of(cls: type) -> dict[str, Callable[[Any], bool]]:
    """Tests of annotated attributes that name a class of ours."""
    ours = cls.__module__.startswith("surewood.")
    hints = get_type_hints(cls).items() if ours else ()
    return {name: _test_of(hint) for name, hint in hints if "surewood." in repr(hint)}


def _test_of(hint: Any) -> Callable[[Any], bool]:
    """Whether a value is what a hint says of classes of ours and of lists and tuples of them."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind is Union or kind is UnionType:
        tests = [_test_of(part) for part in parts]
        return lambda value: any(test(value) for test in tests)
    if kind in (list, tuple, Sequence):
        of_entry = _test_of(parts[0])
        return lambda value: isinstance(value, list | tuple) and all(map(of_entry, value))
    if isinstance(hint, type) and (hint is NoneType or hint.__module__.startswith("surewood.")):
        return lambda value: isinstance(value, hint)
    return lambda value: True


def plain_dtype(text: Any) -> np.dtype[Any]:
    """The dtype of this name, if a model file may have it."""
    if not isinstance(text, str) or not PLAIN_DTYPE.fullmatch(text):
        raise ValueError(f"{str(text)[:40]!r} is no dtype of a model file")
    return np.dtype(text)


def _parted(node: Any) -> tuple[str, Any]:
    if type(node) is not dict or len(node) != 1:
        raise ValueError("a node must have one kind")
    return next(iter(node.items()))


def _whole(value: Any) -> int:
    if type(value) is not int or value not in _WHOLE:
        raise ValueError(f"a node has {str(value)[:40]!r} in the place of a whole number")
    return value


def _index(value: Any) -> int:
    if _whole(value) < 0:
        raise ValueError("a node refers to a negative number")
    return int(value)


def _key(value: Any) -> str | int:
    return value if isinstance(value, str) else _whole(value)


def _attribute(cls: type, name: str) -> str:
    """The name of an attribute; one of a method would take its place."""
    if callable(getattr(cls, name, None)):
        raise ValueError(f"{name!r} of {cls.__name__} is no attribute")
    return name
