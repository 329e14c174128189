"""Types of the compiled core; tests/test_architecture.py checks that the names agree."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

def instruction_set() -> str: ...
def random_words(seed: int, ids: NDArray[np.uint64], count: int) -> NDArray[np.uint64]: ...
def use_svm_instruction_set(name: str) -> bool: ...
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
