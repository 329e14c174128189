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
    "surewood.composite.fitting.Setting": "surewood.composite.setting.Setting",
    "surewood.certify.requirements.KeptPromise": "surewood.certify.requirements.MetRequirement",
    "surewood.composite.forest.RandomCompositeForestClassifier": (
        "surewood.composite.estimator.RandomCompositeForestClassifier"
    ),
    "surewood.composite.model.CompositeModel": "surewood.composite.trees.CompositeTrees",
    "surewood.composite.model.LeafFacts": "surewood.composite.trees.LeafTable",
    "surewood.composite.model.LeafTrust": "surewood.composite.votes.LeafReliability",
    "surewood.composite.tree.CompositeTreeClassifier": "surewood.composite.estimator.CompositeTreeClassifier",
    "surewood.calibration.ScoreCalibrator": "surewood.estimators.calibration.ScoreCalibrator",
    "surewood.cascade.generic.DeepCascadeClassifier": (
        "surewood.cascade.generic_estimator.DeepCascadeClassifier"
    ),
    "surewood.cascade.generic.GenericCascade": "surewood.cascade.generic_model.GenericCascade",
    "surewood.cascade.generic_search.Question": "surewood.cascade.generic_search.SplitRule",
    "surewood.cascade.kernel_families.MachineMember": "surewood.cascade.kernel_families.SvmMember",
    "surewood.cascade.model.Cascade": "surewood.cascade.chain.Cascade",
    "surewood.cascade.model.CascadeNode": "surewood.cascade.chain.CascadeNode",
    "surewood.cascade.svm.DeepCascadeSVMClassifier": "surewood.cascade.estimator.DeepCascadeSVMClassifier",
    "surewood.cascade.svm_cv.DeepCascadeSVMClassifierCV": (
        "surewood.cascade.model_selection.DeepCascadeSVMClassifierCV"
    ),
    "surewood.cascade.svm_fit.OutOfFold": "surewood.cascade.held_out.OutOfFold",
    "surewood.cascade.svm_trainer.KernelChoice": "surewood.cascade.trainer.KernelChoice",
    "surewood.datasets.preparing.TablePreparer": "surewood.tables.preparing.TablePreparer",
    "surewood.svm.coupling.PairCoupling": "surewood.polysvc.coupling.PairCoupling",
    "surewood.svm.poly_svc.PolySVC": "surewood.polysvc.estimator.PolySVC",
    "surewood.trees.forest.BinnedForestClassifier": "surewood.forest.estimator.BinnedForestClassifier",
    "surewood.deepforest.cascade_growth.CascadeLayer": "surewood.deepforest.cascade_layers.CascadeLayer",
    "surewood.deepforest.cascade_growth.CascadeModel": "surewood.deepforest.cascade_layers.CascadeLayers",
    "surewood.deepforest.contrast_machine._ContrastMachine": (
        "surewood.deepforest.contrast_classifier._ContrastClassifier"
    ),
    "surewood.deepforest.custom.FoldClassifier": "surewood.deepforest.fold_classifiers.FoldClassifier",
    "surewood.deepforest.custom.NumberReader": "surewood.deepforest.fold_classifiers.NumberReader",
    "surewood.deepforest.margin_forest.MarginDeepForestClassifier": (
        "surewood.deepforest.estimator.MarginDeepForestClassifier"
    ),
    "surewood.deepforest.margin_growth.MarginLayer": "surewood.deepforest.margin_layers.MarginLayer",
    "surewood.deepforest.margin_growth.MarginModel": "surewood.deepforest.margin_layers.MarginLayers",
    "surewood.deepforest.scanning._GrainModel": "surewood.deepforest.window_forests.GrainModel",
    "surewood.deepforest.model_selection.SettingRecord": "surewood.deepforest.search.SettingRecord",
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
