r"""The exact minimizer of the cascade criterion (3.8), by branch and bound over prefixes (theory.md §3.7).

In counts a cascade scores :math:`\sum_k T_k`, :math:`T_k=m_k^-+\min(4\gamma m\,a_k,\,m_k^+)`. A prefix that
has collected P, whose splits cost Q and which leaves :math:`|S_k|` points cannot, when node k uses an SVM of
complexity a, be completed below

.. math:: P+\min\big(|S_k|,\;4\gamma m(Q+a)\big),

since every leaf from here on pays at least Q + a, and if none pays its complexity all of its points are paid.
This is (3.9) with the complexity of the SVM at hand in place of the smallest one, so that complex SVMs are
not even trained where a simple one may still win; where the cascade must go on, another :math:`a_{\min}` is
added.

Levels are searched in order, SVMs within a level by increasing bound: early good cascades prune the rest.
The tie order [D-25] (fewer leaves, then smaller choices) is kept by comparing keys, and a pair is dropped at
a tie only if it comes later than the best cascade so far. So the result does not depend on the order of the
visit, on what earlier searches of the same tree trained, or on threads.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.cascade.old_form import renamed
from surewood.cascade.prefix_tree import Path, PrefixTree

_FIRST_CHUNK, _LARGEST_CHUNK = 4, 128  # pairs trained between two looks at the best cascade
_BEAM = 8


@dataclass(frozen=True)
class Budget:
    """Limits after which a search stops with the best so far; `svms` keeps the result deterministic."""

    seconds: float | None = None
    svms: int | None = None


@dataclass(frozen=True)
class SearchResult:
    """The best cascade found, and what is proven about it."""

    #: SVMs and fractions by their positions on the lists.
    path: Path
    gamma: float
    #: Criterion in counts, m times (3.8).
    score: float
    #: No cascade scores less; equal to `score` when `proven`.
    lower_bound: float
    total: float
    #: Correct and wrong weight, and the bracket a_k of (3.8).
    plus: Floats
    minus: Floats
    complexity: Floats
    #: SVMs trained by this search, SVMs it proved unnecessary at the levels it reached, and cascades that
    #: full enumeration would have scored.
    n_svms: int
    n_pruned: int
    n_cascades: int
    seconds: float

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(renamed(state, {"n_machines": "n_svms"}))

    @property
    def proven(self) -> bool:
        """Whether `path` is the exact minimizer."""
        return self.lower_bound >= self.score - tie(self.score)

    @property
    def gap(self) -> float:
        """Largest possible distance to the minimum, as a fraction of the sample."""
        return 0.0 if self.proven else (self.score - self.lower_bound) / self.total

    @property
    def line(self) -> tuple[float, float]:
        """Intercept and slope of the linear piece, in γ, of this cascade's score at `gamma`."""
        active = 4.0 * self.gamma * self.total * self.complexity < self.plus
        intercept = float(self.minus.sum() + self.plus[~active].sum())
        return intercept, float(4.0 * self.total * self.complexity[active].sum())

    @property
    def active_fraction(self) -> float:
        """Fraction of the leaves whose complexity penalty is active (§2.9)."""
        return float(np.mean(4.0 * self.gamma * self.total * self.complexity < self.plus))


def tie(value: float) -> float:
    """Values this near are equal (theory.md §0)."""
    return 1e-12 * max(1.0, abs(value))


def minimise(
    tree: PrefixTree,
    complexity: Floats,
    gamma: float,
    *,
    n_leaves: int | None = None,
    budget: Budget | None = None,
) -> SearchResult | None:
    """Exact minimizer of the criterion over all cascades of the tree.

    Parameters
    ----------
    tree : PrefixTree
        Grown as far as needed; SVMs of earlier searches are not trained again.
    complexity : ndarray, shape (n_choices,)
        √(Λ/m) of each SVM.
    gamma : float
        Scale of the complexity, 0 to infinity.
    n_leaves : int, optional
        Only cascades with exactly this many (non-empty) leaves.
    budget : Budget, optional

    Returns
    -------
    SearchResult, or None when no cascade has exactly `n_leaves` leaves.
    """
    return _Search(tree, np.asarray(complexity, dtype=np.float64), gamma, n_leaves, budget or Budget()).run()


