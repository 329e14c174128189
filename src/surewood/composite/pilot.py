"""The settings a default ``fit`` chooses by itself: a pilot forest, compared on its out-of-bag rows.

Rules, each measured in docs/research/composite-forest.md:

1. The pilot's trees see 80 % of the rows, at most of `PILOT_ROWS`, and are cut at every candidate depth
   (nested trees: nothing is grown twice). A tree judges the rows it did not see, and on larger tables that
   is most of up to `JUDGED_ROWS`: fewer trees then give a row as many votes.
2. Every (depth, degree, C) is a candidate, an end of the list of C only where its neighbor is the best so
   far; so is, at every depth, the paper's own rule: the degree by the criterion (2.9), leaf by leaf,
   constants included, with the best C of every degree.
3. A third of the trees is fitted for all candidates. Those that cannot win any more, because the paired
   difference to the best exceeds two standard errors, are dropped, and at most eight go on; so again after
   the second third, with at most five. Where more are alike it hardly matters which of them is taken.
4. The `BEST` candidates with the fewest out-of-bag errors (then the smaller log loss of their votes) divide
   the trees among them. The criterion trains an SVM per degree in every leaf: where a common degree is within
   one standard error of the best, common degrees come first.
5. On more rows than the pilot had, trees go deeper by log2 of the ratio: the sizes of leaves, and C_k, stay
   the same.

:func:`run_pilot` is the comparison; :class:`PilotForest` the trees, grown once to the largest depth;
:class:`DepthVotes` their out-of-bag labels when they are cut at one depth, for every (degree, C).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.base.time_limit import NO_LIMIT, TimeLimit
from surewood.composite.data import CompositeData
from surewood.composite.degrees import LeafChoice
from surewood.composite.growing import IndexSets, Setting, TreeRange, collect_leaves, cut, grow
from surewood.composite.leaves import train_leaf_svms
from surewood.composite.trees import vote_fractions
from surewood.parallel.progress import stage

PILOT_ROWS = 2000  # of which a tree sees IN_BAG
JUDGED_ROWS = 4000  # by the trees that did not see them
IN_BAG = 0.8
LEAST_TREES = 6
BEST = 3
ROUNDS = 3  # parts of the pilot's trees; candidates are dropped after each but the last
STANDARD_ERRORS = 2.0  # by which a dropped candidate is worse than the best
MOST_KEPT = (8, 5)  # candidates after each round, where the errors tell no more of them apart
PILOT_TOL = 1e-2  # labels, not coefficients, are compared
_WARM_CLASSES = 8  # with more, pairs are so small that three at a time beat a start from the neighbor in C
Key = tuple[int, float]  # degree and C


def pilot_size(n_rows: int) -> int:
    """Rows of the pilot's sample: a tree sees `IN_BAG` of them."""
    return min(n_rows, PILOT_ROWS)


def pilot_trees(n_rows: int, n_classes: int) -> int:
    """Trees of the pilot: fewer where there are many pairs of classes, or where a tree judges more rows.

    Examples
    --------
    >>> pilot_trees(500, 3), pilot_trees(2000, 26), pilot_trees(10_000, 3), pilot_trees(600, 200)
    (30, 20, 7, 6)
    """
    trees = 30 if n_rows <= 1000 else 20
    judged = 1.0 - IN_BAG * pilot_size(n_rows) / min(n_rows, JUDGED_ROWS)
    trees = round(trees * (1.0 - IN_BAG) / judged)
    return max(LEAST_TREES, round(trees * min(1.0, 30 / n_classes)))


def pilot_rows(n_rows: int, seed: int) -> NDArray[np.int64]:
    """All rows, or a random `JUDGED_ROWS` of them, ascending."""
    if n_rows <= JUDGED_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng([seed, 1]).permutation(n_rows)[:JUDGED_ROWS])


@dataclass(frozen=True)
class PilotCandidate:
    """A common degree (`degrees` of one) or the criterion over several, at one depth, and how it voted.

    Of the votes only what comparisons read is kept: with many classes and candidates all would be long.
    """

    depth: int
    degrees: tuple[int, ...]
    C: tuple[float, ...]
    by_criterion: bool
    error: float
    log_loss: float
    #: Rows with a vote; the class with the most votes, the lowest code on ties.
    judged: NDArray[np.bool_]
    label: NDArray[np.int32]
    #: Equal for equal votes only.
    digest: bytes


