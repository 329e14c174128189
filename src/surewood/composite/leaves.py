"""Classifiers of the leaves: SVMs, one per (row set, degree, C), or members of other families.

* :func:`train_leaf_svms` solves all sets for all degrees in chunks of bounded memory; the caller keeps what
  it needs of each chunk (counts always, SVMs only where a leaf chose them);
* :class:`LeafSVMs` joins what was kept into one predictor whose support rows are shared by all SVMs;
* :func:`tune_C` finds the C of every degree by cross-validation of one SVM on the whole sample (theory.md
  §2.10, [D-12]);
* :class:`LeafMembers` and :class:`Members` have what composite trees use of :class:`LeafSVMs` and
  :class:`~surewood.svm.one_vs_one.Predictor`, for any families of :mod:`surewood.families` (theory.md §2.7):
  one family is one class H_k with its own complexity. It takes the place of a degree in the criterion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Codes, Floats, Ints, Mask, check_number
from surewood.base.folds import shuffled_folds
from surewood.composite.data import CompositeData
from surewood.composite.growing import IndexSets
from surewood.families import Family, Member
from surewood.parallel import run_in_threads, worker_count
from surewood.parallel.progress import stage
from surewood.svm.dual import SvmBatch, solve_many
from surewood.svm.one_vs_one import Predictor
from surewood.svm.penalty import C_GRID, best_C, held_out_errors

CHUNK_BYTES = 64 << 20  # of SVMs held while a chunk is looked at
_CHUNK_WORK = 2e8  # squared leaf sizes, summed over SVMs: less than a second, so that progress is visible
TUNING_ROWS = 2000  # a part of this size decides on larger samples
N_FOLDS = 5


@dataclass(frozen=True)
class Chunk:
    """SVMs of some sets, shape (sets, degrees, C values), and the weight they classify correctly."""

    ids: NDArray[np.int64]
    svms: SvmBatch
    correct: Floats


def train_leaf_svms(
    data: CompositeData,
    sets: IndexSets,
    ids: NDArray[np.int64],
    degrees: NDArray[Any],
    C: Floats,
    base: float,
    warm_start: bool = False,
) -> Iterator[Chunk]:
    """Train SVMs on the sets `ids` for every degree and C, chunk by chunk.

    `C` has shape (degrees, C values) and is scaled leaf by leaf: C_k = sqrt(m_k / base) C (2.12).
    """
    sizes = np.array([len(sets.rows[k]) for k in ids], dtype=np.int64)
    total, options = sets.total[ids], data.options
    with stage(options.verbose, "training leaf SVMs", len(ids) * C.size) as advance:
        ahead = max(1, 4 * worker_count(options.n_jobs))  # other workers: enough for all of them at once
        for begin, end in _chunks(sizes, data.n_classes, C.size, ahead):
            part = ids[begin:end]
            scaled_C = np.sqrt(total[begin:end] / base)[:, None, None] * C[None, :, :]  # theory.md (2.12)
            svms = solve_many(
                data.gram,
                [sets.rows[k] for k in part],
                data.y,
                degrees,
                scaled_C,
                kernel=data.kernel,
                weights=data.weight,
                tol=options.tol,
                max_iter=options.max_iter,
                warm_start=warm_start,
                n_jobs=options.n_jobs,
                advance=advance,
            )
            yield Chunk(part, svms, correct_weight(svms, data))


def _chunks(sizes: NDArray[np.int64], n_classes: int, per_set: int, ahead: int = 1) -> list[tuple[int, int]]:
    """Ranges of sets whose coefficients fit even if every point is a support vector, and of short work."""
    classes = np.maximum(np.minimum(n_classes, sizes), 2).astype(np.float64)  # of a set, at most
    held_bytes = per_set * (sizes * 8.0 * classes + 18.0 * classes * (classes - 1.0))  # points, pairs
    work = sizes.astype(np.float64) ** 2 * per_set
    cost = np.cumsum(np.maximum(held_bytes / CHUNK_BYTES, work / (ahead * _CHUNK_WORK)))
    cuts, held = [0], 0.0
    for k in range(len(sizes)):
        if cost[k] - held > 1.0 and k > cuts[-1]:
            cuts.append(k)
            held = float(cost[k - 1])
    cuts.append(len(sizes))
    return [(a, b) for a, b in pairwise(cuts) if b > a]


def correct_weight(svms: SvmBatch, data: CompositeData) -> Floats:
    """Weight of the points that each SVM classifies correctly, m_k^+ of theory.md §2.1."""
    if data.weight is None:
        return svms.n_correct.astype(np.float64)
    repeats = svms.shape[1] * svms.shape[2]
    correct = np.zeros((svms.shape[0], repeats))
    predicted, at = svms.arrays["predicted"], 0
    for group in range(svms.shape[0]):
        rows = svms.points[svms.starts[group] : svms.starts[group + 1]]
        block = predicted[at : at + repeats * len(rows)].reshape(repeats, len(rows))
        correct[group] = (block == data.y[rows]) @ data.weight[rows]
        at += repeats * len(rows)
    return correct.reshape(svms.shape)


class LeafSVMs:
    """SVMs kept from chunks, numbered in the order in which they came."""

    def __init__(self) -> None:
        self._parts: list[Predictor] = []
        self._converged: list[NDArray[np.bool_]] = []
        self._iterations: list[NDArray[np.int64]] = []
        self._number: dict[tuple[int, int], int] = {}

    def keep(self, chunk: Chunk, wanted: dict[int, Any]) -> None:
        """Keep, of set ``chunk.ids[g]``, the SVMs at the flat (degree, C) positions ``wanted[id]``."""
        per_set = chunk.svms.shape[1] * chunk.svms.shape[2]
        problems: list[int] = []
        for g, set_id in enumerate(chunk.ids.tolist()):
            for place in sorted({int(p) for p in wanted.get(set_id, ())}):
                self._number[set_id, place] = len(self._number)
                problems.append(g * per_set + place)
        if problems:
            self._parts.append(chunk.svms.predictor(problems))
            self._converged.append(chunk.svms.converged.ravel()[problems])
            self._iterations.append(chunk.svms.iterations.ravel()[problems])

    def number(self, set_id: int, place: int) -> int:
        """Number of a kept SVM."""
        return self._number[set_id, place]

    @property
    def converged(self) -> NDArray[np.bool_]:
        return np.concatenate(self._converged) if self._converged else np.zeros(0, dtype=bool)

    @property
    def iterations(self) -> NDArray[np.int64]:
        return np.concatenate(self._iterations) if self._iterations else np.zeros(0, dtype=np.int64)

    def predictor(self) -> Predictor | None:
        """All kept SVMs as one predictor; None when there are none."""
        return join_predictors(self._parts)


def join_predictors(parts: list[Predictor]) -> Predictor | None:
    """Predictors over the same training rows as one: support rows are stored, and multiplied, once."""
    parts = [part for part in parts if part.n_svms]
    if len(parts) <= 1:
        return parts[0] if parts else None
    rows, first, place = np.unique(
        np.concatenate([p.support_index for p in parts]), return_index=True, return_inverse=True
    )
    offsets = np.cumsum([0] + [len(p.support_index) for p in parts])
    joined = {
        f.name: np.concatenate([getattr(p, f.name) for p in parts])
        for f in fields(Predictor)
        if f.name not in ("kernel", "support")
    }
    joined["support_rows"] = np.ascontiguousarray(joined["support_rows"][first])
    joined["support_norms"] = joined["support_norms"][first]
    joined["support_index"] = rows.astype(np.int32)
    joined["support"] = np.concatenate([place[offsets[k] + p.support] for k, p in enumerate(parts)]).astype(
        np.int32
    )
    return Predictor(kernel=parts[0].kernel, **joined)


def errors_of_C(
    data: CompositeData,
    folds: Sequence[tuple[NDArray[Any], tuple[Floats, Codes, Floats | None]]],
    degrees: tuple[int, ...],
    C_grid: tuple[float, ...],
) -> Floats:
    """Held-out errors of one SVM for every degree and C, summed over folds as in ``held_out_errors``."""
    options = data.options
    errors = held_out_errors(
        data.gram, data.y, folds, degrees, C_grid, kernel=data.kernel, weights=data.weight,
        tol=options.tol, max_iter=options.max_iter, n_jobs=options.n_jobs,
    )  # fmt: skip
    return np.asarray(errors.sum(axis=0))


def tune_C(
    data: CompositeData,
    degrees: tuple[int, ...],
    seed: int,
    C_grid: tuple[float, ...] = C_GRID,
) -> tuple[tuple[float, ...], Floats]:
    """C of every degree by 5-fold cross-validation, and the error table (degrees, C values) in weights."""
    rows = np.arange(data.n_rows)
    if data.n_rows > TUNING_ROWS:
        rows = np.sort(np.random.default_rng([seed, 3]).permutation(data.n_rows)[:TUNING_ROWS])
    n_folds = min(N_FOLDS, len(rows))
    if n_folds < 2:
        return (1.0,) * len(degrees), np.zeros((len(degrees), len(C_grid)))
    groups = None if data.inputs.groups is None else data.inputs.groups[rows]
    fold = shuffled_folds(len(rows), n_folds, [seed, 2], groups)
    folds = [(rows[fold != k], data.labelled(rows[fold == k])) for k in range(n_folds)]
    errors = errors_of_C(data, folds, degrees, C_grid)
    return tuple(best_C(errors, C_grid).tolist()), errors


# --- leaves of other classifiers than SVMs ---------------------------------------------------------------


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

    def __init__(self, data: CompositeData, sets: IndexSets, ids: NDArray[np.int64]) -> None:
        self._n_classes, self._kept = data.n_classes, dict[tuple[int, int], int]()
        self._members: dict[int, list[Member]] = {}
        families = data.options.families
        self.correct = np.zeros((len(sets), len(families)))

        def train(set_id: int) -> None:
            rows = sets.rows[set_id]
            X, y = data.gram.X[rows], data.y[rows]
            weight = np.ones(len(rows)) if data.weight is None else data.weight[rows]
            members = [family.fit(X, y, weight, data.n_classes) for family in families]
            self._members[set_id] = members
            self.correct[set_id] = [weight @ (member.scores(X).argmax(axis=1) == y) for member in members]

        run_in_threads((partial(train, set_id) for set_id in ids.tolist()), data.options.n_jobs)

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
