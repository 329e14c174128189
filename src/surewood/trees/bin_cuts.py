"""Which categories of a column share a bin. (Numbers are cut in the core: core/forest/bin_cuts.hpp.)"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.tables.rare_categories import stands_alone


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
