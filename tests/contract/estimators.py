"""The public estimators, found rather than listed, in settings small enough for hundreds of fits."""

import importlib
import inspect
import pkgutil

from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import get_tags

import surewood

# Sizes only: nothing here may switch a behaviour off.
SMALL = {
    "BinnedForestClassifier": {"n_estimators": 10},
    "BoostedTreesClassifier": {"n_estimators": 5},
    "CascadeForestClassifier": {"n_estimators": 4, "max_layers": 2},
    "DeepCascadeClassifier": {"max_leaves": 2},
    "DeepCascadeSVMClassifier": {"max_leaves": 2},
    "DeepCascadeSVMClassifierCV": {"max_leaves": 2, "cv": 2, "study": {"max_svms": 100}},
    "MarginDeepForestClassifier": {"n_estimators": 4, "max_layers": 2},
    "MarginDeepForestClassifierCV": {"n_estimators": 2, "max_layers": 2, "cv": 2, "thetas": (0.7, 0.9)},
    "MultiGrainedScanner": {"n_estimators": 5},
    "RandomCompositeForestClassifier": {"n_estimators": 5},
    "SurewoodClassifier": {"n_estimators": 5},
    "RandomCompositeForestClassifierCV": {"n_estimators": (2, 4), "max_depth": (1, 2)},
}


def exported():
    """Every estimator class that ``surewood`` exports."""
    found = (getattr(surewood, name) for name in surewood.__all__)
    return [c for c in found if inspect.isclass(c) and issubclass(c, BaseEstimator)]


def is_a_base(cls):
    """Whether a class only exists for others to derive from."""
    return cls not in exported() and any(
        sub.__module__.startswith("surewood") for sub in cls.__subclasses__()
    )


def wraps_a_model(cls):
    """Whether instances need a fitted model to begin with: a decision rule on top of one, no estimator."""
    parameters = inspect.signature(cls).parameters.values()
    return any(one.default is inspect.Parameter.empty for one in parameters)


def written():
    """Every estimator class with a public name anywhere in the package."""
    classes = set()
    for module in pkgutil.walk_packages(surewood.__path__, "surewood."):
        if module.name.endswith("__main__"):
            continue
        for name, member in vars(importlib.import_module(module.name)).items():
            if (
                inspect.isclass(member)
                and issubclass(member, BaseEstimator)
                and member.__module__.startswith("surewood")
                and not name.startswith("_")
                and not inspect.isabstract(member)
                and not is_a_base(member)
                and not wraps_a_model(member)
                and get_tags(member()).input_tags.two_d_array  # scikit-learn's suite feeds arrays
            ):
                classes.add(member)
    return classes


def small(cls, **changes):
    """An instance in its small settings."""
    return cls(**{**SMALL.get(cls.__name__, {}), **changes})


def deterministic(cls, **changes):
    """The same with a seed, where there is one."""
    if "random_state" in cls().get_params():
        changes["random_state"] = 0
    return small(cls, **changes)


def classifiers():
    return [c for c in exported() if is_classifier(small(c))]


def instances():
    return [small(cls) for cls in exported()]
