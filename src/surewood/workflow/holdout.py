"""Samples of training rows, what may be held out, and which targets cannot be learned."""

from __future__ import annotations

from numbers import Real

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.workflow.errors import WorkflowError

DEFAULT_HOLDOUT = 0.2
MIN_ROWS_PER_CLASS = 2
RARE = ("drop", "merge", "keep")
OTHER = "other"


def check_holdout(fraction: float | None) -> None:
    """Refuse what is not a fraction of the rows.

    Examples
    --------
    >>> try:
    ...     check_holdout(2.0)
    ... except WorkflowError as error:
    ...     print(error)
    holdout=2.0 is not a fraction of the rows; it must be at least 0 and less than 1.
    """
    if fraction is None:
        return
    is_number = isinstance(fraction, Real) and not isinstance(fraction, bool)
    if not (is_number and 0.0 <= fraction < 1.0):
        raise WorkflowError(
            f"holdout={fraction} is not a fraction of the rows; it must be at least 0 and less than 1."
        )


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
    """Refuse a target with one class, with mostly classes of a single row, or with fractions."""
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


def settle_rare(y: pd.Series, rare: str) -> tuple[pd.Series, NDArray[np.bool_], list[str]]:
    """Deal with classes of one row.

    Parameters
    ----------
    y : Series
        Labels.
    rare : {"drop", "merge", "keep"}
        Leave those rows out; make one class of them, "other", where they are at least two; or keep them.

    Returns
    -------
    y : Series
        Labels, of all rows.
    kept : ndarray of bool
        Rows to go on with.
    notes : list of str

    Examples
    --------
    >>> y, kept, notes = settle_rare(pd.Series(list("aabbc")), "drop")
    >>> kept.tolist(), notes
    ([True, True, True, True, False], ["class 'c' has one row, which was dropped (rare=keep keeps it)."])
    """
    if rare not in RARE:
        raise WorkflowError(f"rare={rare} is unknown; choose among {', '.join(RARE)}.")
    counts = y.value_counts()
    labels = counts.index[counts < MIN_ROWS_PER_CLASS].tolist()
    everything = np.ones(len(y), dtype=bool)
    if not labels or rare == "keep":
        return y, everything, []
    shown = ", ".join(repr(str(label)) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")
    single = y.isin(labels).to_numpy()
    if rare == "merge" and len(labels) >= MIN_ROWS_PER_CLASS:
        merged = y.astype(str).mask(single, OTHER)
        return merged, everything, [f"classes {shown} have one row each and were merged as {OTHER!r}."]
    if len(labels) == 1:
        return y, ~single, [f"class {shown} has one row, which was dropped (rare=keep keeps it)."]
    return y, ~single, [f"classes {shown} have one row each, which were dropped (rare=keep keeps them)."]
