"""The settings a default ``fit`` chooses by itself: a pilot forest, compared on its out-of-bag rows.

Rules, each measured in docs/research/composite-forest.md:

1. The pilot takes at most `PILOT_ROWS` rows and grows its trees on subsamples of 80 %, cut at every candidate
   depth (nested trees: nothing is grown twice).
2. Every (depth, degree, C) is a candidate, an end of the list of C only where its neighbor is the best so
   far; so is, at every depth, the paper's own rule: the degree by the criterion (2.9), leaf by leaf,
   constants included, with the best C of every degree.
3. The `BEST` candidates with the fewest out-of-bag errors (then the smaller log loss of their votes) divide
   the trees among them.
4. Plain trees get the weight in the vote that leaves the fewest out-of-bag errors, the most even one on ties.
5. On more rows than the pilot had, trees go deeper by log2 of the ratio: the sizes of leaves, and C_k, stay
   the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.composite.data import TrainingData
from surewood.composite.growing import grow
from surewood.composite.leaf_choice import LeafChoice
from surewood.composite.leaf_svms import SolverOptions, train
from surewood.composite.leaves import IndexSets, collect_leaves, cut
from surewood.composite.out_of_bag import outside_bags, plain_out_of_bag
from surewood.composite.setting import Setting, plain_tree_params
from surewood.composite.votes import blend, vote_fractions
from surewood.parallel.progress import stage
from surewood.trees import grow_forest

PILOT_ROWS = 2000
IN_BAG = 0.8
BEST = 3
PLAIN_WEIGHTS = (0.5, 0.25, 0.75, 0.0, 0.9)  # in the order of preference on ties
PILOT_PLAIN_TREES = 200


@dataclass(frozen=True)
class PilotGrid:
    """Candidates of the pilot."""

    depths: tuple[int, ...]
    degrees: tuple[int, ...]
    C: tuple[float, ...]
    gamma_scale: float
    plain_weights: tuple[float, ...] = PLAIN_WEIGHTS


@dataclass(frozen=True)
class Candidate:
    """A candidate and its votes: a common degree (`degrees` of one) or the criterion over several."""

    depth: int
    degrees: tuple[int, ...]
    C: tuple[float, ...]
    by_criterion: bool
    error: float
    log_loss: float
    votes: Floats


@dataclass(frozen=True)
class PilotResult:
    """What the pilot chose, and all that it compared."""

    settings: tuple[Setting, ...]
    plain_weight: float
    candidates: tuple[Candidate, ...]
    plain_errors: dict[float, float]

    @property
    def n_outcomes(self) -> int:
        """Outcomes that the comparison could have had: sets of candidates times weights of plain trees."""
        return math.comb(len(self.candidates), len(self.settings)) * len(self.plain_errors)


def run_pilot(
    data: TrainingData, grid: PilotGrid, template: Setting, seed: int, options: SolverOptions
) -> PilotResult:
    """Compare all candidates. `template` has the values that are not compared."""
    candidates: list[Candidate] = []
    with stage(options.verbose, "pilot: depths", len(grid.depths)) as advance:
        pilot = _Pilot(data, grid, template, seed, options)
        for depth in grid.depths:
            candidates += pilot.at_depth(depth)
            advance(1)
    ranked = sorted(candidates, key=lambda c: (c.error, c.log_loss, c.depth, c.degrees, c.C))
    best = _distinct(ranked)[:BEST]
    mean = np.mean([c.votes for c in best], axis=0)
    errors = {0.0: pilot.error(mean)}
    if any(weight > 0 for weight in grid.plain_weights):
        plain = pilot.plain_votes()
        errors = {weight: pilot.error(blend(mean, plain, weight)) for weight in grid.plain_weights}
    weight = min(errors, key=lambda w: (round(errors[w], 12), grid.plain_weights.index(w)))
    settings = tuple(pilot.setting(c) for c in best)
    return PilotResult(settings, weight, tuple(ranked), errors)


def _distinct(ranked: list[Candidate]) -> list[Candidate]:
    """At depth 0 the criterion over all degrees repeats a common degree: keep the first of equals."""
    kept: list[Candidate] = []
    for candidate in ranked:
        if not any(np.array_equal(candidate.votes, other.votes, equal_nan=True) for other in kept):
            kept.append(candidate)
    return kept


class _Pilot:
    """Pilot trees, and the out-of-bag votes of every candidate on them."""

    def __init__(
        self, data: TrainingData, grid: PilotGrid, template: Setting, seed: int, options: SolverOptions
    ) -> None:
        self.data, self.grid, self.seed, self.options = data, grid, seed, options
        self.rows = pilot_rows(data.n_rows, seed)
        n = len(self.rows)
        self.n_trees = pilot_trees(n, data.n_classes)
        self.final = template
        self.template = replace(template, sampling="subsample", n_draws=max(1, round(IN_BAG * n)))
        self.grove = grow(
            data, self.template, self.n_trees, seed, options, self.rows, max_depth=max(grid.depths)
        )
        self.sets = IndexSets(data.y, data.weight, data.n_classes)
        self.known: dict[int, int] = {}
        self.outside = outside_bags(self.grove, self.rows)
        self.m = self.grove.sample_size(data)

    def at_depth(self, depth: int) -> list[Candidate]:
        """All candidates of one depth: inner values of C first, an end of the list where it looks better."""
        view = _View(self, depth)
        known: dict[tuple[int, float], Candidate] = {}

        def compare(degrees: list[int], C_values: tuple[float, ...]) -> None:
            if degrees and C_values:
                view.train(degrees, C_values)
                for key in [(d, c) for d in degrees for c in C_values]:
                    known[key] = self._candidate(depth, (key[0],), (key[1],), False, view.labels[key])

        def best(degree: int) -> float:
            return min((known[k].error, k[1]) for k in known if k[0] == degree)[1]

        every, C_grid = list(self.grid.degrees), tuple(sorted(self.grid.C))
        inner = C_grid[1:-1] if len(C_grid) > 3 else C_grid
        compare(every, inner)
        if inner != C_grid:
            compare([d for d in every if best(d) == inner[0]], C_grid[:1])
            compare([d for d in every if best(d) == inner[-1]], C_grid[-1:])
        found = list(known.values())
        if len(every) > 1:
            C = tuple(best(d) for d in every)
            labels = view.by_criterion(self.grid.degrees, C)
            found.append(self._candidate(depth, self.grid.degrees, C, True, labels))
        return found

    def _candidate(
        self,
        depth: int,
        degrees: tuple[int, ...],
        C: tuple[float, ...],
        criterion: bool,
        labels: NDArray[Any],
    ) -> Candidate:
        votes = vote_fractions(labels, self.data.n_classes)
        return Candidate(depth, degrees, C, criterion, self.error(votes), self.log_loss(votes), votes)

    def plain_votes(self) -> Floats:
        """Out-of-bag class vectors of plain trees on the pilot rows."""
        params = plain_tree_params(self.template.max_features)
        grown = grow_forest(
            self.data.matrix, self.data.y, self.data.n_classes, params, n_trees=PILOT_PLAIN_TREES,
            seed=self.seed + 1, weight=self.data.weight, rows=self.rows, n_jobs=self.options.n_jobs,
            verbose=self.options.verbose,
        )  # fmt: skip
        return plain_out_of_bag(grown, self.data, self.rows, self.options)

    def error(self, votes: Floats) -> float:
        """Weighted fraction of misclassified rows, among those outside some bag."""
        known = ~np.isnan(votes).any(axis=1)
        rows = self.rows[known]
        wrong = votes[known].argmax(axis=1) != self.data.y[rows]
        weight = None if self.data.weight is None else self.data.weight[rows]
        return float(np.average(wrong, weights=weight)) if len(rows) else 1.0

    def log_loss(self, votes: Floats) -> float:
        """Log loss of the votes, kept off 0 and 1."""
        known = ~np.isnan(votes).any(axis=1)
        rows = self.rows[known]
        true = 0.98 * votes[known, self.data.y[rows]] + 0.02 / self.data.n_classes
        weight = None if self.data.weight is None else self.data.weight[rows]
        return float(np.average(-np.log(true), weights=weight)) if len(rows) else np.inf

    def setting(self, candidate: Candidate) -> Setting:
        """The candidate on all rows: same sizes of leaves, same C_k."""
        ratio = self.data.n_rows / len(self.rows)
        return replace(
            self.final,
            max_depth=candidate.depth + round(math.log2(ratio)),
            degrees=candidate.degrees,
            C=tuple(c * math.sqrt(ratio) for c in candidate.C),
            constant_leaves=candidate.by_criterion,
        )


class _View:
    """The pilot's trees cut at one depth: counts and out-of-bag labels of each (degree, C) trained so far."""

    def __init__(self, pilot: _Pilot, depth: int) -> None:
        self.pilot = pilot
        grove, sets = pilot.grove, pilot.sets
        stop = cut(grove.topology, depth)
        self.leaves = collect_leaves(grove.topology, stop, grove.assigned, grove.bags, sets, pilot.known)
        nodes = grove.assigned[pilot.rows].astype(np.int64) + grove.topology.start[:-1]
        self.leaf = self.leaves.of_node(stop)[nodes]
        self.set_of = self.leaves.set_id[self.leaf]
        self.majority = np.where(pilot.outside, sets.majority[self.set_of], -1).astype(np.int16)
        self.ids = np.unique(self.leaves.set_id[~sets.pure[self.leaves.set_id]])
        self.labels: dict[tuple[int, float], NDArray[np.int16]] = {}
        self.correct: dict[tuple[int, float], Floats] = {}

    def train(self, degrees: list[int], C_values: tuple[float, ...]) -> None:
        """SVMs of all leaves for these degrees and C, and their labels of the rows outside the bags."""
        pilot, data = self.pilot, self.pilot.data
        keys = [(d, c) for d in degrees for c in C_values]
        for key in keys:
            self.labels[key] = self.majority.copy()
            self.correct[key] = np.zeros(len(pilot.sets))
        table = np.tile(np.array(C_values), (len(degrees), 1))
        design, place = data.gram.X[pilot.rows], np.full(len(pilot.sets), -1)
        base = float(pilot.m.mean())
        for chunk in train(data, pilot.sets, self.ids, np.array(degrees), table, base, pilot.options, True):
            place[:] = -1
            place[chunk.ids] = np.arange(len(chunk.ids))
            first = np.where(pilot.outside, place[self.set_of], -1)
            here = first >= 0
            # All (degree, C) side by side: one product of the rows with the support rows serves them all.
            places = np.arange(len(keys))[None, :, None]
            assign = np.where(here[:, None, :], first[:, None, :] * len(keys) + places, -1)
            codes = chunk.svms.predictor().predict(
                design, assign.reshape(len(design), -1), n_jobs=pilot.options.n_jobs
            )
            codes = codes.reshape(assign.shape)
            for k, key in enumerate(keys):
                self.correct[key][chunk.ids] = chunk.correct.reshape(len(chunk.ids), -1)[:, k]
                self.labels[key][here] = codes[:, k][here]

    def by_criterion(self, degrees: tuple[int, ...], C: tuple[float, ...]) -> NDArray[Any]:
        """Labels when every leaf gets the degree of the smallest ``T_k``, constants included."""
        pilot, keys = self.pilot, list(zip(degrees, C))
        setting = replace(
            pilot.template, degrees=degrees, C=C, constant_leaves=True, gamma_scale=pilot.grid.gamma_scale
        )
        choice = LeafChoice(pilot.data, setting, self.leaves, pilot.sets, pilot.m, pilot.seed)
        correct = np.stack([self.correct[key] for key in keys], axis=1)
        column = choice.columns(np.arange(len(self.leaves)), correct)[self.leaf]
        stacked = np.stack([self.majority, *(self.labels[key] for key in keys)])
        return np.asarray(np.take_along_axis(stacked, column[None], axis=0)[0])


def pilot_trees(n_rows: int, n_classes: int) -> int:
    """Trees of the pilot: fewer where there are many rows or many pairs of classes.

    Examples
    --------
    >>> pilot_trees(500, 3), pilot_trees(2000, 26), pilot_trees(600, 200)
    (30, 20, 6)
    """
    trees = 30 if n_rows <= 1000 else 20
    return max(6, round(trees * min(1.0, 30 / n_classes)))


def pilot_rows(n_rows: int, seed: int) -> NDArray[np.int64]:
    """All rows, or a random `PILOT_ROWS` of them, ascending."""
    if n_rows <= PILOT_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng([seed, 1]).permutation(n_rows)[:PILOT_ROWS])
