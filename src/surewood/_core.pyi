"""
The compiled core of surewood. Import it from surewood.trees, surewood.svm or surewood.tables only.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy
import numpy.typing
from numpy.typing import NDArray


def instruction_set() -> str:
    """
    The instruction set that the kernels use: the best one of this processor and build by default.
    """

def use_instruction_set(name: str) -> bool:
    """
    Use 'baseline', 'avx2' or 'avx512' in all kernels; False where there is no such set. For tests.
    """

def random_words(seed: int, ids: NDArray[numpy.uint64], count: int) -> NDArray[numpy.uint64]:
    """The first `count` words of the stream keyed by (seed, ids)."""

def add_row_words(numbers: numpy.typing.NDArray[Any], keys: NDArray[numpy.uint64], digits: int, out: NDArray[numpy.uint64]) -> None:
    """
    Add to `out` a word of the numbers of each row, rounded to this many significant digits.
    """

class Bins:
    """The codes of a binned matrix, in column blocks."""

    def __init__(self, blocks: Sequence[NDArray[numpy.uint8]]) -> None: ...

class TrainingBins(Bins):
    """The same, with the bins of every column."""

    def __init__(self, *, blocks: Sequence[NDArray[numpy.uint8]], row_blocks: Sequence[NDArray[numpy.uint8]], values: NDArray[numpy.float64], offset: NDArray[numpy.int64], is_category: NDArray[numpy.uint8], has_missing: NDArray[numpy.uint8]) -> None: ...

def codes_fit(bins: TrainingBins) -> bool:
    """Whether every code is a bin of its column or a missing value."""

def row_keys(bins: Bins) -> NDArray[numpy.uint64]:
    """A number for the codes of each row."""

def bin_columns(numbers: numpy.typing.NDArray[Any], begin: int, end: int, edges: NDArray[numpy.float64], offset: NDArray[numpy.int64], out: NDArray[numpy.uint8]) -> None:
    """
    Bin codes of some columns: the first bin whose edge is not below the value; NaN is 255.
    """

def number_bins(numbers: numpy.typing.NDArray[Any], begin: int, end: int, weights: NDArray[numpy.float64] | None, max_bins: int, out: NDArray[numpy.uint8] | None = None) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.int64]]:
    """
    Values and edges of the bins of some columns, and the number of bins of each; their codes into `out`.
    """

def distribution_bins(values: NDArray[numpy.float64], cumulative: NDArray[numpy.float64], max_bins: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.int64]]:
    """
    The same for one column of these distinct values, which have this weight up to each.
    """

def distinct_values(values: NDArray[numpy.float64], weights: NDArray[numpy.float64] | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Distinct known values of a column, ascending, and the weight up to each.
    """

class RowSampler:
    """How the trees of a forest draw their rows."""

    def __init__(self, *, sampling: str, n_rows: int, units: NDArray[numpy.uint32] | None, n_draws: int, weights: NDArray[numpy.uint32] | None, seed: int, groups: NDArray[numpy.uint32] | None = None) -> None: ...

def in_bag_counts(sampler: RowSampler, tree: int) -> NDArray[numpy.uint32]:
    """How often each training row is in the bag of a tree."""

class GrowOptions:
    """How trees are grown; the names of scikit-learn's forests."""

    def __init__(self, *, splitter: str, criterion: str, max_depth: int | None, stop_depth: int, stop_rows: int, min_samples_split: int, min_samples_leaf: int, min_weight_fraction_leaf: float, min_impurity_decrease: float, max_features: int, row_weight: float, fast_kernels: bool) -> None: ...

def grow_trees(bins: TrainingBins, labels: NDArray[numpy.uint16], n_classes: int, rows: NDArray[numpy.uint32], weights: NDArray[numpy.uint32] | None, sampler: RowSampler, options: GrowOptions, first_tree: int, n_trees: int) -> tuple[NDArray[numpy.uint32], NDArray[numpy.uint16], NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.uint64], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64]]:
    """
    Grow a batch of trees; the eight arrays of a forest and the summed importances.
    """

class Forest:
    """The arrays of a FlatForest, checked: a ValueError says what is wrong."""

    def __init__(self, *, nodes: NDArray[numpy.uint32], leaf_class: NDArray[numpy.uint16], leaf_weight: NDArray[numpy.uint32], category_left: NDArray[numpy.uint32], category_set: NDArray[numpy.uint64], node_start: NDArray[numpy.int64], leaf_start: NDArray[numpy.int64], category_start: NDArray[numpy.int64], n_classes: int, n_features: int, word_bits: int) -> None: ...

def splits_fit(forest: Forest, offset: NDArray[numpy.int64]) -> bool:
    """
    Whether splits compare only with bins offset[j] ... offset[j + 1] - 1 of their feature j.
    """

def shorten(forest: Forest) -> tuple[NDArray[numpy.uint32], NDArray[numpy.uint16], NDArray[numpy.uint32], NDArray[numpy.int64], int] | None:
    """
    Short nodes, leaf pools and their starts, bits of a word; None where the trees are too large.
    """

def predict_codes(forest: Forest, bins: Bins, begin: int, end: int, out: NDArray[numpy.float64]) -> None:
    """
    Add every tree's class vector for rows begin..end of a binned matrix to `out`.
    """

def predict_values(forest: Forest, X: numpy.typing.NDArray[Any], edges: NDArray[numpy.float64], offset: NDArray[numpy.int64], out: NDArray[numpy.float64]) -> None:
    """The same for raw numbers (float32 or float64)."""

