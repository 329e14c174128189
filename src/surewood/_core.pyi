"""Types of the compiled core; tests/test_architecture.py checks that the names agree."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_DEGREE: int

def instruction_set() -> str: ...
def use_instruction_set(name: str) -> bool: ...
def random_words(seed: int, ids: NDArray[np.uint64], count: int) -> NDArray[np.uint64]: ...
def add_row_words(
    numbers: NDArray[Any], keys: NDArray[np.uint64], digits: int, out: NDArray[np.uint64]
) -> None: ...

# The forest engine.

#: Eight arrays of a FlatForest, word_bits, n_classes, n_features.
Forest = tuple[Any, ...]

class Bins:
    def __init__(self, blocks: list[NDArray[np.uint8]]) -> None: ...

class TrainingBins(Bins):
    def __init__(
        self,
        *,
        blocks: list[NDArray[np.uint8]],
        row_blocks: list[NDArray[np.uint8]],
        values: NDArray[np.float64],
        offset: NDArray[np.int64],
        is_category: NDArray[np.uint8],
        has_missing: NDArray[np.uint8],
    ) -> None: ...

class Draw:
    def __init__(
        self,
        *,
        sampling: str,
        n_rows: int,
        units: NDArray[np.uint32] | None,
        n_draws: int,
        odds: NDArray[np.uint32] | None,
        seed: int,
    ) -> None: ...

class GrowOptions:
    def __init__(
        self,
        *,
        splitter: str,
        criterion: str,
        max_depth: int | None,
        min_samples_split: int,
        min_samples_leaf: int,
        min_weight_fraction_leaf: float,
        min_impurity_decrease: float,
        max_features: int,
        row_weight: float,
        fast_kernels: bool,
    ) -> None: ...

def codes_fit(bins: TrainingBins) -> bool: ...
def row_keys(bins: Bins) -> NDArray[np.uint64]: ...
def bin_columns(
    numbers: NDArray[Any],
    begin: int,
    end: int,
    edges: NDArray[np.float64],
    offset: NDArray[np.int64],
    out: NDArray[np.uint8],
) -> None: ...
def number_bins(
    numbers: NDArray[Any], begin: int, end: int, weights: NDArray[np.float64] | None, max_bins: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]: ...
def distribution_bins(
    values: NDArray[np.float64], cumulative: NDArray[np.float64], max_bins: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]: ...
def distinct_values(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def in_bag_counts(draw: Draw, tree: int) -> NDArray[np.uint32]: ...
def grow_trees(
    bins: TrainingBins,
    labels: NDArray[np.uint16],
    n_classes: int,
    rows: NDArray[np.uint32],
    weights: NDArray[np.uint32] | None,
    draw: Draw,
    options: GrowOptions,
    first_tree: int,
    n_trees: int,
) -> Any: ...
def check_forest(forest: Forest) -> NDArray[np.int32]: ...
def shorten(forest: Forest) -> Any: ...
def predict_codes(forest: Forest, bins: Bins, begin: int, end: int, out: NDArray[np.float64]) -> None: ...
def predict_values(
    forest: Forest,
    X: NDArray[Any],
    edges: NDArray[np.float64],
    offset: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...
def apply_codes(
    forest: Forest,
    bins: Bins,
    begin: int,
    end: int,
    max_depth: int | None,
    node_value: NDArray[np.uint32] | None,
    out: NDArray[np.uint32],
) -> None: ...
def predict_out_of_bag(
    forest: Forest,
    bins: Bins,
    rows: NDArray[np.uint32],
    draw: Draw,
    first_tree: int,
    begin: int,
    end: int,
    out: NDArray[np.float64],
    votes: NDArray[np.uint32],
) -> None: ...
def shapley_codes(
    forest: Forest,
    rows: Bins,
    begin: int,
    end: int,
    background: Bins,
    group_of: NDArray[np.uint32],
    n_groups: int,
    out: NDArray[np.float64],
) -> None: ...

# The SVM engine.

class Kernel:
    def __init__(self, kind: str, gamma: float, coef0: float) -> None: ...

class SolveOptions:
    def __init__(
        self, *, tol: float, max_iter: int, cache_bytes: int, warm: bool, decisions: bool
    ) -> None: ...

class TrainingRows:
    def __init__(
        self, *, x: NDArray[np.float64], norms: NDArray[np.float32], gram: NDArray[np.float32] | None
    ) -> None: ...

class Problems:
    def __init__(
        self,
        *,
        points: NDArray[np.int32],
        starts: NDArray[np.int64],
        group: NDArray[np.int32],
        degree: NDArray[np.int32],
        C: NDArray[np.float64],
    ) -> None: ...

class SvmTable:
    def __init__(
        self,
        *,
        support_rows: NDArray[np.float64],
        support_norms: NDArray[np.float32],
        degree: NDArray[np.int32],
        scale: NDArray[np.float64],
        n_classes: NDArray[np.int32],
        n_support: NDArray[np.int32],
        classes: NDArray[np.int32],
        class_support: NDArray[np.int32],
        bias: NDArray[np.float64],
        support: NDArray[np.int32],
        coef: NDArray[np.float64],
    ) -> None: ...

def inner_products_into(
    a: NDArray[np.float64], b: NDArray[np.float64], first: int, last: int, out: NDArray[np.float32]
) -> None: ...
def formed_sooner(n: int, d: int) -> bool: ...
def squared_norms(x: NDArray[np.float64]) -> NDArray[np.float32]: ...
def svm_solve(
    rows: TrainingRows,
    kernel: Kernel,
    problems: Problems,
    labels: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    options: SolveOptions,
    stop: NDArray[np.uint8],
    advance: Callable[[int], None] | None = None,
) -> dict[str, NDArray[Any]]: ...
def svm_predict(
    svms: SvmTable,
    kernel: Kernel,
    x: NDArray[np.float64],
    assign: NDArray[np.int32],
    *,
    codes: NDArray[np.int32] | None = None,
    vote_share: NDArray[np.float64] | None = None,
    decisions: NDArray[np.float64] | None = None,
    stop: NDArray[np.uint8],
) -> None: ...
def count_votes(codes: NDArray[np.int32], out: NDArray[np.float64]) -> None: ...
