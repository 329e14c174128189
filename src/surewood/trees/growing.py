"""Growing forests on a binned matrix: the engine's low-level entry.

:func:`grow_forest` takes codes, class codes, weights and :class:`TreeParams` and returns a :class:`Grown`:
the trees, their impurity importances, and the :class:`~surewood.trees.bag.Bag` that knows which rows each
tree saw. Tree `t` is a function of the data, the parameters, the seed and `t`: not of the number of threads,
of workers, or of trees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import delayed, effective_n_jobs
from numpy.typing import NDArray

from surewood import _core
from surewood.parallel import over_rows, run_tasks, share
from surewood.parallel.progress import Advance, ignore, stage
from surewood.tables.rare_categories import row_weight
from surewood.trees.bag import Bag, make_bag
from surewood.trees.binning import BinnedMatrix
from surewood.trees.flat_tree import FlatForest, ForestArrays

SPLITTERS = ("best", "random", "completely_random")
CRITERIA = ("gini", "entropy", "log_loss")
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
        Least weight of a leaf, as a fraction of the weight in the tree's bag.
    min_impurity_decrease : float
    max_features : int
        Features tried at a node (completely random trees: always 1). A constant one counts, but the search
        goes on until one varies.
    sampling : {"all", "bootstrap", "subsample", "resample"}
        All rows once; draws with replacement; draws without replacement; draws with replacement in
        proportion to the weights (:mod:`surewood.trees.bag` says what weights mean for each).
    n_draws : int, float or None
        Draws a tree; a float is a fraction; None: as many as there are rows.

    Examples
    --------
    >>> from surewood.trees import TreeParams
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
    >>> from surewood.trees import TreeParams, bin_array, grow_forest
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
    first_tree: int = 0,
    n_jobs: int | None = 1,
    verbose: int = 0,
    fast_kernels: bool = True,
    by_content: bool = True,
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
        Only their ratios matter. Rows of weight 0 are absent.
    rows : ndarray of int, optional
        Rows to train on (a fold, say); all by default.
    first_tree : int, default=0
        Where to go on (warm start): trees 0-9 and then 10-19 are trees 0-19.
    n_jobs : int, optional
        Threads, or workers of the active joblib backend; the trees do not depend on it.
    fast_kernels : bool, default=True
        False: one plain algorithm for all nodes. The same trees, slower.
    by_content : bool, default=True
        Whether bags are drawn in an order of the rows' content, or in that of `rows`.

    Examples
    --------
    >>> from surewood.trees import bin_array
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> grown = grow_forest(bin_array(X), np.array([0, 0, 1, 1]), 2, TreeParams(), n_trees=3, seed=0)
    >>> grown.forest.n_trees, grown.forest.predict_proba(bin_array(X))[:, 1].tolist()
    (3, [0.0, 0.0, 1.0, 1.0])
    """
    if n_classes > MAX_CLASSES:
        raise ValueError(f"forests take at most {MAX_CLASSES} classes, got {n_classes}.")
    labels = np.array(y, dtype=np.uint16)  # a copy: it is shared with workers, the caller's may change
    bag = make_bag(matrix, labels, params.sampling, params.n_draws, seed, weight, rows, by_content)
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
    share(labels, bag.rows, bag.weights, bag.units, bag.odds)
    seconds = [grow_seconds(len(bag.rows), params, count) for _, count in spans]
    with stage(verbose, "growing trees", n_trees) as advance:
        tasks = (
            delayed(_grow_batch)(matrix, labels, n_classes, params, bag, start, count, fast_kernels)
            for start, count in spans
        )
        for (arrays, importance), (_, count) in zip(run_tasks(tasks, n_jobs, seconds=seconds), spans):
            parts.append(arrays)
            importances += importance
            advance(count)
    if not parts:
        parts = [_no_trees()]
    return Grown(FlatForest.join(parts, n_classes, matrix.n_columns), bag, importances / max(n_trees, 1))


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
    >>> from surewood.trees import TreeParams, bin_array, grow_forest, out_of_bag
    >>> matrix, y = bin_array(np.arange(20.0)[:, None]), np.arange(20) // 10
    >>> grown = grow_forest(matrix, y, 2, TreeParams(sampling="bootstrap"), n_trees=50, seed=0)
    >>> sums, votes = out_of_bag(grown.forest, grown.bag, matrix)
    >>> sums.shape, bool((votes < 50).all())
    ((20, 2), True)
    """
    n = len(bag.rows)
    sums, votes = np.zeros((n, forest.n_classes)), np.zeros(n, dtype=np.uint32)
    share_matrix(matrix)
    share(bag.rows, bag.units, bag.odds, *forest.arrays)
    over_rows(
        _predict_out_of_bag,
        (forest.in_core, list(matrix.blocks), bag, first_tree),
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


def _predict_out_of_bag(forest: Any, blocks: list[Any], bag: Bag, first_tree: int, *rest: Any) -> None:
    _core.predict_out_of_bag(forest, _core.Bins(blocks), bag.rows, bag.draw, first_tree, *rest)


def share_matrix(matrix: BinnedMatrix) -> None:
    """Mark the codes: they go to a worker once. Blocks that a later matrix has too are not sent again.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.parallel.sharing import pack
    >>> from surewood.trees import bin_array, share_matrix
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
    >>> from surewood.trees import TreeParams, grow_seconds
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
    own: dict[str, Any] = {name: value for name, value in vars(params).items() if name not in _OF_BAGS}
    options = _core.GrowOptions(**own, row_weight=_row_weight(matrix, bag), fast_kernels=fast_kernels)
    result = _core.grow_trees(
        matrix.training_bins, labels, n_classes, bag.rows, bag.weights, bag.draw, options, start, count
    )
    return result[:8], result[8]


def _row_weight(matrix: BinnedMatrix, bag: Bag) -> float:
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
