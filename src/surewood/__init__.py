"""Tabular classifiers that come with error guarantees and show how complex they are.

Estimators and modules are here by name and imported when first used, so that ``import surewood`` is quick:
``surewood.RandomCompositeForestClassifier``, ``surewood.bounds`` (every formula), ``surewood.certify``
(guarantees of a fitted model, and whether they are still true), ``surewood.report`` (the page),
``surewood.inspect`` (plots), ``surewood.workflow`` (from a table file to a model and its files),
``surewood.datasets``, and the command ``surewood``.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from surewood._lazy import lazy_names as _lazy_names

if _TYPE_CHECKING:
    __version__: str

#: Public name -> module it lives in. The contract tests run scikit-learn's suite on every estimator here.
_HOME = {
    "BinnedForestClassifier": "surewood.trees",
    "BoostedTreesClassifier": "surewood.trees",
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
    "SurewoodClassifier": "surewood.mixture",
    "bounds": "surewood.bounds",
    "certify": "surewood.certify",
    "cluster": "surewood.parallel",
    "datasets": "surewood.datasets",
    "inspect": "surewood.inspect",
    "load": "surewood.persistence",
    "predict_to_parquet": "surewood.workflow",
    "report": "surewood.report",
    "save": "surewood.persistence",
    "tables": "surewood.tables",
    "workflow": "surewood.workflow",
}

#: Short name of a classifier (on the command line and in :mod:`surewood.workflow`) -> public name.
SHORT_NAMES = {
    "surewood": "SurewoodClassifier",
    "rcf": "RandomCompositeForestClassifier",
    "cascade": "DeepCascadeSVMClassifierCV",
    "mddf": "MarginDeepForestClassifier",
}

#: What `surewood fit` uses by default.
DEFAULT_MODEL = "surewood"

__all__ = ["__version__", *sorted(_HOME)]
_get, __dir__ = _lazy_names(__name__, _HOME)


def __getattr__(name: str) -> _Any:
    """A public name, imported when first used; the version is read when first asked for."""
    if name != "__version__":
        return _get(name)
    from importlib.metadata import version

    return version("surewood")
