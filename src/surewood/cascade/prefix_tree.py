"""The tree of prefixes of all cascades, grown on demand and shared by every search (theory.md §3.7).

A node at level k is a subset S_k, reached by the choices (SVM, fraction) of the nodes before it; a *pair* is
a node and one of the SVMs it may use. Training a pair gives (i) the counts of the cascade that ends there and
(ii) the points of S_k in order of distance, whose beginnings are the subsets of all its continuations. So a
pair is trained once, whatever fractions, scales of the complexity and numbers of leaves are searched later.

`Trainer` is what a tree needs to know about SVMs, `Level` the arrays of one level, `PrefixTree` grows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import AnyArray, Floats, Ints, Mask
from surewood.cascade.splits import counts_to_continue, points_to_continue

Rows = NDArray[np.int32]


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


class Path(NamedTuple):
    """A cascade by its choices: one SVM per node, one fraction per split."""

    choices: tuple[int, ...]
    fractions: tuple[int, ...]

    @property
    def n_leaves(self) -> int:
        return len(self.choices)


class Continuation(NamedTuple):
    """Rows of a trained pair by distance, and for each fraction: points that go on, counts that stay."""

    order: Rows
    fraction: Ints
    n_points: Ints
    size: Floats
    leaf_plus: Floats
    leaf_minus: Floats


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

    def __len__(self) -> int:
        return len(self.parent)


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
        self.fractions = tuple(one for one in fractions if one < 1)
        self.max_leaves = max_leaves if self.fractions else 1
        self.n_svms = 0
        self._branches = trainer.n_choices * max(len(self.fractions), 1)
        if self._branches ** (self.max_leaves - 1) * trainer.n_choices >= 2**62:
            raise ValueError(
                f"max_leaves={max_leaves} with {trainer.n_choices} SVMs and {len(self.fractions)} fractions "
                "per node makes more cascades than can be numbered; take fewer leaves or choices."
            )
        self.levels = [self._root()]
        self._grown: list[list[dict[str, AnyArray]]] = [[] for _ in range(self.max_leaves + 1)]
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
        batches: dict[tuple[int, ...], dict[bytes, Rows]] = {}
        wanted: dict[int, list[int]] = {}
        for node, choice in zip(nodes.tolist(), choices.tolist()):
            wanted.setdefault(node, []).append(choice)
        subsets = {node: self.rows(level, node) for node in wanted}
        names = {node: blake2b(rows.tobytes(), digest_size=16).digest() for node, rows in subsets.items()}
        for node, own in wanted.items():
            missing = tuple(sorted(c for c in own if not self._known(level, names[node], c)))
            if missing:
                batches.setdefault(missing, {})[names[node]] = subsets[node]
        for missing, together in batches.items():
            self._train_batch(level, together, missing)
        for node, own in wanted.items():
            for choice in own:
                self._record(level, node, choice, names[node])

    def _known(self, level: int, name: bytes, choice: int) -> bool:
        """Whether the same subset was met before on another path."""
        return (name, choice) in (self._ends if self._is_last(level) else self._continuations)

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
        blocks = self._grown[level] if level < self.max_leaves else []
        if not blocks and level < len(self.levels):
            return
        names = ("parent", "choice", "fraction", "key", "count", "size", "leaf_plus", "leaf_minus")
        fresh = {name: np.concatenate([b[name] for b in blocks]) for name in names} if blocks else None
        self._grown[level] = []
        if fresh is None:
            self.levels.append(self._empty())
            return
        n, g = len(fresh["parent"]), self.trainer.n_choices
        fresh["trained"], fresh["end_plus"] = np.zeros((n, g), dtype=bool), np.zeros((n, g))
        if level == len(self.levels):
            self.levels.append(Level(**fresh, order={}))
            return
        here = self.levels[level]
        for name, values in fresh.items():
            setattr(here, name, np.concatenate([getattr(here, name), values]))

    def _record(self, level: int, node: int, choice: int, name: bytes) -> None:
        """Write what is known about a pair on its node, and its continuations on the next level."""
        here = self.levels[level]
        here.trained[node, choice] = True
        here.end_plus[node, choice] = self._ends[name, choice]
        following = None if self._is_last(level) else self._continuations[name, choice]
        if following is None:
            return
        here.order[node, choice] = following.order
        n = len(following.n_points)
        branch = choice * len(self.fractions) + following.fraction
        self._grown[level + 1].append(
            {
                "parent": np.full(n, node),
                "choice": np.full(n, choice),
                "fraction": following.fraction,
                "key": here.key[node] * self._branches + branch,
                "count": following.n_points,
                "size": following.size,
                "leaf_plus": following.leaf_plus,
                "leaf_minus": following.leaf_minus,
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
        own = (counts > 0) & (counts < len(distance))
        own[1:] &= counts[1:] > counts[:-1]
        fraction = np.flatnonzero(own)
        if not len(fraction):
            return None
        at = counts[fraction]
        size, plus = running[at - 1], right[-1] - right[at - 1]
        minus = np.maximum(running[-1] - size - plus, 0.0)
        return Continuation(rows[order], fraction, at, size, plus, minus)

    def _wanted(self, total: float) -> Floats:
        """Weight that each fraction of a subset's weight sends on."""
        if total not in self._wanted_of:
            wanted = [points_to_continue(one, total) for one in self.fractions]
            self._wanted_of[total] = np.array(wanted, dtype=np.float64)
        return self._wanted_of[total]

    def _root(self) -> Level:
        root = self._empty(1)
        root.count[:] = len(self.trainer.weight)
        root.size[:] = self.trainer.weight.sum()
        return root

    def _empty(self, n: int = 0) -> Level:
        def whole() -> NDArray[np.int64]:
            return np.zeros(n, dtype=np.int64)

        g = self.trainer.n_choices
        return Level(
            parent=whole(),
            choice=whole(),
            fraction=whole(),
            key=whole(),
            count=whole(),
            size=np.zeros(n),
            leaf_plus=np.zeros(n),
            leaf_minus=np.zeros(n),
            trained=np.zeros((n, g), dtype=bool),
            end_plus=np.zeros((n, g)),
        )
