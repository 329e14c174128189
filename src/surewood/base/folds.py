"""Seeds and folds: how rows are divided.

:func:`draw_seed` makes the one integer that all randomness of a fit is derived from.

Every fold of the package is dealt by :func:`dealt`: rows are put into an order and handed out in turn, like
cards. What differs between the families is the order, and it has to: the order decides which random numbers
are used, and with them every later result.

* :func:`shuffled_folds`: one shuffle of all rows, classes are not looked at (random composite forests);
* :func:`stratified_folds`: one shuffle of all rows, then class by class (deep forests; rows of one content
  stay together);
* :func:`stratified_folds_by_class`: each class shuffled by itself, class by class (deep cascades);
* :func:`folds_in_order`: class by class in the given order, every class starting at fold 0 (`PolySVC`, which
  has no random state; rows are in an order of their own hashes already).
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state


def draw_seed(random_state: Any) -> int:
    """A seed in [0, 2^31 - 1), drawn from `random_state` once per fit.

    Examples
    --------
    >>> draw_seed(0) == draw_seed(0), draw_seed(0) == draw_seed(1)
    (True, False)
    """
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


Rows = NDArray[np.int64]
Splits = list[tuple[Rows, Rows]]  # (training rows, held-out rows), both ascending


def dealt(order: NDArray[Any], n_folds: int) -> NDArray[np.int64]:
    """Fold of every row when the rows are handed out in this order; sizes differ by at most one.

    Examples
    --------
    >>> dealt(np.array([3, 1, 0, 2]), 2).tolist()
    [0, 1, 1, 0]
    """
    fold = np.empty(len(order), dtype=np.int64)
    fold[order] = np.arange(len(order)) % n_folds
    return fold


def shuffled_folds(
    n_rows: int, n_folds: int, seed: Any, groups: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Fold of every row; classes are not looked at. `seed` is an integer or a sequence of integers.

    With `groups` whole groups are dealt.
    """
    if groups is not None:
        return stratified_folds(np.zeros(n_rows), n_folds, seed, groups)
    return dealt(np.random.default_rng(seed).permutation(n_rows), n_folds)


