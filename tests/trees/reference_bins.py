"""The specification of core/forest/learn_bins and bin_column: bins of a number column, in NumPy."""

import numpy as np


def distinct_values(column, weight=None):
    """Distinct known values, ascending, and their cumulative weight; rows of weight 0 are left out."""
    weight = np.ones(len(column)) if weight is None else weight
    known = ~np.isnan(column) & (weight > 0)
    values, place = np.unique(column[known].astype(np.float64) + 0.0, return_inverse=True)
    return values, np.cumsum(np.bincount(place, weight[known], len(values)))


def codes(column, edges):
    """Number of edges below each value; 255 for NaN."""
    column = column.astype(np.float64)
    return np.where(np.isnan(column), 255, np.searchsorted(edges, column)).astype(np.uint8)


def number_bins(distinct, cumulative, max_bins):
    """Representative values and upper edges of the bins of a number column; one bin if nothing is known."""
    if len(distinct) == 0:
        return np.zeros(1), np.array([np.inf])
    if len(distinct) <= max_bins:
        first = last = np.arange(len(distinct))
        middle = first
    else:
        last = _cuts(cumulative, max_bins)
        first = np.concatenate([[0], last[:-1] + 1])
        below = np.concatenate([[0.0], cumulative[last[:-1]]])
        middle = np.searchsorted(cumulative, (below + cumulative[last]) / 2)
        middle = np.clip(middle, first, last)
    # Halves first: the sum of two large numbers may overflow.
    edges = np.append(distinct[last[:-1]] * 0.5 + distinct[first[1:]] * 0.5, np.inf)
    # Rounding must not move an edge past the value it has to exclude (neighbouring floats).
    edges[:-1] = np.where(edges[:-1] >= distinct[first[1:]], distinct[last[:-1]], edges[:-1])
    return distinct[middle], edges


def _cuts(cumulative, max_bins):
    """Last value of each bin. Heavy values alone where that fits, else plain quantiles."""
    mass = np.diff(cumulative, prepend=0.0)
    total, bins_left = cumulative[-1], max_bins
    heavy = np.zeros(len(mass), dtype=bool)
    while True:  # a value is heavy when it would fill a bin of what the heavier ones leave
        more = ~heavy & (mass * bins_left >= total)
        if not more.any():
            break
        heavy |= more
        total = mass[~heavy].sum()
        bins_left = max_bins - int(heavy.sum())
        if bins_left < 1 or total <= 0:
            break
    if heavy.any() and bins_left > 0 and total > 0:
        light = np.cumsum(np.where(heavy, 0.0, mass))
        # Heavy values cut the light runs too: leave room for that.
        runs = int((np.diff(heavy.astype(np.int8)) == 1).sum())
        place = np.ceil(light * max(bins_left - runs, 1) / total).astype(np.int64)
        change = (place[1:] != place[:-1]) | heavy[1:] | heavy[:-1]
        last = np.append(np.flatnonzero(change), len(mass) - 1)
        if len(last) <= max_bins:
            return last
    targets = cumulative[-1] * np.arange(1, max_bins) / max_bins
    last = np.searchsorted(cumulative, targets)  # ascending
    last = last[np.append(True, last[1:] != last[:-1])]
    return np.append(last[last < len(mass) - 1], len(mass) - 1)
