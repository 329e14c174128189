"""Growing forests on a binned matrix: the engine's low-level entry, and the bags of its trees.

:func:`grow_forest` takes codes, class codes, weights and :class:`TreeParams` and returns a :class:`Grown`:
the trees, their impurity importances, and the :class:`~surewood.trees.growing.Bag` that knows which rows
each tree saw. Tree `t` is a function of the data, the parameters, the seed and `t`: not of the number of
threads, of workers, or of trees.

Bags are drawn from *units*, one chance to be drawn each, in an order that depends on the content of the
rows: shuffling the rows of a table changes no forest. With ``bootstrap`` and ``subsample``

* weights that are whole numbers (and average at most 64) are counts: a row of weight 2 has two units and is
  drawn exactly as the row twice would be;
* other weights multiply: rows are drawn uniformly, and what is drawn counts with its weight (theory.md
  [D-28]).

With ``resample`` rows are drawn in proportion to their weights, which then count no more. With `groups` whole
groups are drawn, each as likely as any other, so that a row outside the bag has no row of its group in it;
weights multiply. A bag is a function of the seed and the number of the tree, so it is never stored:
:meth:`Bag.counts` draws it again.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import delayed, effective_n_jobs
from numpy.typing import NDArray

from surewood import _core
from surewood.parallel import over_rows, run_tasks, share
from surewood.parallel.progress import Advance, ignore, stage
from surewood.tables.schema import LARGEST_MEAN_COUNT, row_weight
from surewood.trees.binning import BinnedMatrix, quantise_weights
from surewood.trees.flat_tree import FlatForest, ForestArrays

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
    draw_weights : ndarray of uint32 or None
        Probabilities of ``resample``, up to a factor.
    seed : int
    groups : ndarray of uint32 or None
        Group of each entry of `rows`, where whole groups are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees.binning import bin_array
    >>> from surewood.trees.growing import make_bag
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
    draw_weights: NDArray[np.uint32] | None
    seed: int
    groups: NDArray[np.uint32] | None = None

    @property
    def sampler(self) -> _core.RowSampler:
        """The form the core takes."""
        return _core.RowSampler(
            sampling=self.sampling,
            n_rows=len(self.rows),
            units=self.units,
            n_draws=self.n_draws,
            weights=self.draw_weights,
            seed=self.seed,
            groups=self.groups,
        )

    def counts(self, tree: int) -> NDArray[np.uint32]:
        """How often each entry of `rows` is in the bag of tree number `tree`."""
        return _core.in_bag_counts(self.sampler, tree)


def make_bag(
    matrix: BinnedMatrix,
    y: NDArray[Any],
    sampling: str,
    n_draws: int | float | None,
    seed: int,
    weight: NDArray[np.float64] | None = None,
    rows: NDArray[Any] | None = None,
    by_content: bool = True,
    groups: NDArray[np.int64] | None = None,
) -> Bag:
    """The bag that :func:`surewood.trees.grow_forest` uses with these arguments.

    Without `by_content` units follow `rows` as given, whose order the caller has settled.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees.binning import bin_array
    >>> from surewood.trees.growing import make_bag
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
    if groups is not None and sampling != "all":
        group_of_row = np.unique(groups[chosen], return_inverse=True)[1].astype(np.uint32)
        n_groups = int(group_of_row.max()) + 1
        fraction = n_draws / len(chosen) if isinstance(n_draws, int) else n_draws
        drawn = "bootstrap" if sampling == "resample" else sampling
        return Bag(chosen, weights, None, drawn, _n_draws(fraction, n_groups), None, seed, group_of_row)
    if sampling in ("all", "resample"):
        resampled = sampling == "resample"
        multiply, draw_weights = (None, weights) if resampled else (weights, None)
        return Bag(chosen, multiply, None, sampling, _n_draws(n_draws, len(chosen)), draw_weights, seed)
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
    return Bag(chosen, weights, units, sampling, _n_draws(n_draws, len(units)), None, seed)


def _n_draws(n_draws: int | float | None, n_units: int) -> int:
    if n_draws is None:
        return n_units
    return max(1, round(n_draws * n_units)) if isinstance(n_draws, float) else int(n_draws)


SPLITTERS = ("best", "random", "completely_random")
MAX_CLASSES = 65535

