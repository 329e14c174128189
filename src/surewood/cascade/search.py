r"""The exact minimizer of the cascade criterion (3.8), by branch and bound over prefixes (theory.md §3.7).

*The tree of prefixes* (`PrefixTree`) is grown on demand and shared by every search. A node at level k is a
subset S_k, reached by the choices (SVM, fraction) of the nodes before it; a *pair* is a node and one of the
SVMs it may use. Training a pair gives (i) the counts of the cascade that ends there and (ii) the points of
S_k in order of distance, whose beginnings are the subsets of all its continuations. So a pair is trained
once, whatever fractions, scales of the complexity and numbers of leaves are searched later.

*The search* (`minimise`). In counts a cascade scores :math:`\sum_k T_k`,
:math:`T_k=m_k^-+\min(4\gamma m\,a_k,\,m_k^+)`. A prefix that has collected P, whose splits cost Q and which
leaves :math:`|S_k|` points cannot, when node k uses an SVM of complexity a, be completed below

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
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import AnyArray, Floats, Ints, Mask
from surewood.base.time_limit import NO_LIMIT, TimeLimit
from surewood.bounds.cascade import cascade_depths
from surewood.cascade.chain import Path, Rows, counts_to_continue, points_to_continue

_FIRST_CHUNK, _LARGEST_CHUNK = 4, 128  # pairs trained between two looks at the best cascade
_BEAM = 8

# --- the tree of prefixes ----------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """A trained SVM at its own points: distances that order them, and whether each is classified correctly.

    `distance` is None where the SVM is a constant, which orders nothing and must be the last node.
    `tie_width` is the largest decision value that counts as zero [D-41].
    """

    distance: Floats | None
    correct: NDArray[np.bool_]
    tie_width: float = 0.0


class Trainer(Protocol):
    """Trains SVMs on subsets of one sample.

    Attributes
    ----------
    weight : ndarray of float64, shape (n,)
        Weight of each point; all 1 for plain counts.
    n_choices : int
        SVMs that a node chooses from, in the order in which ties are broken.
    """

    weight: Floats
    n_choices: int

    def train(self, rows: Sequence[Rows], choices: Sequence[int]) -> list[list[Outcome]]:
        """Outcomes of every choice on every subset (ascending row numbers), in this order."""
        ...


class Continuation(NamedTuple):
    """Rows of a trained pair by distance, and the columns of its nodes on the next level."""

    order: Rows
    columns: dict[str, AnyArray]


@dataclass
class Level:
    """Nodes of one level as parallel arrays, and the counts of their trained pairs.

    `leaf_plus` and `leaf_minus` are the correct and wrong weight that the split before this node left behind;
    `key` orders nodes as their choices (δ₁, μ₁, δ₂, ...) do ([D-25]); `count` is the number of rows.
    """

    parent: Ints
    choice: Ints
    fraction: Ints
    key: Ints
    count: Ints
    size: Floats
    leaf_plus: Floats
    leaf_minus: Floats
    trained: Mask  # (nodes, choices)
    end_plus: Floats  # (nodes, choices): correct weight if the cascade ends here
    order: dict[tuple[int, int], Rows] = field(default_factory=dict)  # rows by distance, per trained pair


class PrefixTree:
    """All prefixes of cascades with at most `max_leaves` nodes.

    Parameters
    ----------
    trainer : Trainer
    fractions : sequence of Fraction
        Ascending; a fraction of 1 is dominated by the cascade without that node and is left out.
    max_leaves : int

    Attributes
    ----------
    levels : list of Level
        Level k - 1 holds the subsets S_k.
    n_svms : int
        SVMs trained so far; subsets met again on another path are not trained again.
    """

    def __init__(self, trainer: Trainer, fractions: Sequence[Fraction], max_leaves: int) -> None:
        self.trainer = trainer
        self.fractions = tuple(fraction for fraction in fractions if fraction < 1)
        self.max_leaves = max_leaves if self.fractions else 1
        self.n_svms = 0
        self._branches = trainer.n_choices * max(len(self.fractions), 1)
        if self._branches ** (self.max_leaves - 1) * trainer.n_choices >= 2**62:
            raise ValueError(
                f"max_leaves={max_leaves} with {trainer.n_choices} SVMs and {len(self.fractions)} fractions "
                "per node makes more cascades than can be numbered; take fewer leaves or choices."
            )
        root = self._level(1)
        root.count[:], root.size[:] = len(trainer.weight), trainer.weight.sum()
        self.levels = [root]
        self._grown: list[list[dict[str, AnyArray]]] = [[] for _ in range(self.max_leaves)]
        self._continuations: dict[tuple[bytes, int], Continuation | None] = {}
        self._ends: dict[tuple[bytes, int], float] = {}
        self._wanted_of: dict[float, Floats] = {}

    @property
    def total(self) -> float:
        """Weight of the whole sample, m of theory.md."""
        return float(self.levels[0].size[0])

    @property
    def n_cascades(self) -> int:
        """Cascades with at most `max_leaves` leaves, as the printed loops would visit them without μ = 1."""
        g = self.trainer.n_choices
        return sum(self._branches ** (leaves - 1) * g for leaves in range(1, self.max_leaves + 1))

    def rows(self, level: int, node: int) -> Rows:
        """Row numbers of a node's subset, ascending."""
        if level == 0:
            return np.arange(len(self.trainer.weight), dtype=np.int32)
        here = self.levels[level]
        pair = (int(here.parent[node]), int(here.choice[node]))
        return np.sort(self.levels[level - 1].order[pair][: here.count[node]])

    def path(self, level: int, node: int, choice: int) -> Path:
        """The choices that lead to a pair, its own included."""
        choices, fractions = [choice], []
        for k in range(level, 0, -1):
            here = self.levels[k]
            fractions.append(int(here.fraction[node]))
            choices.append(int(here.choice[node]))
            node = int(here.parent[node])
        return Path(tuple(reversed(choices)), tuple(reversed(fractions)))

    def train(self, level: int, nodes: NDArray[np.int64], choices: NDArray[np.int64]) -> None:
        """Train pairs that were not trained before; their continuations join the next level at `settle`."""
        wanted: dict[int, list[int]] = {}
        for node, choice in zip(nodes.tolist(), choices.tolist()):
            wanted.setdefault(node, []).append(choice)
        subsets = {node: self.rows(level, node) for node in wanted}
        names = {node: blake2b(rows.tobytes(), digest_size=16).digest() for node, rows in subsets.items()}
        # The same subset may have been met before on another path.
        results = self._ends if self._is_last(level) else self._continuations
        batches: dict[tuple[int, ...], dict[bytes, Rows]] = {}
        for node, node_choices in wanted.items():
            missing = tuple(sorted(c for c in node_choices if (names[node], c) not in results))
            if missing:
                batches.setdefault(missing, {})[names[node]] = subsets[node]
        for missing, together in batches.items():
            self._train_batch(level, together, missing)
        for node, node_choices in wanted.items():
            for choice in node_choices:
                self._record(level, node, choice, names[node])

    def _is_last(self, level: int) -> bool:
        return level + 1 >= self.max_leaves

    def _train_batch(self, level: int, subsets: dict[bytes, Rows], choices: tuple[int, ...]) -> None:
        outcomes = self.trainer.train(list(subsets.values()), choices)
        for (name, rows), row_outcomes in zip(subsets.items(), outcomes):
            weight = self.trainer.weight[rows]
            for choice, outcome in zip(choices, row_outcomes):
                self._ends[name, choice] = float(weight[outcome.correct].sum())
                if not self._is_last(level):
                    self._continuations[name, choice] = self._continue(rows, weight, outcome)
        self.n_svms += len(subsets) * len(choices)

    def settle(self, level: int) -> None:
        """Append the continuations found since the last call to `level`."""
        if level == len(self.levels):
            self.levels.append(self._level(0))
        blocks, self._grown[level] = self._grown[level], []
        if not blocks:
            return
        here, g = self.levels[level], self.trainer.n_choices
        for name in blocks[0]:
            setattr(here, name, np.concatenate([getattr(here, name), *(block[name] for block in blocks)]))
        n = len(here.parent) - len(here.trained)
        here.trained = np.concatenate([here.trained, np.zeros((n, g), dtype=bool)])
        here.end_plus = np.concatenate([here.end_plus, np.zeros((n, g))])

    def _record(self, level: int, node: int, choice: int, name: bytes) -> None:
        """Write what is known about a pair on its node, and its continuations on the next level."""
        here = self.levels[level]
        here.trained[node, choice] = True
        here.end_plus[node, choice] = self._ends[name, choice]
        following = None if self._is_last(level) else self._continuations[name, choice]
        if following is None:
            return
        here.order[node, choice] = following.order
        fraction = following.columns["fraction"]
        self._grown[level + 1].append(
            {
                "parent": np.full(len(fraction), node),
                "choice": np.full(len(fraction), choice),
                "key": here.key[node] * self._branches + choice * len(self.fractions) + fraction,
                **following.columns,
            }
        )

    def _continue(self, rows: Rows, weight: Floats, outcome: Outcome) -> Continuation | None:
        """The subsets of all fractions that leave some points here and send some on; None without any."""
        if outcome.distance is None:
            return None
        order = np.argsort(outcome.distance, kind="stable")
        distance, running = outcome.distance[order], np.cumsum(weight[order])
        right = np.cumsum(np.where(outcome.correct, weight, 0.0)[order])
        counts = counts_to_continue(distance, running, self._wanted(float(running[-1])))
        # Fractions that send the same points on make the same cascade: the smallest stands for them.
        is_new = (counts > 0) & (counts < len(distance))
        is_new[1:] &= counts[1:] > counts[:-1]
        fraction = np.flatnonzero(is_new)
        if not len(fraction):
            return None
        count = counts[fraction]
        size, plus = running[count - 1], right[-1] - right[count - 1]
        minus = np.maximum(running[-1] - size - plus, 0.0)
        columns = {"fraction": fraction, "count": count, "size": size, "leaf_plus": plus, "leaf_minus": minus}
        return Continuation(rows[order], columns)

    def _wanted(self, total: float) -> Floats:
        """Weight that each fraction of a subset's weight sends on."""
        if total not in self._wanted_of:
            wanted = [points_to_continue(fraction, total) for fraction in self.fractions]
            self._wanted_of[total] = np.array(wanted, dtype=np.float64)
        return self._wanted_of[total]

    def _level(self, n: int) -> Level:
        """A level of `n` nodes without choices, points or trained pairs."""
        parent, choice, fraction, key, count = np.zeros((5, n), dtype=np.int64)
        size, leaf_plus, leaf_minus = np.zeros((3, n))
        pairs = (n, self.trainer.n_choices)
        trained, end_plus = np.zeros(pairs, dtype=bool), np.zeros(pairs)
        return Level(parent, choice, fraction, key, count, size, leaf_plus, leaf_minus, trained, end_plus)


