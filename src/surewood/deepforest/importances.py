"""Importances traced through the layers: that of class vectors is passed on to what they were made from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surewood._arrays import Floats


def trace_layer(
    importances: Floats, n_features: int, earlier: Floats | None, sees_table: bool = True
) -> Floats:
    """Importances of the table's columns for one layer.

    Parameters
    ----------
    importances : ndarray of float64
        Of the layer's inputs: the table's columns (if it saw them), then class-vector columns.
    n_features : int
    earlier : ndarray of float64, shape (n_features,), or None
        Traced importances, summing to 1, of what the class-vector columns are; None for the first layer.
    sees_table : bool
        Whether a later layer saw the table's columns at all.

    Examples
    --------
    >>> trace_layer(np.array([0.2, 0.0, 0.8]), 2, np.array([0.5, 0.5])).round(2).tolist()
    [0.6, 0.4]
    """
    if earlier is None:
        return importances
    own = importances[:n_features] if sees_table else np.zeros(n_features)
    return np.asarray(own + (importances.sum() - own.sum()) * earlier)


def mix(traced: Sequence[Floats], alphas: Sequence[float]) -> Floats:
    """Importances of a weighted sum of layers, summing to 1 if any is positive."""
    total = np.sum([alpha * layer for alpha, layer in zip(alphas, traced)], axis=0)
    mass = total.sum()
    return np.asarray(total / mass if mass > 0 else total)