@dataclass(frozen=True)
class PilotResult:
    """What the pilot chose, and what it compared to the end, best first."""

    settings: tuple[Setting, ...]
    candidates: tuple[PilotCandidate, ...]
    #: Outcomes that the comparison could have had: sets of candidates.
    n_outcomes: int
    notes: tuple[str, ...] = ()


def run_pilot(
    data: CompositeData,
    template: Setting,
    depths: tuple[int, ...],
    C_grid: tuple[float, ...],
    seed: int,
    limit: TimeLimit = NO_LIMIT,
) -> PilotResult:
    """Compare all depths, all of the template's degrees and all C; `limit` ends the pilot early.

    `template` has the values that are not compared. Without a limit the result is a function of the data, the
    candidates and the seed.
    """
    forest = PilotForest(data, template, max(depths), seed)
    views = {depth: DepthVotes(forest, depth) for depth in depths}
    ranked: list[PilotCandidate] = []  # of the last complete round, best first
    compared: set[Any] = set()
    notes: tuple[str, ...] = ()
    ends = np.linspace(0, forest.n_trees, ROUNDS + 1).round().astype(int).tolist()
    n_steps, done = ROUNDS * len(depths), 0
    with stage(data.options.verbose, "pilot: rounds x depths", n_steps) as advance:
        for number, (first, last) in enumerate(pairwise(ends)):
            live = _survivors(ranked, forest, MOST_KEPT[number - 1]) if number else []
            left = {c.depth for c in live} if number else set(depths)
            voted: list[PilotCandidate] = []
            for depth in sorted(left, reverse=True):  # the deepest trees, which cost least, come first
                if limit.is_over and (number or voted):
                    break
                if number:
                    voted += _with_more_trees(
                        views[depth], [c for c in live if c.depth == depth], first, last
                    )
                else:
                    voted += _all_candidates(views[depth], C_grid, last)
                done += 1
                advance(1)
            complete = {c.depth for c in voted} == left
            if complete or not number:
                ranked = sorted(voted, key=_rank)
                compared |= {(c.depth, c.degrees, c.C, c.by_criterion) for c in voted}
            if not complete:
                notes = (f"the pilot stopped in round {number + 1} of {ROUNDS}: time_limit",)
                break
        advance(n_steps - done)  # depths that were dropped
    best = _distinct([*_cheap_first(ranked, forest), *ranked])[:BEST]
    ratio = data.n_rows / pilot_size(data.n_rows)
    settings = tuple(_setting_of(candidate, template, ratio) for candidate in best)
    return PilotResult(settings, tuple(ranked), math.comb(len(compared), len(settings)), notes)


def _all_candidates(view: DepthVotes, C_grid: tuple[float, ...], last: int) -> list[PilotCandidate]:
    """Every candidate of a depth: inner values of C first, an end of the list where it looks better."""
    candidates: dict[Key, PilotCandidate] = {}

    def compare(degrees: list[int], C_values: tuple[float, ...]) -> None:
        keys = [(d, c) for d in degrees for c in C_values]
        view.train(keys, 0, last)
        candidates.update({key: view.candidate((key[0],), (key[1],), by_criterion=False) for key in keys})

    def best_C(degree: int) -> float:
        return min((candidates[key].error, key[1]) for key in candidates if key[0] == degree)[1]

    degrees, C_grid = list(view.forest.setting.degrees), tuple(sorted(C_grid))
    inner = C_grid[1:-1] if len(C_grid) > 3 else C_grid
    compare(degrees, inner)
    if inner != C_grid:
        compare([d for d in degrees if best_C(d) == inner[0]], C_grid[:1])
        compare([d for d in degrees if best_C(d) == inner[-1]], C_grid[-1:])
    if len(degrees) == 1:
        return list(candidates.values())
    C = tuple(best_C(d) for d in degrees)
    return [*candidates.values(), view.candidate(tuple(degrees), C, by_criterion=True)]


def _with_more_trees(
    view: DepthVotes, live: list[PilotCandidate], first: int, last: int
) -> list[PilotCandidate]:
    """Candidates that are left, with the votes of more trees."""
    view.train(sorted({key for c in live for key in zip(c.degrees, c.C)}), first, last)
    return [view.candidate(c.degrees, c.C, c.by_criterion) for c in live]


def _rank(candidate: PilotCandidate) -> tuple[float, float, int, tuple[int, ...], tuple[float, ...]]:
    return candidate.error, candidate.log_loss, candidate.depth, candidate.degrees, candidate.C


