"""Types of the compiled core; tests/test_architecture.py checks that the names agree."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
U8 = NDArray[np.uint8]

MAX_DEGREE: int

def instruction_set() -> str: ...
def use_instruction_set(name: str) -> bool: ...
def random_words(seed: int, ids: U64, count: int) -> U64: ...
def add_row_words(numbers: NDArray[Any], keys: U64, digits: int, out: U64) -> None: ...

# The forest engine.

#: Eight arrays of a FlatForest, word_bits, n_classes, n_features.
Forest = tuple[Any, ...]

class Bins:
    def __init__(self, blocks: list[U8]) -> None: ...

class TrainingBins(Bins):
    def __init__(
        self,
        *,
        blocks: list[U8],
        row_blocks: list[U8],
        values: F64,
        offset: I64,
        is_category: U8,
        has_missing: U8,
    ) -> None: ...

class Draw:
    def __init__(
        self,
        *,
        sampling: str,
        n_rows: int,
        units: U32 | None,
        n_draws: int,
        odds: U32 | None,
        seed: int,
        groups: U32 | None = None,
    ) -> None: ...

class GrowOptions:
    def __init__(
        self,
        *,
        splitter: str,
        criterion: str,
        max_depth: int | None,
        stop_depth: int,
        stop_rows: int,
        min_samples_split: int,
        min_samples_leaf: int,
        min_weight_fraction_leaf: float,
        min_impurity_decrease: float,
        max_features: int,
        row_weight: float,
        fast_kernels: bool,
    ) -> None: ...

def codes_fit(bins: TrainingBins) -> bool: ...
def row_keys(bins: Bins) -> U64: ...
def bin_columns(numbers: NDArray[Any], begin: int, end: int, edges: F64, offset: I64, out: U8) -> None: ...
def number_bins(
    numbers: NDArray[Any], begin: int, end: int, weights: F64 | None, max_bins: int, out: U8 | None = None
) -> tuple[F64, F64, I64]: ...
def distribution_bins(values: F64, cumulative: F64, max_bins: int) -> tuple[F64, F64, I64]: ...
def distinct_values(values: F64, weights: F64 | None) -> tuple[F64, F64]: ...
def grow_trees(
    bins: TrainingBins,
    labels: U16,
    n_classes: int,
    rows: U32,
    weights: U32 | None,
    draw: Draw,
    options: GrowOptions,
    first_tree: int,
    n_trees: int,
) -> Any: ...
def in_bag_counts(draw: Draw, tree: int) -> U32: ...
def check_forest(forest: Forest) -> None: ...
def last_bins(forest: Forest) -> I32: ...
def shorten(forest: Forest) -> Any: ...
def predict_codes(forest: Forest, bins: Bins, begin: int, end: int, out: F64) -> None: ...
def predict_values(forest: Forest, X: NDArray[Any], edges: F64, offset: I64, out: F64) -> None: ...
def apply_codes(
    forest: Forest, bins: Bins, begin: int, end: int, max_depth: int | None, node_value: U32 | None, out: U32
) -> None: ...
def predict_out_of_bag(
    forest: Forest,
    bins: Bins,
    rows: U32,
    draw: Draw,
    first_tree: int,
    begin: int,
    end: int,
    out: F64,
    votes: U32,
) -> None: ...
def shapley_codes(
    forest: Forest, rows: Bins, begin: int, end: int, background: Bins, group_of: U32, n_groups: int, out: F64
) -> None: ...

class BoostingOptions:
    def __init__(
        self,
        *,
        symmetric: bool,
        depth: int,
        max_leaves: int,
        n_rounds: int,
        patience: int,
        learning_rate: float,
        l2: float,
        min_hessian: float,
        min_rows: int,
        leaf_penalty: float,
        split_penalty: float,
        columns_per_tree: int,
        row_fraction: float,
        seed: int,
    ) -> None: ...

def boost(
    bins: Bins,
    n_bins: U8,
    has_missing: U8,
    monotone: NDArray[np.int8] | None,
    columns: U32,
    labels: U16,
    n_classes: int,
    weights: F64 | None,
    keys: U64,
    role: U8,
    baseline: F64,
    options: BoostingOptions,
    seconds: float,
    stop: U8,
) -> tuple[U32, F32, I64, F64, F64]: ...
def add_boosted_scores(forest: Forest, values: F32, bins: Bins, begin: int, end: int, out: F64) -> None: ...

# The SVM engine.

class Kernel:
    def __init__(self, kind: str, gamma: float, coef0: float) -> None: ...

class SolveOptions:
    def __init__(
        self, *, tol: float, max_iter: int, cache_bytes: int, warm: bool, decisions: bool
    ) -> None: ...

class TrainingRows:
    def __init__(self, *, x: F64, norms: F32, gram: F32 | None) -> None: ...

class Problems:
    def __init__(self, *, points: I32, starts: I64, group: I32, degree: I32, C: F64) -> None: ...

class SvmTable:
    def __init__(
        self,
        *,
        support_rows: F64,
        support_norms: F32,
        degree: I32,
        scale: F64,
        n_classes: I32,
        n_support: I32,
        classes: I32,
        class_support: I32,
        bias: F64,
        support: I32,
        coef: F64,
    ) -> None: ...

def inner_products_into(a: F64, b: F64, first: int, last: int, out: F32) -> None: ...
def formed_sooner(n: int, d: int) -> bool: ...
def squared_norms(x: F64) -> F32: ...
def svm_solve(
    rows: TrainingRows,
    kernel: Kernel,
    problems: Problems,
    labels: I32,
    weights: F64 | None,
    options: SolveOptions,
    stop: U8,
    advance: Callable[[int], None] | None = None,
) -> dict[str, NDArray[Any]]: ...
def svm_predict(
    svms: SvmTable,
    kernel: Kernel,
    x: F64,
    assign: I32,
    *,
    codes: I32 | None = None,
    vote_fractions: F64 | None = None,
    decisions: F64 | None = None,
    products: F32 | None = None,
    product_rows: I32 | None = None,
    support_index: I32 | None = None,
    stop: U8,
) -> None: ...
def count_votes(codes: I32, out: F64) -> None: ...
