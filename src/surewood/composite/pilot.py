"""The settings a default ``fit`` chooses by itself: a pilot forest, compared on its out-of-bag rows.

Rules, each measured in docs/research/composite-forest.md and composite-forest-time.md:

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
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from surewood.composite.data import TrainingData
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.pilot_votes import DepthVotes, Key, PilotSample, Winners
from surewood.composite.setting import Setting
from surewood.composite.votes import vote_fractions
from surewood.estimators.time_limit import TimeLimit
from surewood.parallel.progress import Advance, stage

PILOT_ROWS = 2000  # of which a tree sees IN_BAG
JUDGED_ROWS = 4000  # by the trees that did not see them
IN_BAG = 0.8
LEAST_TREES = 6
BEST = 3
ROUNDS = 3  # parts of the pilot's trees; candidates are dropped after each but the last
STANDARD_ERRORS = 2.0  # by which a dropped candidate is worse than the best
MOST_KEPT = (8, 5)  # candidates after each round, where the errors tell no more of them apart
PILOT_TOL = 1e-2  # labels, not coefficients, are compared


@dataclass(frozen=True)
class PilotGrid:
    """Candidates of the pilot."""

    depths: tuple[int, ...]
    degrees: tuple[int, ...]
    C: tuple[float, ...]
    gamma_scale: float


@dataclass(frozen=True)
class Candidate:
    """A candidate and its votes: a common degree (`degrees` of one) or the criterion over several."""

    depth: int
    degrees: tuple[int, ...]
    C: tuple[float, ...]
    by_criterion: bool
    error: float
    log_loss: float
    winners: Winners

    @property
    def keys(self) -> set[Key]:
        """The (degree, C) whose SVMs it needs."""
        return set(zip(self.degrees, self.C))

    @property
    def identity(self) -> tuple[int, tuple[int, ...], tuple[float, ...], bool]:
        """What it is, whatever its votes."""
        return self.depth, self.degrees, self.C, self.by_criterion


@dataclass(frozen=True)
class PilotResult:
    """What the pilot chose, what it compared to the end (best first), and how many it compared at all."""

    settings: tuple[Setting, ...]
    candidates: tuple[Candidate, ...]
    n_compared: int
    notes: tuple[str, ...] = ()

    @property
    def n_outcomes(self) -> int:
        """Outcomes that the comparison could have had: sets of candidates."""
        return math.comb(self.n_compared, len(self.settings))


def run_pilot(
    data: TrainingData,
    grid: PilotGrid,
    template: Setting,
    seed: int,
    options: SolverOptions,
    limit: TimeLimit | None = None,
) -> PilotResult:
    """Compare all candidates. `template` has the values that are not compared; `limit` ends the pilot early.

    Without a limit the result is a function of the data, the grid and the seed.
    """
    limit = TimeLimit(None) if limit is None else limit
    rows, n_pilot = pilot_rows(data.n_rows, seed), pilot_size(data.n_rows)
    inner = replace(template, sampling="subsample", n_draws=max(1, round(IN_BAG * n_pilot)))
    loose = replace(options, tol=max(options.tol, PILOT_TOL))
    n_trees = pilot_trees(data.n_rows, data.n_classes)
    sample = PilotSample.grow(data, inner, rows, n_trees, max(grid.depths), grid.gamma_scale, seed, loose)
    total, done = ROUNDS * len(grid.depths), [0.0]
    with stage(options.verbose, "pilot: rounds x depths", total) as advance:

        def count(steps: float) -> None:
            done[0] += steps
            advance(steps)

        pilot = _Pilot(sample, grid)
        pilot.run(limit, count)
        advance(total - done[0])  # depths that were dropped
    best = _distinct([*_cheap_first(pilot.found, sample), *pilot.found])[:BEST]
    ratio = data.n_rows / n_pilot
    return PilotResult(
        tuple(_setting_of(candidate, template, ratio) for candidate in best),
        tuple(pilot.found),
        len(pilot.compared),
        tuple(pilot.notes),
    )


class _Pilot:
    """Candidates, round by round."""

    def __init__(self, sample: PilotSample, grid: PilotGrid) -> None:
        self.sample, self.grid = sample, grid
        self.views = {depth: DepthVotes(sample, depth) for depth in grid.depths}
        self.found: list[Candidate] = []  # of the last complete round, best first
        self.compared: set[tuple[int, tuple[int, ...], tuple[float, ...], bool]] = set()
        self.notes: list[str] = []

    def run(self, limit: TimeLimit, advance: Advance) -> None:
        """All rounds, or those that the time allows; the deepest trees, which cost least, come first."""
        ends = np.linspace(0, self.sample.n_trees, ROUNDS + 1).round().astype(int).tolist()
        for number, (first, last) in enumerate(pairwise(ends)):
            live = _survivors(self.found, self.sample, MOST_KEPT[number - 1]) if number else []
            depths = sorted({c.depth for c in live} if number else self.grid.depths, reverse=True)
            found: list[Candidate] = []
            for depth in depths:
                if limit.is_over and (number or found):
                    break
                view = self.views[depth]
                own = [c for c in live if c.depth == depth]
                found += self._again(view, own, first, last) if number else self._all(view, last)
                advance(1)
            complete = len({c.depth for c in found}) == len(depths)
            if complete or not number:
                self.found = sorted(found, key=_rank)
                self.compared |= {c.identity for c in found}
            if not complete:
                self.notes.append(f"the pilot stopped in round {number + 1} of {ROUNDS}: time_limit")
                return

    def _all(self, view: DepthVotes, last: int) -> list[Candidate]:
        """Every candidate of a depth: inner values of C first, an end of the list where it looks better."""
        known: dict[Key, Candidate] = {}

        def compare(degrees: list[int], C_values: tuple[float, ...]) -> None:
            keys = [(d, c) for d in degrees for c in C_values]
            view.train(keys, 0, last)
            known.update({key: self._candidate(view, (key[0],), (key[1],), False) for key in keys})

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
            found.append(self._candidate(view, self.grid.degrees, C, True))
        return found

    def _again(self, view: DepthVotes, live: list[Candidate], first: int, last: int) -> list[Candidate]:
        """Candidates that are left, with more trees."""
        view.train(sorted(set().union(*(c.keys for c in live))), first, last)
        return [self._candidate(view, c.degrees, c.C, c.by_criterion) for c in live]

    def _candidate(
        self, view: DepthVotes, degrees: tuple[int, ...], C: tuple[float, ...], by_criterion: bool
    ) -> Candidate:
        keys = list(zip(degrees, C))
        labels = view.by_criterion(keys) if by_criterion else view.labels[keys[0]]
        votes = vote_fractions(labels, self.sample.data.n_classes)
        error, loss = self.sample.error(votes), self.sample.log_loss(votes)
        return Candidate(view.depth, degrees, C, by_criterion, error, loss, Winners.of(votes))


def _rank(candidate: Candidate) -> tuple[float, float, int, tuple[int, ...], tuple[float, ...]]:
    return candidate.error, candidate.log_loss, candidate.depth, candidate.degrees, candidate.C


def _survivors(ranked: list[Candidate], sample: PilotSample, most: int) -> list[Candidate]:
    """Candidates that may still win: those not beaten by the best, and never fewer than are taken."""
    kept = [c for c in ranked if not sample.is_beaten(c.winners, ranked[0].winners, STANDARD_ERRORS)][:most]
    return kept if len(_distinct(kept)) >= BEST else _distinct(ranked)[:BEST]


def _cheap_first(ranked: list[Candidate], sample: PilotSample) -> list[Candidate]:
    """All candidates with one SVM per leaf, where errors do not tell one of them from the best; else none."""
    best, common = ranked[0].winners, [c for c in ranked if not c.by_criterion]
    alike = [c for c in common if not sample.is_beaten(c.winners, best, 1.0)]
    return [*alike, *common] if alike else []


def _distinct(ranked: list[Candidate]) -> list[Candidate]:
    """At depth 0 the criterion over all degrees repeats a common degree: keep the first of equals."""
    kept: list[Candidate] = []
    for candidate in ranked:
        if all(candidate.winners.digest != other.winners.digest for other in kept):
            kept.append(candidate)
    return kept


def _setting_of(candidate: Candidate, template: Setting, ratio: float) -> Setting:
    """The candidate on `ratio` times the rows: same sizes of leaves, same C_k."""
    return replace(
        template,
        max_depth=candidate.depth + round(math.log2(ratio)),
        degrees=candidate.degrees,
        C=tuple(c * math.sqrt(ratio) for c in candidate.C),
        constant_leaves=candidate.by_criterion,
    )


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
