"""Deep cascades: classifiers in a chain where easy points leave early (docs/cascade.md)."""

from surewood.cascade.svm import DeepCascadeSVMClassifier
from surewood.cascade.svm_cv import DeepCascadeSVMClassifierCV

__all__ = ["DeepCascadeSVMClassifier", "DeepCascadeSVMClassifierCV"]