# --- branch and bound --------------------------------------------------------------------------------------


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
    limit: TimeLimit = NO_LIMIT,
    max_svms: int | None = None,
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
    limit : TimeLimit, optional
        When it is over, the search returns the best cascade so far.
    max_svms : int, optional
        So it does after training this many SVMs, which keeps the result deterministic.

    Returns
    -------
    SearchResult, or None when no cascade has exactly `n_leaves` leaves.
    """
    a = np.asarray(complexity, dtype=np.float64)
    return _Search(tree, a, gamma, n_leaves, limit, max_svms).run()


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
    """One call of `minimise`."""

    def __init__(
        self,
        tree: PrefixTree,
        complexity: Floats,
        gamma: float,
        n_leaves: int | None,
        limit: TimeLimit,
        max_svms: int | None,
    ) -> None:
        self.tree, self.a, self.n_leaves, self.max_svms = tree, complexity, n_leaves, max_svms
        self.gamma, self.m = gamma, tree.total
        self.scale = 4.0 * gamma * self.m
        self.last_level = (tree.max_leaves if n_leaves is None else min(n_leaves, tree.max_leaves)) - 1
        # One more than any score: an infinite start makes the relative tolerance NaN.
        self.best = _Incumbent(self.m + 1.0, tree.max_leaves + 1, 0, -1, -1)
        self.limit = limit.divided(1)  # from now on
        self.svms_before, self.pruned = tree.n_svms, 0
        self.seconds_per_svm = 0.0  # of the last ones, with a time limit

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
        """Train the open pairs of a level by increasing bound; False where a limit was reached."""
        chunk, at = 1 if level == 0 else _FIRST_CHUNK, 0
        nodes, choices = self._by_bound(level, view)
        bound, keys = view.bound[nodes, choices], self._keys(level, nodes, choices)
        while at < len(nodes) and bound[at] <= self.best.score + tie(self.best.score):
            if self._must_stop():
                return False
            part = slice(at, at + min(chunk, self._affordable()))
            keep = ~self._prunable(level, bound[part], keys[part])
            if keep.any():
                chosen = nodes[part][keep], choices[part][keep]
                self._train(level, *chosen)
                self._consider(level, *chosen, view)
            at, chunk = part.stop, min(2 * chunk, _LARGEST_CHUNK)
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
        challenger = _Incumbent(
            float(score[first]), level, int(keys[first]), int(nodes[first]), int(choices[first])
        )
        eps = tie(self.best.score)
        earlier = (challenger.level, challenger.key) < (self.best.level, self.best.key)
        if challenger.score < self.best.score - eps or (
            earlier and challenger.score <= self.best.score + eps
        ):
            self.best = challenger

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
            width = min(width, self._affordable())
            self._train(level, nodes[:width], choices[:width])
            nodes, choices = np.nonzero(self.tree.levels[level].trained)
            self._consider(level, nodes, choices, view)
            if self.n_leaves is None:
                return

    def _must_stop(self) -> bool:
        most = self.max_svms
        return self.limit.is_over or (most is not None and self.tree.n_svms - self.svms_before >= most)

    def _affordable(self) -> int:
        """How many SVMs fit into the time that is left, at least one."""
        if self.seconds_per_svm <= 0.0:
            return _LARGEST_CHUNK if self.limit.seconds is None else 1
        return int(min(max(self.limit.left / self.seconds_per_svm, 1), _LARGEST_CHUNK))

    def _train(self, level: int, nodes: NDArray[np.int64], choices: NDArray[np.int64]) -> None:
        svms_before, passed = self.tree.n_svms, self.limit.passed
        self.tree.train(level, nodes, choices)
        if self.limit.seconds is not None and self.tree.n_svms > svms_before:
            self.seconds_per_svm = (self.limit.passed - passed) / (self.tree.n_svms - svms_before)

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
            seconds=self.limit.passed,
        )


def leaf_complexity(node_complexity: Floats) -> Floats:
    """The bracket of (3.8) at every leaf, from √(Λ/m) of every node's SVMs."""
    a = np.asarray(node_complexity, dtype=np.float64)
    return np.concatenate(([0.0], np.cumsum(a)))[cascade_depths(len(a))] + a
