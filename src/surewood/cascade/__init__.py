"""Deep cascades: classifiers in a chain where easy points leave early (docs/cascade.md)."""

from surewood.cascade.svm import DeepCascadeSVMClassifier

__all__ = ["DeepCascadeSVMClassifier"]