def _survivors(ranked: list[PilotCandidate], forest: PilotForest, most: int) -> list[PilotCandidate]:
    """Candidates that may still win: those not beaten by the best, and never fewer than are taken."""
    kept = [c for c in ranked if not forest.is_beaten(c, ranked[0], STANDARD_ERRORS)][:most]
    return kept if len(_distinct(kept)) >= BEST else _distinct(ranked)[:BEST]


def _cheap_first(ranked: list[PilotCandidate], forest: PilotForest) -> list[PilotCandidate]:
    """All candidates with one SVM per leaf, where errors do not tell one of them from the best; else none."""
    common = [c for c in ranked if not c.by_criterion]
    alike = [c for c in common if not forest.is_beaten(c, ranked[0], 1.0)]
    return [*alike, *common] if alike else []


def _distinct(ranked: list[PilotCandidate]) -> list[PilotCandidate]:
    """At depth 0 the criterion over all degrees repeats a common degree: keep the first of equals."""
    kept: dict[bytes, PilotCandidate] = {}
    for candidate in ranked:
        kept.setdefault(candidate.digest, candidate)
    return list(kept.values())


def _setting_of(candidate: PilotCandidate, template: Setting, ratio: float) -> Setting:
    """The candidate on `ratio` times the rows: same sizes of leaves, same C_k."""
    return replace(
        template,
        max_depth=candidate.depth + round(math.log2(ratio)),
        degrees=candidate.degrees,
        C=tuple(c * math.sqrt(ratio) for c in candidate.C),
        constant_leaves=candidate.by_criterion,
    )


class PilotForest:
    """The pilot's rows and its trees, grown to the largest depth.

    Attributes
    ----------
    rows : ndarray of int64
        The pilot's rows, ascending.
    outside : ndarray of bool, shape (rows, trees)
        Which of them each tree did not see.
    sets, set_of_node : IndexSets, dict
        Row sets of leaves, and the set of each node, from one depth to the next.
    m : ndarray
        Weight that each tree saw.
    """

    def __init__(self, data: CompositeData, template: Setting, max_depth: int, seed: int) -> None:
        n_draws = max(1, round(IN_BAG * pilot_size(data.n_rows)))
        data = replace(data, options=replace(data.options, tol=max(data.options.tol, PILOT_TOL)))
        self.data, self.seed = data, seed
        self.setting = replace(template, sampling="subsample", n_draws=n_draws)
        self.rows = pilot_rows(data.n_rows, seed)
        self.n_trees = pilot_trees(data.n_rows, data.n_classes)
        trees = TreeRange(self.n_trees, seed, rows=self.rows)
        self.grove = grow(data, self.setting, trees, max_depth)
        self.outside = self.grove.outside(self.rows)
        self.sets = IndexSets(data.y, data.weight, data.n_classes)
        self.set_of_node: dict[int, int] = {}
        self.m = self.grove.sample_size(data)

    def weighed(self, judged: NDArray[np.bool_]) -> tuple[NDArray[np.int32], Floats, float]:
        """Classes and weights of the rows with a vote, and the sum of the weights.

        Sums of weights that are counts are exact, so equal numbers of errors are equal on every processor.
        """
        rows = self.rows[judged]
        weight = np.ones(len(rows)) if self.data.weight is None else self.data.weight[rows]
        return self.data.y[rows], weight, max(float(weight.sum()), 1e-300)

    def is_beaten(self, candidate: PilotCandidate, best: PilotCandidate, standard_errors: float) -> bool:
        """Whether votes make more errors than the best ones, by so many standard errors of the difference."""
        y, weight, total = self.weighed(candidate.judged)
        wrong, fewest = (c.label[candidate.judged] != y for c in (candidate, best))
        difference = wrong.astype(np.float64) - fewest
        mean = float(weight @ difference) / total
        spread = float(np.sqrt(np.square(weight * (difference - mean)).sum())) / total
        return mean > standard_errors * spread


