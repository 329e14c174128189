"""Which family a fitted model belongs to: what can be drawn of it depends on that alone."""

from __future__ import annotations

from typing import Any

__all__ = ["COMPOSITE", "SVM_CASCADE", "family_of", "last_step"]

COMPOSITE = (
    "CompositeTreeClassifier",
    "RandomCompositeForestClassifier",
    "RandomCompositeForestClassifierCV",
)
SVM_CASCADE = ("DeepCascadeSVMClassifier", "DeepCascadeSVMClassifierCV")


def last_step(model: Any) -> Any:
    """The classifier at the end of a pipeline; anything else is itself."""
    from sklearn.pipeline import Pipeline

    return last_step(model.steps[-1][1]) if isinstance(model, Pipeline) else model


def family_of(model: Any) -> str:
    """One of composite, cascade, generic_cascade, margin_forest, cascade_forest, forest, svm, other.

    Examples
    --------
    >>> from surewood import PolySVC
    >>> family_of(PolySVC()), family_of(object())
    ('svm', 'other')
    """
    import surewood

    def is_one(*names: str) -> bool:
        return isinstance(last_step(model), tuple(getattr(surewood, name) for name in names))

    table = {
        "composite": COMPOSITE,
        "cascade": SVM_CASCADE,
        "generic_cascade": ("DeepCascadeClassifier",),
        "margin_forest": ("MarginDeepForestClassifier",),
        "cascade_forest": ("CascadeForestClassifier",),
        "forest": ("BinnedForestClassifier",),
        "svm": ("PolySVC",),
    }
    return next((family for family, names in table.items() if is_one(*names)), "other")
