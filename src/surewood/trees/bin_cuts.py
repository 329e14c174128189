"""Which categories of a column share a bin, and the weights that decide it.

Numbers are cut in the core: core/forest/bin_cuts.hpp.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.tables.rare_categories import row_weight, stands_alone
from surewood.trees.weights import quantise_weights


def category_bins(mass: Floats, one_row: float, max_bins: int) -> NDArray[np.uint8] | None:
    """Bins of the categories, in code order; rare ones, and the lightest of too many, share the last.

    None where every category has a bin of its own.
    """
    alone = np.flatnonzero(stands_alone(mass, one_row))
    if len(alone) == len(mass) <= max_bins:
        return None
    if len(alone) > max_bins - 1:
        alone = np.sort(alone[np.argsort(-mass[alone], kind="stable")[: max_bins - 1]])
    bins = np.full(len(mass), len(alone), dtype=np.uint8)
    bins[alone] = np.arange(len(alone), dtype=np.uint8)
    return bins


def category_mass(column: Floats, weight: Floats | None, n: int) -> Floats:
    """Weight of each of `n` categories in a column of codes; missing ones are not counted."""
    known = ~np.isnan(column)
    codes = column[known].astype(np.int64)
    mass = np.bincount(codes, weights=None if weight is None else weight[known], minlength=n)
    return mass.astype(np.float64)


def whole_weights(weight: Floats | None) -> tuple[Floats | None, float]:
    """Weights as whole numbers, 0 for absent rows (None: all 1), and what a row weighs.

    Whole numbers add up to the same sums in any order: neither rows nor batches decide on a tie.
    """
    if weight is None:
        return None, 1.0
    present = weight > 0
    units = quantise_weights(weight[present])
    if units is None and present.all():
        return None, 1.0
    whole = np.zeros(len(weight))
    whole[present] = 1.0 if units is None else units
    return whole, row_weight(units)