class DepthVotes:
    """The pilot's trees cut at one depth: counts and out-of-bag labels of each (degree, C) trained so far.

    Labels have shape (rows, trees), -1 where a tree saw the row or is not fitted yet.
    """

    def __init__(self, forest: PilotForest, depth: int) -> None:
        self.forest, self.depth = forest, depth
        grove = forest.grove
        stop = cut(grove.topology, depth)
        self.leaves = collect_leaves(grove, stop, forest.sets, forest.set_of_node)
        nodes = grove.assigned[forest.rows].astype(np.int64) + grove.topology.start[:-1]
        self.leaf = self.leaves.of_node(stop)[nodes]
        self.set_of = self.leaves.set_id[self.leaf]
        self.majority = np.full(self.set_of.shape, -1, dtype=np.int16)
        self.labels: dict[Key, NDArray[np.int16]] = {}
        self.correct: dict[Key, Floats] = {}

    def train(self, keys: list[Key], first: int, last: int) -> None:
        """SVMs of the leaves of some trees for these (degree, C), and their labels outside the bags."""
        sets, outside = self.forest.sets, self.forest.outside
        trees = slice(first, last)
        self.majority[:, trees] = np.where(outside[:, trees], sets.majority[self.set_of[:, trees]], -1)
        set_ids = self.leaves.set_id[(self.leaves.tree >= first) & (self.leaves.tree < last)]
        ids = np.unique(set_ids[~sets.pure[set_ids]])
        for key in keys:
            self.labels.setdefault(key, np.full_like(self.majority, -1))[:, trees] = self.majority[:, trees]
            counted = self.correct.get(key, np.zeros(0))
            self.correct[key] = np.concatenate([counted, np.zeros(len(sets) - len(counted))])
        for degrees, C in _tables(keys):
            self._solve(ids, degrees, C, trees)

    def _solve(self, ids: NDArray[np.int64], degrees: list[int], C: Floats, trees: slice) -> None:
        """All (degree, C) of a table."""
        forest, data = self.forest, self.forest.data
        keys = [(d, float(c)) for d, row in zip(degrees, C) for c in row]
        design, place = data.gram.X[forest.rows], np.full(len(forest.sets), -1)
        stored = data.gram.stored(forest.rows)
        base, warm = float(forest.m.mean()), data.n_classes <= _WARM_CLASSES
        labels = [self.labels[key][:, trees] for key in keys]
        for chunk in train_leaf_svms(data, forest.sets, ids, np.array(degrees), C, base, warm):
            place[:] = -1
            place[chunk.ids] = np.arange(len(chunk.ids))
            at = np.where(forest.outside[:, trees], place[self.set_of[:, trees]], -1)
            here = at >= 0
            # All (degree, C) side by side: one product of the rows with the support rows serves them all.
            places = np.arange(len(keys))[None, :, None]
            assign = np.where(here[:, None, :], at[:, None, :] * len(keys) + places, -1)
            codes = chunk.svms.predictor().predict(
                design, assign.reshape(len(design), -1), n_jobs=data.options.n_jobs, stored=stored
            )
            codes = codes.reshape(assign.shape)
            for k, key in enumerate(keys):
                self.correct[key][chunk.ids] = chunk.correct.reshape(len(chunk.ids), -1)[:, k]
                labels[k][here] = codes[:, k][here]

    def candidate(self, degrees: tuple[int, ...], C: tuple[float, ...], by_criterion: bool) -> PilotCandidate:
        """A candidate with the votes of all trees that are fitted so far."""
        n_classes = self.forest.data.n_classes
        keys = list(zip(degrees, C))
        votes = vote_fractions(self.by_criterion(keys) if by_criterion else self.labels[keys[0]], n_classes)
        judged = np.asarray(~np.isnan(votes).any(axis=1))
        y, weight, total = self.forest.weighed(judged)
        error, log_loss = 1.0, np.inf
        if len(y):
            error = float(weight @ (votes[judged].argmax(axis=1) != y)) / total
            true = 0.98 * votes[judged, y] + 0.02 / n_classes  # kept off 0 and 1
            log_loss = -float(weight @ np.log(true)) / total
        label, digest = votes.argmax(axis=1).astype(np.int32), blake2b(votes.tobytes()).digest()
        return PilotCandidate(self.depth, degrees, C, by_criterion, error, log_loss, judged, label, digest)

    def by_criterion(self, keys: list[Key]) -> NDArray[Any]:
        """Labels when every leaf gets the degree of the smallest ``T_k``, constants included."""
        forest = self.forest
        degrees, C = zip(*keys)
        setting = replace(forest.setting, degrees=degrees, C=C, constant_leaves=True)
        choice = LeafChoice(forest.data, setting, self.leaves, forest.sets, forest.m, forest.seed)
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
    counts = dict.fromkeys(len(C) for C in values.values())
    same = [[d for d, C in values.items() if len(C) == n] for n in counts]
    return [(degrees, np.array([values[d] for d in degrees])) for degrees in same]
