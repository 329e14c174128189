"""Kernel SVMs by the thousand from one matrix of inner products (docs/internals/svm-engine.md)."""

from surewood.svm.batch import SvmBatch
from surewood.svm.class_scores import vote_counts
from surewood.svm.cost import SvmGroups, gram_limit, kernel_memory
from surewood.svm.dual import MAX_DEGREE, solve_many
from surewood.svm.gram import Gram, KernelSpec, StoredProducts, formed_sooner, useful_limit
from surewood.svm.nearest import first_rows, nearest_support
from surewood.svm.one_vs_one import Predictor
from surewood.svm.path import DegreePath

__all__ = [
    "MAX_DEGREE",
    "DegreePath",
    "Gram",
    "KernelSpec",
    "Predictor",
    "StoredProducts",
    "SvmBatch",
    "SvmGroups",
    "first_rows",
    "formed_sooner",
    "gram_limit",
    "kernel_memory",
    "nearest_support",
    "solve_many",
    "useful_limit",
    "vote_counts",
]

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.svm.gram.KernelSpec",
    "surewood.svm.one_vs_one.Predictor",
)
