"""Deep cascades: classifiers in a chain where easy points leave early (docs/cascade.md)."""

from surewood.cascade.binary_trees import BinaryTreeFamily

# The classifiers are public in surewood itself.
from surewood.cascade.estimator import DeepCascadeClassifier, DeepCascadeSVMClassifier  # noqa: F401
from surewood.cascade.model_selection import DeepCascadeSVMClassifierCV  # noqa: F401
from surewood.families import (
    ConstantFamily,
    EstimatorFamily,
    Family,
    GaussianFamily,
    KernelFamily,
    LinearFamily,
    Member,
    StumpFamily,
    ThresholdFamily,
    TreeFamily,
)

__all__ = [
    "BinaryTreeFamily",
    "ConstantFamily",
    "EstimatorFamily",
    "Family",
    "GaussianFamily",
    "KernelFamily",
    "LinearFamily",
    "Member",
    "StumpFamily",
    "ThresholdFamily",
    "TreeFamily",
]

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.cascade.binary_trees.BinaryTreeFamily",
    "surewood.cascade.binary_trees.SplitMember",
    "surewood.cascade.chain.Cascade",
    "surewood.cascade.chain.CascadeNode",
    "surewood.cascade.chain.Path",
    "surewood.cascade.estimator.DeepCascadeClassifier",
    "surewood.cascade.estimator.DeepCascadeSVMClassifier",
    "surewood.cascade.generic_cascade.GenericCascade",
    "surewood.cascade.generic_cascade.GenericModel",
    "surewood.cascade.generic_cascade.GenericPath",
    "surewood.cascade.generic_cascade.GenericResult",
    "surewood.cascade.generic_cascade.SplitRule",
    "surewood.cascade.model.LeafCalibrator",
    "surewood.cascade.model.OutOfFold",
    "surewood.cascade.model.CascadeModel",
    "surewood.cascade.model_selection.DeepCascadeSVMClassifierCV",
    "surewood.cascade.search.SearchResult",
    "surewood.cascade.svm_trainer.KernelChoice",
)
