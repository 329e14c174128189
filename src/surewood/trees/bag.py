"""Which rows each tree of a forest sees, and what weights mean for the draw.

Bags are drawn from *units*, one chance to be drawn each, in an order that depends on the content of the rows:
shuffling the rows of a table changes no forest. With ``bootstrap`` and ``subsample``

* weights that are whole numbers (and average at most 64) are counts: a row of weight 2 has two units and is
  drawn exactly as the row twice would be;
* other weights multiply: rows are drawn uniformly, and what is drawn counts with its weight (theory.md
  [D-28]).

With ``resample`` rows are drawn in proportion to their weights, which then count no more. A bag is a
function of the seed and the number of the tree, so it is never stored: :meth:`Bag.counts` draws it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood import _core
from surewood.tables.rare_categories import LARGEST_MEAN_COUNT
from surewood.trees.binning import BinnedMatrix
from surewood.trees.weights import quantise_weights

SAMPLINGS = ("all", "bootstrap", "subsample", "resample")
_MOST_ROWS = 2**32 - 2  # rows have numbers of 32 bits in the core


@dataclass(frozen=True)
class Bag:
    """The rows of a forest and how its trees draw from them.

    Attributes
    ----------
    rows : ndarray of uint32
        Rows of the matrix that the forest was trained on (those of positive weight).
    weights : ndarray of uint32 or None
        What multiplies the number of draws of each of them.
    units : ndarray of uint32 or None
        Position in `rows` of each unit.
    sampling : str
    n_draws : int
        Units drawn per tree.
    odds : ndarray of uint32 or None
        Probabilities of ``resample``, up to a factor.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees import bin_array, make_bag
    >>> matrix = bin_array(np.arange(6.0)[:, None])
    >>> bag = make_bag(matrix, np.array([0, 0, 0, 1, 1, 1]), "bootstrap", None, seed=0)
    >>> bag.counts(tree=0).sum().item(), bag.n_draws
    (6, 6)
    """

    rows: NDArray[np.uint32]
    weights: NDArray[np.uint32] | None
    units: NDArray[np.uint32] | None
    sampling: str
    n_draws: int
    odds: NDArray[np.uint32] | None
    seed: int

    @property
    def draw(self) -> _core.Draw:
        """The form the core takes."""
        return _core.Draw(
            sampling=self.sampling,
            n_rows=len(self.rows),
            units=self.units,
            n_draws=self.n_draws,
            odds=self.odds,
            seed=self.seed,
        )

    def counts(self, tree: int) -> NDArray[np.uint32]:
        """How often each entry of `rows` is in the bag of tree number `tree`."""
        return _core.in_bag_counts(self.draw, tree)


def make_bag(
    matrix: BinnedMatrix,
    y: NDArray[Any],
    sampling: str,
    n_draws: int | float | None,
    seed: int,
    weight: NDArray[np.float64] | None = None,
    rows: NDArray[Any] | None = None,
    by_content: bool = True,
) -> Bag:
    """The bag that :func:`surewood.trees.grow_forest` uses with these arguments.

    Without `by_content` units follow `rows` as given, whose order the caller has settled.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees import bin_array, make_bag
    >>> matrix = bin_array(np.arange(4.0)[:, None])
    >>> make_bag(matrix, np.array([0, 0, 1, 1]), "all", None, seed=0).counts(tree=0).tolist()
    [1, 1, 1, 1]
    """
    if matrix.n_rows > _MOST_ROWS:
        raise ValueError(f"forests take at most {_MOST_ROWS} rows, got {matrix.n_rows}.")
    chosen: NDArray[Any] = np.arange(matrix.n_rows) if rows is None else np.asarray(rows)
    weights = None
    if weight is not None:
        if not (np.isfinite(weight).all() and (weight >= 0).all()):
            raise ValueError("weights must be finite and not negative.")
        chosen = chosen[weight[chosen] > 0]
        weights = quantise_weights(weight[chosen])
    if len(chosen) == 0:
        raise ValueError("no row of positive weight to grow trees on.")
    if chosen.min() < 0 or chosen.max() >= matrix.n_rows:
        raise ValueError("rows: an index is past the last row of the matrix")
    chosen = chosen.astype(np.uint32)
    if sampling in ("all", "resample"):
        odds = weights if sampling == "resample" else None
        draws = _draws(n_draws, len(chosen))
        return Bag(chosen, None if odds is not None else weights, None, sampling, draws, odds, seed)
    units = np.arange(len(chosen), dtype=np.uint32)
    if by_content:
        keys = matrix.row_keys[chosen]
        # Labels only order rows of equal codes: a row's label has no say in which trees see it.
        units = np.lexsort((np.asarray(y)[chosen], keys)).astype(np.uint32)
    if weight is not None:
        counts = weight[chosen]
        if (counts == np.rint(counts)).all() and counts.mean() <= LARGEST_MEAN_COUNT:
            units = np.repeat(units, counts[units].astype(np.int64))
            weights = None
    return Bag(chosen, weights, units, sampling, _draws(n_draws, len(units)), None, seed)


def _draws(n_draws: int | float | None, n_units: int) -> int:
    if n_draws is None:
        return n_units
    return max(1, round(n_draws * n_units)) if isinstance(n_draws, float) else int(n_draws)
