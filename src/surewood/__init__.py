"""Tabular classifiers that account for their own complexity.

The estimators are here by name, imported when first used, so that ``import surewood`` is quick. Beside them:
:mod:`surewood.bounds` (every formula), :mod:`surewood.certify` (what may be promised about a fitted model),
:mod:`surewood.datasets`, and the command ``surewood``.
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import Any as _Any

__version__ = _version("surewood")

#: Public name -> package it lives in. The contract tests run scikit-learn's suite on every estimator here.
_HOME = {
    "BinnedForestClassifier": "surewood.trees",
    "CascadeForestClassifier": "surewood.deepforest",
    "CompositeTreeClassifier": "surewood.composite",
    "DeepCascadeClassifier": "surewood.cascade",
    "DeepCascadeSVMClassifier": "surewood.cascade",
    "DeepCascadeSVMClassifierCV": "surewood.cascade",
    "MarginDeepForestClassifier": "surewood.deepforest",
    "MarginDeepForestClassifierCV": "surewood.deepforest",
    "MultiGrainedScanner": "surewood.deepforest",
    "ParquetTable": "surewood.tables",
    "PolySVC": "surewood.svm",
    "RandomCompositeForestClassifier": "surewood.composite",
    "RandomCompositeForestClassifierCV": "surewood.composite",
    "load": "surewood.persistence",
    "predict_to_parquet": "surewood.datasets",
    "save": "surewood.persistence",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> _Any:
    if name not in _HOME:
        raise AttributeError(f"module 'surewood' has no attribute {name!r}")
    return getattr(_import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