def stratified_folds(
    codes: NDArray[Any], n_folds: int, seed: Any, content: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Fold of every row: all rows are shuffled, then dealt class by class.

    Folds have the same size and the same number of rows of each class, up to one. With a `content` (a number
    that rows share when they are equal, or of one group) whole contents are dealt, the largest ones first and
    back and forth; where all rows are equal there is nothing to tell apart, and rows are dealt.

    Examples
    --------
    >>> fold = stratified_folds(np.array([0, 0, 0, 0, 1, 1]), 2, seed=0)
    >>> np.bincount(fold).tolist(), np.bincount(fold[:4]).tolist()
    ([3, 3], [2, 2])
    >>> fold = stratified_folds(np.zeros(4), 2, seed=0, content=np.array([0, 1, 0, 2]))
    >>> bool(fold[0] == fold[2])
    True
    """
    if content is not None and np.ptp(content) > 0:
        return _contents_dealt(codes, n_folds, seed, content)
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    return dealt(shuffled[np.argsort(codes[shuffled], kind="stable")], n_folds)


def _contents_dealt(
    codes: NDArray[Any], n_folds: int, seed: Any, content: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Fold of every row, equal for rows of one content; contents are numbered by their first row.

    A content counts for the class that most of its rows have.
    """
    _, first, group = np.unique(content, return_index=True, return_inverse=True)
    group = np.argsort(np.argsort(first))[group]  # by first appearance: no number of a content matters
    size = np.bincount(group)
    pair, times = np.unique(np.stack([group, np.asarray(codes, dtype=np.int64)]), axis=1, return_counts=True)
    last = np.lexsort((-pair[1], times, pair[0]))  # the most frequent class of a content comes last
    main = np.empty(len(size), dtype=np.int64)
    main[pair[0][last]] = pair[1][last]
    shuffled = np.random.default_rng(seed).permutation(len(size))
    order = shuffled[np.lexsort((-size[shuffled], main[shuffled]))]
    turn = dealt(order, 2 * n_folds)
    return np.asarray(np.minimum(turn, 2 * n_folds - 1 - turn)[group])


def stratified_folds_by_class(
    codes: NDArray[Any], n_folds: int, seed: Any, groups: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Fold of every row, as :func:`stratified_folds`, with one shuffle for each class.

    With `groups` whole groups are dealt, with one shuffle for all.

    Examples
    --------
    >>> fold = stratified_folds_by_class(np.array([0, 0, 0, 0, 1, 1]), 2, seed=0)
    >>> np.bincount(fold).tolist(), np.bincount(fold[:4]).tolist()
    ([3, 3], [2, 2])
    """
    if groups is not None:
        return stratified_folds(codes, n_folds, seed, groups)
    rng = np.random.default_rng(seed)
    shuffled = [rng.permutation(np.flatnonzero(codes == code)) for code in np.unique(codes)]
    return dealt(np.concatenate([np.empty(0, dtype=np.int64), *shuffled]), n_folds)


def folds_in_order(
    codes: NDArray[Any], n_folds: int, groups: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Fold of every row: the rows of each class are dealt as they come, from fold 0 on, or whole `groups`.

    Examples
    --------
    >>> folds_in_order(np.array([0, 1, 0, 0, 1]), 2).tolist()
    [0, 0, 1, 0, 1]
    """
    if groups is not None:
        return stratified_folds(codes, n_folds, 0, groups)
    fold = np.empty(len(codes), dtype=np.int64)
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        fold[rows] = np.arange(len(rows)) % n_folds
    return fold


def splits_of(fold: NDArray[Any], n_folds: int | None = None) -> Splits:
    """(training, held-out) rows of each fold; folds without a row on either side are left out.

    Examples
    --------
    >>> [(train.tolist(), held.tolist()) for train, held in splits_of(np.array([0, 1, 0]))]
    [([1], [0, 2]), ([0, 2], [1])]
    """
    count = (int(fold.max(initial=-1)) + 1) if n_folds is None else n_folds
    splits = ((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(count))
    return [(train, held) for train, held in splits if len(train) and len(held)]


def validation_split(n_rows: int, fraction: float, seed: Any) -> Splits:
    """One split that holds out this fraction of the rows, rounded up; both parts have a row.

    Examples
    --------
    >>> [(train, held)] = validation_split(10, 0.25, seed=0)
    >>> len(train), len(held)
    (7, 3)
    """
    order = np.random.default_rng(seed).permutation(n_rows)
    size = min(max(1, int(np.ceil(fraction * n_rows))), n_rows - 1)
    return [(np.sort(order[size:]), np.sort(order[:size]))]


def given_splits(cv: Any, y: NDArray[Any], groups: NDArray[np.int64] | None = None) -> Splits:
    """The splits of scikit-learn's `cv`: an integer (stratified), a splitter or an iterable of pairs.

    With `groups` an integer keeps them together, and a splitter receives them.

    Examples
    --------
    >>> len(given_splits(3, np.array([0, 0, 0, 1, 1, 1])))
    3
    >>> given_splits([([0, 1], [2])], np.array([0, 1, 1]))
    [(array([0, 1]), array([2]))]
    """
    if groups is not None and isinstance(cv, Integral):
        return splits_of(stratified_folds(y, int(cv), 0, groups))
    try:
        splitter, among = check_cv(cv, y, classifier=True), () if groups is None else (groups,)
        pairs = list(splitter.split(np.zeros(len(y)), y, *among))
    except ValueError as error:
        if "groups" not in str(error) or groups is not None:
            raise
        raise ValueError(f"cv={type(cv).__name__} needs groups: give fit groups=, one per row.") from None
    splits = [(np.asarray(train), np.asarray(held)) for train, held in pairs]
    if not splits:
        raise ValueError("cv has no split.")
    return splits


def splits_among(splits: Sequence[tuple[Any, Any]], kept: NDArray[Any], n_rows: int) -> Splits:
    """Splits of `n_rows` rows as places among the `kept` ones; other rows are left out.

    Examples
    --------
    >>> splits_among([([0, 1], [2, 3])], np.array([1, 3]), 4)
    [(array([0]), array([1]))]
    """
    place = np.full(n_rows, -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    among = []
    for k, (train, held) in enumerate(splits):
        places = [place[np.asarray(rows, dtype=np.int64)] for rows in (train, held)]
        a, b = (rows[rows >= 0] for rows in places)
        if not (len(a) and len(b)):
            raise ValueError(f"split {k} of cv has no training rows or no held-out rows of positive weight.")
        among.append((a, b))
    return among