_BATCH_VISITS = 2e7  # row visits of a batch of trees: a few tenths of a second, so an interrupt is answered
_LARGEST_BATCH = 4  # few enough trees that threads end together, enough to hide what a call costs
_ROW_COPY_BYTES = 2**24  # beyond about a last-level cache, small nodes prefer rows to columns
_VOTE_ROWS, _VOTE_BYTES, _VOTE_SECONDS = 4096, 2**22, 0.5  # least rows, most bytes and seconds a task
_SECONDS_A_VISIT, _SECONDS_A_VOTE = 2e-9, 3e-8  # of a row and feature in growing, of a row and tree later


@dataclass(frozen=True)
class TreeParams:
    """How trees are grown; names and meaning as in scikit-learn's forests.

    Parameters
    ----------
    splitter : {"best", "random", "completely_random"}
        Best threshold of each tried feature; one random threshold a feature, the best of them; one random
        feature and threshold.
    criterion : {"gini", "entropy", "log_loss"}
    max_depth : int or None
    stop_depth, stop_rows : int
        A node at `stop_depth` or deeper is not split where it holds at most `stop_rows` rows.
    min_samples_split, min_samples_leaf : int
        In rows: a row of weight 3 is one row.
    min_weight_fraction_leaf : float
        Minimum weight of a leaf, as a fraction of the weight in the tree's bag.
    min_impurity_decrease : float
    max_features : int
        Features tried at a node (completely random trees: always 1). A constant one counts, but the search
        goes on until one varies.
    sampling : {"all", "bootstrap", "subsample", "resample"}
        All rows once; draws with replacement; draws without replacement; draws with replacement in
        proportion to the weights (:mod:`surewood.trees.growing` says what weights mean for each).
    n_draws : int, float or None
        Draws a tree; a float is a fraction; None: as many as there are rows.

    Examples
    --------
    >>> from surewood.trees.growing import TreeParams
    >>> TreeParams(max_depth=3, max_features=2).sampling
    'all'
    """

    splitter: str = "best"
    criterion: str = "gini"
    max_depth: int | None = None
    stop_depth: int = 0
    stop_rows: int = 0
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_features: int = 1
    sampling: str = "all"
    n_draws: int | float | None = None


_OF_BAGS = ("sampling", "n_draws")


@dataclass(frozen=True)
class Grown:
    """Result of :func:`grow_forest`.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees.binning import bin_array
    >>> from surewood.trees.growing import TreeParams, grow_forest
    >>> matrix = bin_array(np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0]]))
    >>> grown = grow_forest(matrix, np.array([0, 0, 1]), 2, TreeParams(max_features=2), n_trees=3, seed=0)
    >>> (grown.importances > 0).tolist()
    [True, False]
    """

    forest: FlatForest
    bag: Bag
    importances: NDArray[np.float64]


