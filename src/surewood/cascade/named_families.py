"""The names that a user may write instead of a family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from surewood.cascade.families import ConstantFamily, Family
from surewood.cascade.kernel_families import KernelFamily, LinearFamily
from surewood.cascade.threshold_families import StumpFamily, ThresholdFamily
from surewood.cascade.tree_family import TreeFamily

NAMED: dict[str, Callable[[], Family]] = {
    "constant": ConstantFamily,
    "threshold": ThresholdFamily,
    "stump": StumpFamily,
    "tree": TreeFamily,
    "logistic": LinearFamily,
    "linear_svm": lambda: LinearFamily("hinge"),
    "quadratic": lambda: KernelFamily("poly", 2),
    "cubic": lambda: KernelFamily("poly", 3),
    "rbf": lambda: KernelFamily("rbf"),
}


def as_families(name: str, given: Any) -> list[Family]:
    """Families from names and objects."""
    items = [given] if isinstance(given, str | Family) else given
    if not hasattr(items, "__iter__"):
        raise TypeError(f"{name} must be a list of families or of their names, got {given!r}.")
    families: list[Family] = []
    for item in items:
        if isinstance(item, str) and item in NAMED:
            families.append(NAMED[item]())
        elif isinstance(item, Family):
            families.append(item)
        else:
            raise ValueError(
                f"{name} must hold families, or names among {', '.join(NAMED)}, got {item!r}. "
                "Wrap a scikit-learn classifier as EstimatorFamily(classifier, complexity)."
            )
    return families
