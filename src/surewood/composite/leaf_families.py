"""Leaves of other classifiers than SVMs: any families of :mod:`surewood.families` (theory.md §2.7).

One family is one class H_k with its own complexity: it takes the place of a degree in the criterion, and
everything that chooses among degrees chooses among families. :class:`LeafMembers` and :class:`Members` have
what composite trees use of :class:`~surewood.composite.leaf_svms.LeafSVMs` and
:class:`~surewood.svm.one_vs_one.Predictor`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Codes, Floats, Ints, Mask, check_number
from surewood.composite.data import CompositeData, SolverOptions
from surewood.composite.growing import IndexSets
from surewood.families import Family, Member
from surewood.parallel import run_in_threads

MOST_CLASSES = 65535


def family_names(leaves: Any) -> tuple[str, ...]:
    """Names of the families in a parameter, as they are shown.

    Examples
    --------
    >>> from surewood.families import StumpFamily
    >>> family_names(["gaussian", StumpFamily()]), family_names("tree")
    (('gaussian', 'stump'), ('tree',))
    """
    items = [leaves] if isinstance(leaves, str | Family) else leaves
    return tuple(
        item if isinstance(item, str) else type(item).__name__.removesuffix("Family").lower()
        for item in items
    )


@dataclass(frozen=True)
class Members:
    """Fitted members, by the numbers that leaves have of them."""

    members: tuple[Member, ...]
    n_classes: int

    #: Members have no support rows.
    support_index = np.zeros(0, dtype=np.int32)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        check_number("n_classes", self.n_classes, 1, MOST_CLASSES, whole=True)

    @property
    def n_svms(self) -> int:
        return len(self.members)

    @property
    def classes(self) -> Ints:
        return np.arange(self.n_classes)

    def predict(
        self, design: Floats, assign: Codes, n_jobs: int | None = None, stored: Any = None
    ) -> NDArray[np.int32]:
        """Labels by the members of `assign`, shape (n_rows, n_trees); codes below 0 as in `Predictor`."""
        labels = np.where(assign < -1, -2 - assign, -1).astype(np.int32)
        row, tree = np.nonzero(assign >= 0)
        number = assign[row, tree]
        order = np.argsort(number, kind="stable")
        row, tree, number = row[order], tree[order], number[order]
        used, starts = np.unique(number, return_index=True)
        for k, begin, end in zip(used.tolist(), starts, [*starts[1:], len(number)]):
            scores = self.members[k].scores(design[row[begin:end]])
            if scores.shape != (end - begin, self.n_classes):
                raise ValueError("the scores of a leaf do not have one column per class.")
            labels[row[begin:end], tree[begin:end]] = scores.argmax(axis=1)
        return labels


class LeafMembers:
    """A member of every family for some sets of rows, and those that leaves keep, numbered as they come.

    `correct` has the weight that each classifies correctly, shape (sets, families), 0 for other sets.
    """

    def __init__(
        self, data: CompositeData, sets: IndexSets, ids: NDArray[np.int64], options: SolverOptions
    ) -> None:
        self._n_classes, self._kept = data.n_classes, dict[tuple[int, int], int]()
        self._members: dict[int, list[Member]] = {}
        self.correct = np.zeros((len(sets), len(options.families)))

        def train(set_id: int) -> None:
            rows = sets.rows[set_id]
            X, y = data.gram.X[rows], data.y[rows]
            weight = np.ones(len(rows)) if data.weight is None else data.weight[rows]
            members = [family.fit(X, y, weight, data.n_classes) for family in options.families]
            self._members[set_id] = members
            self.correct[set_id] = [weight @ (one.scores(X).argmax(axis=1) == y) for one in members]

        run_in_threads((partial(train, set_id) for set_id in ids.tolist()), options.n_jobs)

    def number(self, set_id: int, place: int) -> int:
        """Number of the member of a set and a family, which is kept from now on."""
        return self._kept.setdefault((set_id, place), len(self._kept))

    @property
    def converged(self) -> Mask:
        return np.ones(len(self._kept), dtype=bool)

    @property
    def iterations(self) -> Ints:
        return np.zeros(len(self._kept), dtype=np.int64)

    def predictor(self) -> Members | None:
        """All kept members; None when there are none."""
        members = tuple(self._members[set_id][place] for set_id, place in self._kept)
        return Members(members, self._n_classes) if members else None