def grow_forest(
    matrix: BinnedMatrix,
    y: NDArray[Any],
    n_classes: int,
    params: TreeParams,
    *,
    n_trees: int,
    seed: int,
    weight: NDArray[np.float64] | None = None,
    rows: NDArray[Any] | None = None,
    groups: NDArray[np.int64] | None = None,
    first_tree: int = 0,
    n_jobs: int | None = 1,
    verbose: int = 0,
    fast_kernels: bool = True,
    by_content: bool = True,
    deadline: float | None = None,
) -> Grown:
    """Grow `n_trees` trees of a forest, beginning with number `first_tree`.

    Parameters
    ----------
    matrix : BinnedMatrix
    y : ndarray of int, shape (n_rows,)
        Class codes 0 ... n_classes - 1 of the rows of the matrix.
    n_classes : int
    params : TreeParams
    n_trees, seed : int
    weight : ndarray of float64, shape (n_rows,), optional
        Only their ratios matter. Rows of weight 0 are ignored.
    rows : ndarray of int, optional
        Rows to train on (a fold, say); all by default.
    groups : ndarray of int64, shape (n_rows,), optional
        Rows that are drawn together.
    first_tree : int, default=0
        Where to go on (warm start): trees 0-9 and then 10-19 are trees 0-19.
    n_jobs : int, optional
        Threads, or workers of the active joblib backend; the trees do not depend on it.
    fast_kernels : bool, default=True
        False: one plain algorithm for all nodes. The same trees, slower.
    by_content : bool, default=True
        Whether bags are drawn in an order of the rows' content, or in that of `rows`.
    deadline : float, optional
        Value of ``time.monotonic()`` after which no batch of trees is begun; the first always is.

    Examples
    --------
    >>> from surewood.trees.binning import bin_array
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> grown = grow_forest(bin_array(X), np.array([0, 0, 1, 1]), 2, TreeParams(), n_trees=3, seed=0)
    >>> grown.forest.n_trees, grown.forest.predict_proba(bin_array(X))[:, 1].tolist()
    (3, [0.0, 0.0, 1.0, 1.0])
    """
    if n_classes > MAX_CLASSES:
        raise ValueError(f"forests take at most {MAX_CLASSES} classes, got {n_classes}.")
    labels = np.array(y, dtype=np.uint16)  # a copy: it is shared with workers, the caller's may change
    bag = make_bag(matrix, labels, params.sampling, params.n_draws, seed, weight, rows, by_content, groups)
    if matrix.n_columns > 1 and matrix.nbytes > _ROW_COPY_BYTES and not matrix.row_blocks:
        matrix = matrix.with_row_copy()
    size = _batch_size(len(bag.rows), params)
    stop = first_tree + n_trees
    # Batches start at multiples of their size: sums over trees come out the same after a warm start.
    starts = sorted({first_tree, *range((first_tree // size + 1) * size, stop, size)}) if n_trees else []
    spans = [(start, min(stop, (start // size + 1) * size) - start) for start in starts]
    parts: list[ForestArrays] = []
    importances = np.zeros(matrix.n_columns)
    matrix.check()
    share_matrix(matrix)
    share(labels, bag.rows, bag.weights, bag.units, bag.draw_weights, bag.groups)
    at_once = len(spans) if deadline is None else effective_n_jobs(n_jobs)
    with stage(verbose, "growing trees", n_trees) as advance:
        while len(parts) < len(spans) and not (parts and deadline and time.monotonic() >= deadline):
            begun = spans[len(parts) : len(parts) + at_once]
            seconds = [grow_seconds(len(bag.rows), params, count) for _, count in begun]
            tasks = (
                delayed(_grow_batch)(matrix, labels, n_classes, params, bag, start, count, fast_kernels)
                for start, count in begun
            )
            for (arrays, importance), (_, count) in zip(run_tasks(tasks, n_jobs, seconds=seconds), begun):
                parts.append(arrays)
                importances += importance
                advance(count)
    n_grown = sum(count for _, count in spans[: len(parts)])
    forest = FlatForest.join(parts or [_no_trees()], n_classes, matrix.n_columns)
    return Grown(forest, bag, importances / max(n_grown, 1))


def out_of_bag(
    forest: FlatForest,
    bag: Bag,
    matrix: BinnedMatrix,
    n_jobs: int | None = 1,
    first_tree: int = 0,
    advance: Advance = ignore,
) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
    """Sums of class vectors over the trees that did not see a row, and the number of those trees.

    One row of the result for each entry of ``bag.rows``; divide the sums by the numbers for mean vectors.
    `advance` receives the number of finished rows.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees.binning import bin_array
    >>> from surewood.trees.growing import TreeParams, grow_forest, out_of_bag
    >>> matrix, y = bin_array(np.arange(20.0)[:, None]), np.arange(20) // 10
    >>> grown = grow_forest(matrix, y, 2, TreeParams(sampling="bootstrap"), n_trees=50, seed=0)
    >>> sums, votes = out_of_bag(grown.forest, grown.bag, matrix)
    >>> sums.shape, bool((votes < 50).all())
    ((20, 2), True)
    """
    n = len(bag.rows)
    sums, votes = np.zeros((n, forest.n_classes)), np.zeros(n, dtype=np.uint32)
    share_matrix(matrix)
    share(bag.rows, bag.units, bag.draw_weights, *forest.arrays)
    over_rows(
        _predict_out_of_bag,
        (forest, list(matrix.blocks), bag, first_tree),
        lambda begin, end: (begin, end),
        [sums, votes],
        n_rows=n,
        rows_a_task=_vote_rows(n, matrix.n_columns, _SECONDS_A_VOTE * forest.n_trees, n_jobs),
        n_jobs=n_jobs,
        seconds_a_row=_SECONDS_A_VOTE * forest.n_trees,
        advance=advance,
    )
    return sums, votes


def _vote_rows(n_rows: int, n_columns: int, seconds_a_row: float, n_jobs: int | None) -> int:
    """Rows a task: many, since each draws all bags again, yet few enough for threads, caches and Ctrl-C."""
    jobs = effective_n_jobs(n_jobs)
    a_part = n_rows if jobs == 1 else -(-n_rows // (2 * jobs))
    quick = int(_VOTE_SECONDS / max(seconds_a_row, 1e-9))
    return max(_VOTE_ROWS, min(a_part, quick, _VOTE_BYTES // max(n_columns, 1)))


def _predict_out_of_bag(forest: FlatForest, blocks: list[Any], bag: Bag, first_tree: int, *rest: Any) -> None:
    _core.predict_out_of_bag(forest.in_core, _core.Bins(blocks), bag.rows, bag.sampler, first_tree, *rest)


def share_matrix(matrix: BinnedMatrix) -> None:
    """Mark the codes: they go to a worker once. Blocks that a later matrix has too are not sent again.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.parallel.remote import pack
    >>> from surewood.trees.binning import bin_array
    >>> from surewood.trees.growing import share_matrix
    >>> matrix = bin_array(np.random.default_rng(0).random((50_000, 30)))
    >>> share_matrix(matrix)
    >>> len(pack([matrix.blocks[0]])[0]) < 1000  # a reference travels, not the codes
    True
    """
    share(*matrix.blocks, *matrix.row_blocks)


def grow_seconds(n_rows: int, params: TreeParams, n_trees: int) -> float:
    """What growing trees takes, roughly.

    Examples
    --------
    >>> from surewood.trees.growing import TreeParams, grow_seconds
    >>> grow_seconds(1000, TreeParams(), 10) < grow_seconds(1000, TreeParams(), 20)
    True
    """
    return _SECONDS_A_VISIT * _visits(n_rows, params) * n_trees


def _grow_batch(
    matrix: BinnedMatrix,
    labels: NDArray[np.uint16],
    n_classes: int,
    params: TreeParams,
    bag: Bag,
    start: int,
    count: int,
    fast_kernels: bool,
) -> tuple[ForestArrays, NDArray[np.float64]]:
    """A picklable task: some trees of a forest and the sum of their importances."""
    # The bag is drawn already; all other parameters are the core's.
    for_core: dict[str, Any] = {name: value for name, value in vars(params).items() if name not in _OF_BAGS}
    options = _core.GrowOptions(
        **for_core, row_weight=_smoothing_weight(matrix, bag), fast_kernels=fast_kernels
    )
    result = _core.grow_trees(
        matrix.training_bins, labels, n_classes, bag.rows, bag.weights, bag.sampler, options, start, count
    )
    return result[:8], result[8]


def _smoothing_weight(matrix: BinnedMatrix, bag: Bag) -> float:
    """What a row weighs where categories are smoothed: drawn with replacement, its weight varies as two."""
    if not matrix.mapper.is_category.any():
        return 1.0
    return row_weight(bag.weights) * (2.0 if bag.sampling in ("bootstrap", "resample") else 1.0)


def _batch_size(n_rows: int, params: TreeParams) -> int:
    """Trees a batch: depends on the work, never on the number of threads."""
    return int(min(_LARGEST_BATCH, max(1.0, _BATCH_VISITS // _visits(n_rows, params))))


def _visits(n_rows: int, params: TreeParams) -> float:
    """Rows times features that one tree looks at, roughly."""
    return n_rows * max(1.0, math.log2(max(n_rows, 2))) * max(1, params.max_features)


def _no_trees() -> ForestArrays:
    start = np.zeros(1, dtype=np.int64)
    return (
        np.zeros((0, 2), dtype=np.uint32),
        np.zeros(0, dtype=np.uint16),
        np.zeros(0, dtype=np.uint32),
        np.zeros(0, dtype=np.uint32),
        np.zeros((0, 4), dtype=np.uint64),
        start,
        start,
        start,
    )
