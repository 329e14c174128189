"""Out-of-bag votes of the pilot's candidates: one sample of trees, one view of it per depth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.composite.data import TrainingData
from surewood.composite.growing import Grove, TreeRange, grow
from surewood.composite.leaf_choice import LeafChoice
from surewood.composite.leaf_svms import SolverOptions, train
from surewood.composite.leaves import IndexSets, collect_leaves, cut
from surewood.composite.out_of_bag import outside_bags
from surewood.composite.setting import Setting

Key = tuple[int, float]  # degree and C

_WARM_CLASSES = 8  # with more, pairs are so small that three at a time beat a start from the neighbor in C


@dataclass(frozen=True)
class Winners:
    """What is kept of a candidate's votes: with many classes and candidates all of them would be long.

    Examples
    --------
    >>> Winners.of(np.array([[0.2, 0.8], [np.nan, np.nan]])).known
    array([ True, False])
    """

    #: Rows with a vote.
    known: NDArray[np.bool_]
    #: Class with the most votes, the lowest code on ties.
    label: NDArray[np.int32]
    #: Equal for equal votes only.
    digest: bytes

    @classmethod
    def of(cls, votes: Floats) -> Winners:
        """Of votes of shape (rows, classes), NaN where no tree voted."""
        known = np.asarray(~np.isnan(votes).any(axis=1))
        return cls(known, votes.argmax(axis=1).astype(np.int32), blake2b(votes.tobytes()).digest())


@dataclass(frozen=True)
class PilotSample:
    """The pilot's rows and its trees, grown to the largest depth.

    Attributes
    ----------
    rows : ndarray of int64
        The pilot's rows, ascending.
    outside : ndarray of bool, shape (rows, trees)
        Which of them each tree did not see.
    sets, known : IndexSets, dict
        Row sets of leaves, and the set of each node, from one depth to the next.
    m : ndarray
        Weight that each tree saw.
    """

    data: TrainingData
    setting: Setting
    rows: NDArray[np.int64]
    grove: Grove
    outside: NDArray[np.bool_]
    sets: IndexSets
    known: dict[int, int]
    m: Floats
    gamma_scale: float
    seed: int
    options: SolverOptions

    @classmethod
    def grow(
        cls,
        data: TrainingData,
        setting: Setting,
        rows: NDArray[np.int64],
        n_trees: int,
        max_depth: int,
        gamma_scale: float,
        seed: int,
        options: SolverOptions,
    ) -> PilotSample:
        """Grow the trees."""
        grove = grow(data, setting, TreeRange(n_trees, seed, rows=rows), options, max_depth)
        return cls(
            data, setting, rows, grove, outside_bags(grove, rows),
            IndexSets(data.y, data.weight, data.n_classes), {}, grove.sample_size(data), gamma_scale, seed,
            options,
        )  # fmt: skip

    @property
    def n_trees(self) -> int:
        return len(self.grove.bags)

    def _weighed(self, known: NDArray[np.bool_]) -> tuple[NDArray[np.int64], Floats]:
        """Rows with a vote, and their weights as fractions."""
        rows = self.rows[known]
        mass = np.ones(len(rows)) if self.data.weight is None else self.data.weight[rows]
        return rows, mass / max(mass.sum(), 1e-300)

    def error(self, votes: Floats) -> float:
        """Weighted fraction of misclassified rows, among those outside some bag."""
        known = np.asarray(~np.isnan(votes).any(axis=1))
        rows, mass = self._weighed(known)
        return float(mass @ (votes[known].argmax(axis=1) != self.data.y[rows])) if len(rows) else 1.0

    def log_loss(self, votes: Floats) -> float:
        """Log loss of the votes, kept off 0 and 1."""
        known = np.asarray(~np.isnan(votes).any(axis=1))
        rows, mass = self._weighed(known)
        true = 0.98 * votes[known, self.data.y[rows]] + 0.02 / self.data.n_classes
        return float(-(mass @ np.log(true))) if len(rows) else np.inf

    def is_beaten(self, winners: Winners, best: Winners, standard_errors: float) -> bool:
        """Whether votes make more errors than the best ones, by so many standard errors of the difference."""
        rows, mass = self._weighed(winners.known)
        wrong, fewest = (one.label[winners.known] != self.data.y[rows] for one in (winners, best))
        difference = wrong.astype(np.float64) - fewest
        mean = float(mass @ difference)
        return mean > standard_errors * float(np.sqrt(np.square(mass * (difference - mean)).sum()))


class DepthVotes:
    """The pilot's trees cut at one depth: counts and out-of-bag labels of each (degree, C) trained so far.

    Labels have shape (rows, trees), -1 where a tree saw the row or is not fitted yet.
    """

    def __init__(self, sample: PilotSample, depth: int) -> None:
        self.sample, self.depth = sample, depth
        grove, sets = sample.grove, sample.sets
        stop = cut(grove.topology, depth)
        self.leaves = collect_leaves(grove.topology, stop, grove.assigned, grove.bags, sets, sample.known)
        nodes = grove.assigned[sample.rows].astype(np.int64) + grove.topology.start[:-1]
        self.leaf = self.leaves.of_node(stop)[nodes]
        self.set_of = self.leaves.set_id[self.leaf]
        self.majority = np.full(self.set_of.shape, -1, dtype=np.int16)
        self.labels: dict[Key, NDArray[np.int16]] = {}
        self.correct: dict[Key, Floats] = {}

    def train(self, keys: list[Key], first: int, last: int) -> None:
        """SVMs of the leaves of some trees for these (degree, C), and their labels outside the bags."""
        sets, outside = self.sample.sets, self.sample.outside
        trees = slice(first, last)
        self.majority[:, trees] = np.where(outside[:, trees], sets.majority[self.set_of[:, trees]], -1)
        own = self.leaves.set_id[(self.leaves.tree >= first) & (self.leaves.tree < last)]
        ids = np.unique(own[~sets.pure[own]])
        for key in keys:
            self.labels.setdefault(key, np.full_like(self.majority, -1))[:, trees] = self.majority[:, trees]
            self.correct.setdefault(key, np.zeros(0))
            known = self.correct[key]
            self.correct[key] = np.concatenate([known, np.zeros(len(sets) - len(known))])
        for degrees, C in _tables(keys):
            self._solve(ids, degrees, C, trees)

    def _solve(self, ids: NDArray[np.int64], degrees: list[int], C: Floats, trees: slice) -> None:
        """All (degree, C) of a table."""
        sample, data = self.sample, self.sample.data
        keys = [(d, float(c)) for d, row in zip(degrees, C) for c in row]
        design, place = data.gram.X[sample.rows], np.full(len(sample.sets), -1)
        stored = data.gram.stored(sample.rows)
        base, warm = float(sample.m.mean()), data.n_classes <= _WARM_CLASSES
        labels = [self.labels[key][:, trees] for key in keys]
        for chunk in train(data, sample.sets, ids, np.array(degrees), C, base, sample.options, warm):
            place[:] = -1
            place[chunk.ids] = np.arange(len(chunk.ids))
            at = np.where(sample.outside[:, trees], place[self.set_of[:, trees]], -1)
            here = at >= 0
            # All (degree, C) side by side: one product of the rows with the support rows serves them all.
            places = np.arange(len(keys))[None, :, None]
            assign = np.where(here[:, None, :], at[:, None, :] * len(keys) + places, -1)
            codes = chunk.svms.predictor().predict(
                design, assign.reshape(len(design), -1), n_jobs=sample.options.n_jobs, stored=stored
            )
            codes = codes.reshape(assign.shape)
            for k, key in enumerate(keys):
                self.correct[key][chunk.ids] = chunk.correct.reshape(len(chunk.ids), -1)[:, k]
                labels[k][here] = codes[:, k][here]

    def by_criterion(self, keys: list[Key]) -> NDArray[Any]:
        """Labels when every leaf gets the degree of the smallest ``T_k``, constants included."""
        sample = self.sample
        degrees, C = zip(*keys)
        setting = replace(
            sample.setting, degrees=degrees, C=C, constant_leaves=True, gamma_scale=sample.gamma_scale
        )
        choice = LeafChoice(sample.data, setting, self.leaves, sample.sets, sample.m, sample.seed)
        correct = np.stack([self.correct[key] for key in keys], axis=1)
        column = choice.columns(np.arange(len(self.leaves)), correct)[self.leaf]
        stacked = np.stack([self.majority, *(self.labels[key] for key in keys)])
        return np.asarray(np.take_along_axis(stacked, column[None], axis=0)[0])


def _tables(keys: list[Key]) -> list[tuple[list[int], Floats]]:
    """(degree, C) as tables of one row per degree: degrees with equally many values of C share one.

    Examples
    --------
    >>> _tables([(1, 0.1), (1, 1.0), (2, 1.0), (3, 0.1), (3, 10.0)])
    [([1, 3], array([[ 0.1,  1. ],
           [ 0.1, 10. ]])), ([2], array([[1.]]))]
    """
    values = {degree: sorted(c for d, c in keys if d == degree) for degree, _ in keys}
    counts = dict.fromkeys(len(own) for own in values.values())
    same = [[d for d, own in values.items() if len(own) == n] for n in counts]
    return [(degrees, np.array([values[d] for d in degrees])) for degrees in same]