class _View(NamedTuple):
    """For every node of a level: points collected, cost of the splits, and the bound of each pair."""

    collected: Floats
    splits: Floats
    bound: Floats


class _Incumbent(NamedTuple):
    score: float
    level: int
    key: int  # of the pair: node key times the number of choices, plus the choice
    node: int
    choice: int


class _Search:
    def __init__(
        self, tree: PrefixTree, complexity: Floats, gamma: float, n_leaves: int | None, budget: Budget
    ) -> None:
        self.tree, self.a, self.n_leaves, self.budget = tree, complexity, n_leaves, budget
        self.gamma, self.m = gamma, tree.total
        self.scale = 4.0 * gamma * self.m
        self.last_level = (tree.max_leaves if n_leaves is None else min(n_leaves, tree.max_leaves)) - 1
        # One more than any score: an infinite start makes the relative tolerance NaN.
        self.best = _Incumbent(self.m + 1.0, tree.max_leaves + 1, 0, -1, -1)
        self.started, self.svms_before, self.pruned = time.perf_counter(), tree.n_svms, 0

    def run(self) -> SearchResult | None:
        if self.n_leaves is not None and self.n_leaves > self.tree.max_leaves:
            return None
        self._scan_trained()
        if self.best.node < 0:
            self._dive()
        open_bound = math.inf
        for level in range(self.last_level + 1):
            self.tree.settle(level)
            view = self._view(level)
            finished = self._pass(level, view)
            if not finished:
                open_bound = self._open_bound(level, view)
                break
        return None if self.best.node < 0 else self._result(open_bound)

    def _pass(self, level: int, view: _View) -> bool:
        """Train the open pairs of a level by increasing bound; False when the budget ran out."""
        chunk, at = 1 if level == 0 else _FIRST_CHUNK, 0
        nodes, choices = self._by_bound(level, view)
        bound, keys = view.bound[nodes, choices], self._keys(level, nodes, choices)
        while at < len(nodes) and bound[at] <= self.best.score + tie(self.best.score):
            if self._out_of_budget():
                return False
            part = slice(at, at + chunk)
            keep = ~self._prunable(level, bound[part], keys[part])
            if keep.any():
                chosen = nodes[part][keep], choices[part][keep]
                self.tree.train(level, *chosen)
                self._consider(level, *chosen, view)
            at, chunk = at + chunk, min(2 * chunk, _LARGEST_CHUNK)
        self.pruned += int((~self.tree.levels[level].trained).sum())
        return True

    def _by_bound(self, level: int, view: _View) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs not trained and not pruned yet, smallest bound first, in the order of ties."""
        here = self.tree.levels[level]
        nodes, choices = np.nonzero(~here.trained)
        keys = self._keys(level, nodes, choices)
        bound = view.bound[nodes, choices]
        keep = ~self._prunable(level, bound, keys)
        nodes, choices, keys, bound = nodes[keep], choices[keep], keys[keep], bound[keep]
        order = np.lexsort((keys, bound))
        return nodes[order], choices[order]

    def _view(self, level: int) -> _View:
        collected, splits = np.zeros(1), np.zeros(1)
        for k in range(1, level + 1):
            here = self.tree.levels[k]
            a = self.a[here.choice]
            before = splits[here.parent]
            # A leaf counts its node's complexity twice: as a split and as a classifier (3.8).
            collected = (
                collected[here.parent] + here.leaf_minus + self._charge(before + 2.0 * a, here.leaf_plus)
            )
            splits = before + a
        here = self.tree.levels[level]
        goes_on = self.a.min() if self.n_leaves is not None and level < self.last_level else 0.0
        paid = splits[:, None] + self.a[None, :] + goes_on
        # theory.md (3.9), with the complexity of the SVM at hand
        bound = collected[:, None] + self._charge(paid, np.broadcast_to(here.size[:, None], paid.shape))
        return _View(collected, splits, bound)

    def _charge(self, complexity: Floats, at_most: Floats) -> Floats:
        if math.isinf(self.scale):
            return np.array(at_most)
        return np.minimum(self.scale * complexity, at_most)

    def _keys(self, level: int, nodes: NDArray[np.int64], choices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.tree.levels[level].key[nodes] * self.tree.trainer.n_choices + choices

    def _prunable(self, level: int, bound: Floats, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Pairs none of whose cascades can win, ties included."""
        best, eps = self.best, tie(self.best.score)
        if best.level < level:
            return bound >= best.score - eps
        if best.level > level:
            return bound > best.score + eps
        return np.where(keys >= best.key, bound >= best.score - eps, bound > best.score + eps)

    def _consider(
        self, level: int, nodes: NDArray[np.int64], choices: NDArray[np.int64], view: _View
    ) -> None:
        """Let the cascades that end at these trained pairs challenge the best one."""
        if (self.n_leaves is not None and level != self.n_leaves - 1) or not len(nodes):
            return
        here = self.tree.levels[level]
        plus = here.end_plus[nodes, choices]
        charge = self._charge(view.splits[nodes] + self.a[choices], plus)
        score = view.collected[nodes] + (here.size[nodes] - plus) + charge
        keys = self._keys(level, nodes, choices)
        lowest = float(score.min())
        tied = np.flatnonzero(score <= lowest + tie(lowest))
        first = int(tied[np.argmin(keys[tied])])
        found = _Incumbent(
            float(score[first]), level, int(keys[first]), int(nodes[first]), int(choices[first])
        )
        eps = tie(self.best.score)
        earlier = (found.level, found.key) < (self.best.level, self.best.key)
        if found.score < self.best.score - eps or (earlier and found.score <= self.best.score + eps):
            self.best = found

    def _scan_trained(self) -> None:
        """Start from the best cascade among the SVMs of earlier searches."""
        for level in range(min(self.last_level + 1, len(self.tree.levels))):
            nodes, choices = np.nonzero(self.tree.levels[level].trained)
            self._consider(level, nodes, choices, self._view(level))

    def _dive(self) -> None:
        """A first cascade: straight down through the few pairs of smallest bound at each level."""
        for level in range(self.last_level + 1):
            self.tree.settle(level)
            view = self._view(level)
            nodes, choices = self._by_bound(level, view)
            width = 1 if self.n_leaves is None else _BEAM
            self.tree.train(level, nodes[:width], choices[:width])
            nodes, choices = np.nonzero(self.tree.levels[level].trained)
            self._consider(level, nodes, choices, view)
            if self.n_leaves is None:
                return

    def _out_of_budget(self) -> bool:
        limits = self.budget
        if limits.svms is not None and self.tree.n_svms - self.svms_before >= limits.svms:
            return True
        return limits.seconds is not None and time.perf_counter() - self.started >= limits.seconds

    def _open_bound(self, level: int, view: _View) -> float:
        """Smallest score that a cascade not yet visited could have."""
        lowest = float(view.bound[~self.tree.levels[level].trained].min(initial=math.inf))
        if level < self.last_level:
            self.tree.settle(level + 1)
            lowest = min(lowest, float(self._view(level + 1).bound.min(initial=math.inf)))
        return lowest

    def _result(self, open_bound: float) -> SearchResult:
        best, tree = self.best, self.tree
        path = tree.path(best.level, best.node, best.choice)
        here, node = tree.levels[best.level], best.node
        plus = [float(here.end_plus[node, best.choice])]
        minus = [float(here.size[node]) - plus[0]]
        for level in range(best.level, 0, -1):
            here = tree.levels[level]
            plus.append(float(here.leaf_plus[node]))
            minus.append(float(here.leaf_minus[node]))
            node = int(here.parent[node])
        return SearchResult(
            path=path,
            gamma=self.gamma,
            score=best.score,
            lower_bound=min(best.score, open_bound),
            total=self.m,
            plus=np.array(plus[::-1]),
            minus=np.array(minus[::-1]),
            complexity=leaf_complexity(self.a[list(path.choices)]),
            n_svms=tree.n_svms - self.svms_before,
            n_pruned=self.pruned,
            n_cascades=tree.n_cascades,
            seconds=time.perf_counter() - self.started,
        )


def leaf_complexity(node_complexity: Floats) -> Floats:
    """The bracket of (3.8) at every leaf, from √(Λ/m) of every node's SVMs."""
    a = np.asarray(node_complexity, dtype=np.float64)
    depth = np.minimum(np.arange(1, len(a) + 1), len(a) - 1)  # [D-22]
    return np.concatenate(([0.0], np.cumsum(a)))[depth] + a
