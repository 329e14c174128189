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

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.cascade.chain.Cascade",
    "surewood.cascade.chain.CascadeNode",
    "surewood.cascade.estimator.DeepCascadeSVMClassifier",
    "surewood.cascade.families.ConstantFamily",
    "surewood.cascade.families.ConstantMember",
    "surewood.cascade.families.EstimatorFamily",
    "surewood.cascade.families.EstimatorMember",
    "surewood.cascade.generic_estimator.DeepCascadeClassifier",
    "surewood.cascade.generic_model.GenericCascade",
    "surewood.cascade.generic_model.GenericModel",
    "surewood.cascade.generic_search.GenericPath",
    "surewood.cascade.generic_search.GenericResult",
    "surewood.cascade.generic_search.SplitRule",
    "surewood.cascade.held_out.OutOfFold",
    "surewood.cascade.kernel_families.KernelFamily",
    "surewood.cascade.kernel_families.LinearFamily",
    "surewood.cascade.kernel_families.SvmMember",
    "surewood.cascade.leaf_calibration.LeafCalibrator",
    "surewood.cascade.model.CascadeModel",
    "surewood.cascade.model_selection.DeepCascadeSVMClassifierCV",
    "surewood.cascade.prefix_tree.Path",
    "surewood.cascade.search.SearchResult",
    "surewood.cascade.threshold_families.StumpFamily",
    "surewood.cascade.threshold_families.StumpMember",
    "surewood.cascade.threshold_families.ThresholdFamily",
    "surewood.cascade.trainer.KernelChoice",
    "surewood.cascade.tree_family.TreeFamily",
    "surewood.cascade.tree_family.TreeMember",
)
