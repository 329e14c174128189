"""Which rows are held out, and which targets cannot be learned."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.workflow.errors import WorkflowError

DEFAULT_HOLDOUT = 0.2
MIN_ROWS_PER_CLASS = 2


def choose_holdout(y: pd.Series, fraction: float, random_state: int) -> tuple[NDArray[np.bool_], int]:
    """Draw the holdout at random, not by class: its rows are independent draws, as a certificate assumes.

    The exception are classes that would have fewer than two training rows; their rows are moved back.

    Parameters
    ----------
    y : Series
        Labels of all rows.
    fraction : float
        Fraction of the rows to hold out.
    random_state : int

    Returns
    -------
    held_out : ndarray of bool
    n_moved : int
        Rows of rare classes that went back to the training rows.

    Examples
    --------
    >>> held_out, moved = choose_holdout(pd.Series(list("ab" * 10)), 0.2, 0)
    >>> int(held_out.sum()), moved
    (4, 0)
    """
    n = len(y)
    rng = np.random.default_rng(random_state)
    held_out = np.zeros(n, dtype=bool)
    held_out[rng.permutation(n)[: round(fraction * n)]] = True
    codes = pd.factorize(y)[0]
    left = np.bincount(codes[~held_out], minlength=codes.max() + 1)
    moved = 0
    for code in np.flatnonzero(left < MIN_ROWS_PER_CLASS):
        back = np.flatnonzero(held_out & (codes == code))[: MIN_ROWS_PER_CLASS - left[code]]
        held_out[back] = False
        moved += len(back)
    return held_out, moved


def stratified_rows(y: pd.Series, most: int, random_state: int) -> NDArray[np.int64]:
    """All rows, or a stratified sample of them with at least two of every class.

    Examples
    --------
    >>> stratified_rows(pd.Series([0, 0, 1, 1]), 10, 0).tolist()
    [0, 1, 2, 3]
    """
    n = len(y)
    if n <= most:
        return np.arange(n)
    rng = np.random.default_rng(random_state)
    codes = pd.factorize(y)[0]
    taken = []
    for code in range(codes.max() + 1):
        own = rng.permutation(np.flatnonzero(codes == code))
        taken.append(own[: max(MIN_ROWS_PER_CLASS, round(most * len(own) / n))])
    return np.sort(np.concatenate(taken))


def check_classes(y: pd.Series, target: str) -> None:
    """Refuse a target with one class, with classes of a single row, or with numbers that are not classes."""
    counts = y.value_counts()
    if len(counts) < 2:
        raise WorkflowError(
            f"the target {target!r} has only one class, {str(counts.index[0])!r}; nothing can be learned."
        )
    if pd.api.types.is_float_dtype(y.dtype) and (y % 1 != 0).any():
        raise WorkflowError(f"the target {target!r} holds numbers with fractions; classes are needed.")
    rare = [str(label) for label, count in counts.items() if count < MIN_ROWS_PER_CLASS]
    if len(rare) > 0.5 * len(counts) and len(counts) > 20:
        raise WorkflowError(
            f"the target {target!r} has {len(counts):,} classes in {len(y):,} rows, most of them with one "
            "row; is it the right column?"
        )
    if rare:
        shown = ", ".join(repr(label) for label in rare[:5]) + (", ..." if len(rare) > 5 else "")
        several = len(rare) > 1
        raise WorkflowError(
            f"class{'es' if several else ''} {shown} of the target {target!r} {'have' if several else 'has'} "
            f"fewer than {MIN_ROWS_PER_CLASS} rows; remove those rows or merge the class."
        )
