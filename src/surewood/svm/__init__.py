"""Kernel machines by the thousand from one matrix of inner products (docs/svm-engine.md)."""

from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram, KernelSpec
from surewood.svm.one_vs_one import Machines, Predictor

__all__ = ["Gram", "KernelSpec", "Machines", "Predictor", "solve_many"]
