"""Numbers that a model remembers about itself are checked at load, too: weights, counts, held-out scores."""

import io
import json
import zipfile
from functools import cache

import numpy as np
import pandas as pd
import pytest

import surewood
from surewood.certify import CrossFittedClassifier, certify, find_threshold
from surewood.persistence import ModelFileError
from tests.persistence.forging import forge

RNG = np.random.default_rng(0)
X, HOLDOUT = RNG.standard_normal((120, 3)), RNG.standard_normal((120, 3))


def labels(X):
    return (X[:, 0] + X[:, 1] > 0).astype(int)


@cache
def model(name):
    y = labels(X)
    if name == "mixture":
        return surewood.SurewoodClassifier(n_estimators=3, random_state=0, n_jobs=1).fit(X, y)
    if name == "boosted":
        return surewood.BoostedTreesClassifier(n_estimators=3, random_state=0, n_jobs=1).fit(X, y)
    forest = surewood.BinnedForestClassifier(4, random_state=0)
    if name == "cross-fitted":
        return CrossFittedClassifier(forest, n_folds=2).fit(X, y)
    return find_threshold(forest.fit(X, y), HOLDOUT, labels(HOLDOUT), recall=0.7, positive=1)


def parts(node, owner=""):
    """(class, attribute, its node) of everything in a description."""
    if isinstance(node, list):
        for one in node:
            yield from parts(one, owner)
    elif isinstance(node, dict):
        if node.get("__loader__") == "ObjectNode":
            owner = node["__class__"]
        inside = node.get("content")
        if node.get("__loader__") == "DictNode" and isinstance(inside, dict):
            for name, one in inside.items():
                yield owner, name, one
        for one in node.values():
            yield from parts(one, owner)


def forged(source, target, owner, name, value):
    """Another value, or a changed array where `value` is a function."""
    with zipfile.ZipFile(source) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    schema = json.loads(members["schema.json"])
    node = next(one for cls, attribute, one in parts(schema) if (cls, attribute) == (owner, name))
    if callable(value):
        stream = io.BytesIO()
        np.save(stream, value(np.load(io.BytesIO(members[node["file"]]))))
        members[node["file"]] = stream.getvalue()
    elif isinstance(node.get("content"), list) and isinstance(value, list):
        node["content"] = node["content"][: len(value)]
    else:
        node |= {"__loader__": "JsonNode", "content": json.dumps(value), "is_json": True, "__id__": 10**9}
    members["schema.json"] = json.dumps(schema).encode()
    return forge(source, target, lambda one, content: members[one])


@pytest.mark.parametrize(
    ("name", "owner", "attribute", "value"),
    [
        ("mixture", "BlendMember", "weight", float("nan")),
        ("mixture", "BlendMember", "weight", -3.0),
        ("mixture", "BlendMember", "weight", 0.999),
        ("mixture", "BlendMember", "weight", "x"),
        ("mixture", "MarginLayer", "step", -(2**63)),
        ("mixture", "BlendModel", "members", []),
        ("mixture", "BlendModel", "classes", lambda a: a[::-1].copy()),
        ("mixture", "RememberedRows", "salt", "x"),
        ("mixture", "RememberedRows", "n_rows", -5),
        ("mixture", "RememberedRows", "hashes", lambda a: a.astype(float)),
        ("mixture", "RememberedRows", "hashes", lambda a: a[::-1].copy()),
        ("mixture", "RememberedRows", "columns", [1, 2]),
        ("boosted", "BoostedModel", "importances", lambda a: a * np.nan),
        ("boosted", "BoostedModel", "n_rounds", lambda a: a - 10**6),
        ("cross-fitted", "CrossFittedClassifier", "models_", [1]),
        ("cross-fitted", "CrossFittedClassifier", "models_", []),
        ("cross-fitted", "CrossFittedClassifier", "fold_size_", 0),
        ("cross-fitted", "CrossFittedClassifier", "fold_size_", 10**9),
        ("cross-fitted", "CrossFittedClassifier", "n_samples_", -1),
        ("cross-fitted", "CrossFittedClassifier", "brier_score_", -1.0),
        ("cross-fitted", "CrossFittedClassifier", "brier_score_", float("nan")),
        ("cross-fitted", "CrossFittedClassifier", "majority_error_", 7),
        ("cross-fitted", "FlatForest", "n_features", 4),
        ("cross-fitted", "ForestModel", "calibrator", 3),
        ("threshold", "Coverage", "fraction", "x"),
        ("threshold", "Coverage", "upper", None),
        ("threshold", "MetRequirement", "conditions", -1),
        ("threshold", "MetRequirement", "delta", 10**30),
        ("threshold", "MetRequirement", "side", None),
        ("threshold", "MetRequirement", "n", -1),
        ("threshold", "MetRequirement", "value", float("nan")),
    ],
)
def test_a_forged_number_is_refused(tmp_path, name, owner, attribute, value):
    source = surewood.save(model(name), tmp_path / "m", compress=False)
    with pytest.raises(ModelFileError, match=r"cannot be (rebuilt|used)"):
        surewood.load(forged(source, tmp_path / "f", owner, attribute, value))


@pytest.mark.parametrize("name", ["mixture", "boosted", "cross-fitted", "threshold"])
def test_honest_files_are_not_refused(tmp_path, name):
    again = surewood.load(surewood.save(model(name), tmp_path / "m"))
    np.testing.assert_array_equal(again.predict(X), model(name).predict(X))
    if name == "cross-fitted":
        assert str(certify(again)) == str(certify(model(name)))


def test_forged_names_of_columns_are_refused(tmp_path):
    frame = pd.DataFrame(X, columns=list("abc"))
    forest = surewood.BinnedForestClassifier(3, random_state=0).fit(frame, labels(X))
    source = surewood.save(forest, tmp_path / "m", compress=False)

    def other(schema):
        found = next(one for _, name, one in parts(schema) if name == "feature_names_in_")
        entry = found["content"]["content"][0] if isinstance(found["content"], dict) else found["content"][0]
        entry |= {"content": json.dumps([1, 2]), "__id__": 10**9}

    def change(name, content):
        if name != "schema.json":
            return content
        schema = json.loads(content)
        other(schema)
        return json.dumps(schema).encode()

    with pytest.raises(ModelFileError, match="its names of columns are not those of its table"):
        surewood.load(forge(source, tmp_path / "f", change))
