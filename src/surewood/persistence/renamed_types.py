"""Types that have moved since a model file was written: old full name to new full name.

A class whose *contents* changed reads its old form itself, in ``__setstate__``.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

_SCHEMA = "schema.json"  # skops' description of the object

#: Since format 1.
RENAMED = {
    "surewood.calibration.ScoreCalibrator": "surewood.estimators.calibration.ScoreCalibrator",
    "surewood.datasets.preparing.TablePreparer": "surewood.tables.preparing.TablePreparer",
    "surewood.svm.coupling.PairCoupling": "surewood.polysvc.coupling.PairCoupling",
    "surewood.svm.poly_svc.PolySVC": "surewood.polysvc.estimator.PolySVC",
    "surewood.trees.forest.BinnedForestClassifier": "surewood.forest.estimator.BinnedForestClassifier",
}


def with_new_names(path: Path) -> bytes:
    """An archive of an older format with today's names of types."""
    renewed = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(renewed, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == _SCHEMA:
                content = json.dumps(_renamed(json.loads(content))).encode()
            new.writestr(entry.filename, content)
    return renewed.getvalue()


def _renamed(node: Any) -> Any:
    if isinstance(node, list):
        return [_renamed(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: _renamed(value) for key, value in node.items()}
    name = RENAMED.get(f"{node.get('__module__')}.{node.get('__class__')}")
    if name is not None:
        node["__module__"], _, node["__class__"] = name.rpartition(".")
    return node
