"""Kernel machines by the thousand from one matrix of inner products (docs/svm-engine.md)."""

from surewood.svm.class_scores import vote_counts
from surewood.svm.cost import gram_limit, kernel_memory
from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram, KernelSpec
from surewood.svm.nearest import first_rows, nearest_support
from surewood.svm.one_vs_one import Machines, Predictor
from surewood.svm.path import DegreePath

__all__ = [
    "DegreePath",
    "Gram",
    "KernelSpec",
    "Machines",
    "Predictor",
    "first_rows",
    "gram_limit",
    "kernel_memory",
    "nearest_support",
    "solve_many",
    "vote_counts",
]
