"""Deep cascades: classifiers in a chain where easy points leave early (docs/cascade.md)."""

from surewood.cascade.estimator import DeepCascadeSVMClassifier
from surewood.cascade.families import ConstantFamily, EstimatorFamily, Family, Member
from surewood.cascade.generic_estimator import DeepCascadeClassifier
from surewood.cascade.kernel_families import KernelFamily, LinearFamily
from surewood.cascade.model_selection import DeepCascadeSVMClassifierCV
from surewood.cascade.threshold_families import StumpFamily, ThresholdFamily
from surewood.cascade.tree_family import TreeFamily

__all__ = [
    "ConstantFamily",
    "DeepCascadeClassifier",
    "DeepCascadeSVMClassifier",
    "DeepCascadeSVMClassifierCV",
    "EstimatorFamily",
    "Family",
    "KernelFamily",
    "LinearFamily",
    "Member",
    "StumpFamily",
    "ThresholdFamily",
    "TreeFamily",
]