def apply_codes(forest: Forest, bins: Bins, begin: int, end: int, max_depth: int | None, node_value: NDArray[numpy.uint32] | None, out: NDArray[numpy.uint32]) -> None:
    """
    Node (or its value) of every tree at which each row ends after at most max_depth splits.
    """

def predict_out_of_bag(forest: Forest, bins: Bins, rows: NDArray[numpy.uint32], sampler: RowSampler, first_tree: int, begin: int, end: int, out: NDArray[numpy.float64], votes: NDArray[numpy.uint32]) -> None:
    """Sums and numbers of the trees that did not see each training row."""

def shapley_codes(forest: Forest, rows: Bins, begin: int, end: int, background: Bins, group_of: NDArray[numpy.uint32], n_groups: int, out: NDArray[numpy.float64]) -> None:
    """
    Add the Shapley values of all trees for pairs of rows begin..end and background rows to `out`.
    """

class BoostingOptions:
    """How boosted trees are grown."""

    def __init__(self, *, symmetric: bool, depth: int, max_leaves: int, n_rounds: int, patience: int, learning_rate: float, l2: float, min_hessian: float, min_rows: int, leaf_penalty: float, split_penalty: float, columns_per_tree: int, row_fraction: float, seed: int) -> None: ...

def boost(bins: Bins, n_bins: NDArray[numpy.uint8], has_missing: NDArray[numpy.uint8], monotone: NDArray[numpy.int8] | None, columns: NDArray[numpy.uint32], labels: NDArray[numpy.uint16], n_classes: int, weights: NDArray[numpy.float64] | None, keys: NDArray[numpy.uint64], role: NDArray[numpy.uint8], baseline: NDArray[numpy.float64], options: BoostingOptions, seconds: float, stop: NDArray[numpy.uint8]) -> tuple[NDArray[numpy.uint32], NDArray[numpy.float32], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Boosted trees of the rows of role 1, stopped by those of role 2: nodes, values, starts, gains, losses.
    """

def add_boosted_scores(forest: Forest, values: NDArray[numpy.float32], bins: Bins, begin: int, end: int, out: NDArray[numpy.float64]) -> None:
    """Add the values of the leaves of rows begin..end to `out`."""

def inner_products_into(a: NDArray[numpy.float64], b: NDArray[numpy.float64], first: int, last: int, out: NDArray[numpy.float32]) -> None:
    """
    out[first:last] = a[first:last] @ b.T, float32, the same for any range.
    """

def formed_sooner(n: int, d: int) -> bool:
    """
    Whether solvers form products among n rows of d numbers anew even where the matrix of all is stored.
    """

def squared_norms(x: NDArray[numpy.float64]) -> NDArray[numpy.float32]:
    """Inner products of the rows with themselves."""

MAX_DEGREE: int = 100

class Kernel:
    """A kernel of inner products: 'poly' or 'rbf'."""

    def __init__(self, kind: str, gamma: float, coef0: float) -> None: ...

class SolveOptions:
    """How duals are solved."""

    def __init__(self, *, tol: float, max_iter: int, cache_bytes: int, warm: bool, decisions: bool) -> None: ...

class TrainingRows:
    """Rows, their squared norms and, where stored, their products."""

    def __init__(self, *, x: NDArray[numpy.float64], norms: NDArray[numpy.float32], gram: NDArray[numpy.float32] | None) -> None: ...

class Problems:
    """Groups of rows, and problems (group, degree, C) on them."""

    def __init__(self, *, points: NDArray[numpy.int32], starts: NDArray[numpy.int64], group: NDArray[numpy.int32], degree: NDArray[numpy.int32], C: NDArray[numpy.float64]) -> None: ...

def svm_solve(rows: TrainingRows, kernel: Kernel, problems: Problems, labels: NDArray[numpy.int32], weights: NDArray[numpy.float64] | None, options: SolveOptions, stop: NDArray[numpy.uint8], advance: Callable[[int], None] | None = None) -> dict[str, numpy.typing.NDArray[Any]]:
    """One-vs-one SVMs for all problems; the GIL is released."""

class SvmTable:
    """Trained SVMs over one set of support rows, checked."""

    def __init__(self, *, support_rows: NDArray[numpy.float64], support_norms: NDArray[numpy.float32], degree: NDArray[numpy.int32], scale: NDArray[numpy.float64], n_classes: NDArray[numpy.int32], n_support: NDArray[numpy.int32], classes: NDArray[numpy.int32], class_support: NDArray[numpy.int32], bias: NDArray[numpy.float64], support: NDArray[numpy.int32], coef: NDArray[numpy.float64]) -> None: ...

def svm_predict(svms: SvmTable, kernel: Kernel, x: NDArray[numpy.float64], assign: NDArray[numpy.int32], *, codes: NDArray[numpy.int32] | None = None, vote_fractions: NDArray[numpy.float64] | None = None, decisions: NDArray[numpy.float64] | None = None, products: NDArray[numpy.float32] | None = None, product_rows: NDArray[numpy.int32] | None = None, support_index: NDArray[numpy.int32] | None = None, stop: NDArray[numpy.uint8]) -> None:
    """Votes of SVM assign[r, t] at row r; the GIL is released."""

def count_votes(codes: NDArray[numpy.int32], out: NDArray[numpy.float64]) -> None:
    """
    Add the number of entries of each code in each row of `codes` to `out`.
    """
