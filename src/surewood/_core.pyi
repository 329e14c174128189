"""Types of the compiled core; tests/test_architecture.py checks that the names agree."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

def instruction_set() -> str: ...
def random_words(seed: int, ids: NDArray[np.uint64], count: int) -> NDArray[np.uint64]: ...
def use_instruction_set(name: str) -> bool: ...
def inner_products_into(
    a: NDArray[np.float64], b: NDArray[np.float64], first: int, last: int, out: NDArray[np.float32]
) -> None: ...
def squared_norms(x: NDArray[np.float64]) -> NDArray[np.float32]: ...
def svm_solve(
    gram: NDArray[np.float32] | None,
    x: NDArray[np.float64],
    norms: NDArray[np.float32],
    kind: str,
    gamma: float,
    coef0: float,
    points: NDArray[np.int32],
    starts: NDArray[np.int64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    group: NDArray[np.int32],
    degree: NDArray[np.int32],
    C: NDArray[np.float64],
    tol: float,
    max_iter: int,
    cache_bytes: int,
    warm: bool,
    decisions: bool,
    stop: NDArray[np.uint8],
    advance: Callable[[int], None] | None = None,
) -> dict[str, NDArray[Any]]: ...
def svm_predict(
    x: NDArray[np.float64],
    support_rows: NDArray[np.float64],
    support_norms: NDArray[np.float32],
    kind: str,
    gamma: float,
    coef0: float,
    machines: dict[str, NDArray[Any]],
    assign: NDArray[np.int32],
    codes: NDArray[np.int32] | None,
    vote_share: NDArray[np.float64] | None,
    decisions: NDArray[np.float64] | None,
    stop: NDArray[np.uint8],
) -> None: ...
def count_votes(codes: NDArray[np.int32], out: NDArray[np.float64]) -> None: ...
def grow_trees(
    blocks: list[NDArray[np.uint8]],
    row_blocks: list[NDArray[np.uint8]],
    values: NDArray[np.float64],
    value_offset: NDArray[np.int64],
    is_category: NDArray[np.uint8],
    has_missing: NDArray[np.uint8],
    labels: NDArray[np.uint16],
    n_classes: int,
    rows: NDArray[np.uint32],
    weights: NDArray[np.uint32] | None,
    splitter: int,
    criterion: int,
    max_depth: int,
    min_samples_split: int,
    min_samples_leaf: int,
    min_weight_fraction_leaf: float,
    min_impurity_decrease: float,
    max_features: int,
    lottery: tuple[Any, ...],
    fast_kernels: bool,
    seed: int,
    first_tree: int,
    n_trees: int,
) -> Any: ...
def shorten(forest: tuple[Any, ...], n_classes: int, n_features: int) -> Any: ...
def predict_codes(
    forest: tuple[Any, ...],
    n_classes: int,
    blocks: list[NDArray[np.uint8]],
    begin: int,
    end: int,
    out: NDArray[np.float64],
) -> None: ...
def predict_values(
    forest: tuple[Any, ...],
    n_classes: int,
    X: NDArray[Any],
    edges: NDArray[np.float64],
    offset: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...
def apply_codes(
    forest: tuple[Any, ...],
    blocks: list[NDArray[np.uint8]],
    begin: int,
    end: int,
    max_depth: int,
    node_value: NDArray[np.uint32] | None,
    out: NDArray[np.uint32],
) -> None: ...
def predict_out_of_bag(
    forest: tuple[Any, ...],
    n_classes: int,
    blocks: list[NDArray[np.uint8]],
    rows: NDArray[np.uint32],
    lottery: tuple[Any, ...],
    seed: int,
    first_tree: int,
    begin: int,
    end: int,
    out: NDArray[np.float64],
    votes: NDArray[np.uint32],
) -> None: ...
def bin_column(values: NDArray[np.float64], edges: NDArray[np.float64], out: NDArray[np.uint8]) -> None: ...
def distinct_values(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...
def in_bag_counts(lottery: tuple[Any, ...], seed: int, tree: int) -> NDArray[np.uint32]: ...
def row_keys(blocks: list[NDArray[np.uint8]]) -> NDArray[np.uint64]: ...
