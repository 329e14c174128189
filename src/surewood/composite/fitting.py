"""RCF(B, r, gamma, M) of theory.md §2.11 for one setting: grow, train, count, choose, assemble.

:class:`Setting` says everything about a tree but its data; :func:`fit_trees` is a function of (data,
setting, seed, tree numbers): not of threads, not of the trees beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.composite.data import TrainingData
from surewood.composite.leaves import MAX_DEPTH, IndexSets, Leaves, Topology, collect_leaves, cut
from surewood.composite.machines import MachineStore, SolverOptions, train
from surewood.composite.model import CompositeModel, LeafFacts
from surewood.composite.selection import (
    choose_exact,
    choose_random_degree,
    choose_random_sequences,
    complexities,
    keyed_below,
    leaf_terms,
)
from surewood.trees import Bag, FlatForest, Grown, TreeParams, grow_forest, make_bag

_ROOM = 6  # questions that unbalanced trees need beyond balanced ones, as a rule


@dataclass(frozen=True)
class Setting:
    """How composite trees are grown and their leaves filled.

    `degrees` ascending, `C` one entry a degree (scaled by leaf, (2.12)); one common degree is a list of one.
    `max_size`: leaves with more rows go deeper than `max_depth`. `constant_leaves` offers degree 0 at
    every leaf.
    """

    max_depth: int
    max_features: int
    degrees: tuple[int, ...]
    C: tuple[float, ...]
    gamma_scale: float
    selection: str = "exact"
    max_size: int | None = None
    n_sequences: int = 10
    constant_leaves: bool = False
    sampling: str = "all"
    n_draws: int | None = None
    min_weight_fraction_leaf: float = 0.0

    @property
    def offered(self) -> NDArray[np.int64]:
        """Degrees a leaf may have, 0 first where it is offered."""
        return np.array(((0,) if self.constant_leaves else ()) + self.degrees, dtype=np.int64)

    def tree_params(self, max_depth: int) -> TreeParams:
        return TreeParams(
            criterion="entropy",
            max_depth=max_depth,
            max_features=self.max_features,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            sampling=self.sampling,
            n_draws=self.n_draws,
        )


@dataclass(frozen=True)
class Grove:
    """Grown trees, cut into leaves; `bags` are the rows each tree saw, ascending."""

    grown: Grown
    topology: Topology
    assigned: NDArray[np.uint32]
    bags: list[NDArray[np.int32]]

    @property
    def forest(self) -> FlatForest:
        return self.grown.forest

    def sample_size(self, data: TrainingData) -> Floats:
        """Weight that each tree saw, m of theory.md §2 (distinct rows, [D-14])."""
        return np.array([data.total(rows) for rows in self.bags])


def grow(
    data: TrainingData,
    setting: Setting,
    n_trees: int,
    seed: int,
    options: SolverOptions,
    rows: NDArray[Any] | None = None,
    first_tree: int = 0,
    max_depth: int | None = None,
) -> Grove:
    """Trees `first_tree` ... of the forest with this seed, grown to `max_depth` (default: the setting's)."""
    depth = setting.max_depth if max_depth is None else max_depth
    # The engine grows at least one question; a tree of depth 0 is cut at its root.
    grown = grow_forest(
        data.matrix,
        data.y,
        max(data.n_classes, 1),
        setting.tree_params(max(depth, 1)),
        n_trees=n_trees,
        seed=seed,
        weight=data.weight,
        rows=rows,
        first_tree=first_tree,
        n_jobs=options.n_jobs,
        verbose=options.verbose,
    )
    bags = [_in_bag(grown.bag, first_tree + tree) for tree in range(n_trees)]
    assigned = grown.forest.apply(data.matrix, n_jobs=options.n_jobs)
    return Grove(grown, Topology.of(grown.forest), assigned, bags)


def _in_bag(bag: Bag, tree: int) -> NDArray[np.int32]:
    if bag.sampling == "all":
        return bag.rows.astype(np.int32)
    return np.sort(bag.rows[bag.counts(tree) > 0]).astype(np.int32)


def mean_sample_size(data: TrainingData, setting: Setting, n_trees: int, seed: int, first_tree: int) -> float:
    """Mean weight that trees will see, before they are grown."""
    labels = data.y.astype(np.uint16)
    bag = make_bag(data.matrix, labels, setting.sampling, setting.n_draws, seed, data.weight)
    trees = range(first_tree, first_tree + (1 if setting.sampling == "all" else n_trees))
    return float(np.mean([data.total(_in_bag(bag, tree)) for tree in trees]))


def grow_to_size(
    data: TrainingData,
    setting: Setting,
    n_trees: int,
    seed: int,
    options: SolverOptions,
    rows: NDArray[Any] | None = None,
    first_tree: int = 0,
) -> tuple[Grove, NDArray[np.int64]]:
    """Trees and their cut; leaves beyond the size limit go deeper, as far as questions tell rows apart.

    Trees are nested, so growing them deeper than needed changes nothing; growing them again costs all the
    time spent before. Hence the first depth leaves room for unbalanced trees, and the second is the last.
    """
    depth = setting.max_depth
    n_bag = setting.n_draws or (data.n_rows if rows is None else len(rows))
    if setting.max_size is not None and n_bag > setting.max_size:
        depth = min(MAX_DEPTH, max(depth, int(np.ceil(np.log2(n_bag / setting.max_size))) + _ROOM))
    while True:
        grove = grow(data, setting, n_trees, seed, options, rows, first_tree, depth)
        if setting.max_size is None:
            return grove, cut(grove.topology, setting.max_depth)
        sizes = grove.topology.sizes(grove.assigned, grove.bags)
        # Terminal nodes above the limit of depth cannot be split further.
        open_ends = grove.topology.terminal & (grove.topology.depth >= depth) & (sizes > setting.max_size)
        if not open_ends.any() or depth >= MAX_DEPTH:
            return grove, cut(grove.topology, setting.max_depth, setting.max_size, sizes)
        depth = MAX_DEPTH


@dataclass(frozen=True)
class LeafChoice:
    """Everything that the choice of degrees reads but the counts.

    `m` is the weight that each tree saw; `correct`, in the methods, has one row a set and one column a
    degree of the setting. Columns that are returned count the *offered* degrees, where 0 comes first if it is
    one of them.
    """

    data: TrainingData
    setting: Setting
    leaves: Leaves
    sets: IndexSets
    m: Floats
    seed: int
    first_tree: int = 0

    def terms(self, at: NDArray[Any], correct: Floats) -> Floats:
        """``T_k`` (2.11) of the leaves `at` for every offered degree."""
        data, setting = self.data, self.setting
        set_id, size = self.leaves.set_id[at], self.m[self.leaves.tree[at]]
        table = correct[set_id]
        if setting.constant_leaves:
            table = np.column_stack([self.sets.majority_total[set_id], table])
        terms = np.zeros_like(table)
        for m in np.unique(size):
            same = size == m
            cost = complexities(
                self.leaves.depth[at][same],
                setting.offered,
                m=m,
                n_features=data.n_features,
                n_questions=data.n_questions,
                max_features=setting.max_features,
                n_classes=data.n_classes,
            )
            total = self.sets.total[set_id[same]]
            terms[same] = leaf_terms(
                table[same], total, cost, m=m, n_classes=data.n_classes, gamma_scale=setting.gamma_scale
            )
        return terms

    def columns(self, at: NDArray[Any], correct: Floats) -> NDArray[np.intp]:
        """Column of the offered degrees that each of the leaves `at` takes."""
        tree, code = self.leaves.tree[at], self.leaves.code[at]
        offered = len(self.setting.offered)
        if self.setting.selection == "random_degree" and offered > 1:
            return choose_random_degree(offered, tree + self.first_tree, code, self.seed)
        terms = self.terms(at, correct)
        if self.setting.selection == "random_sequences" and offered > 1:
            n = self.setting.n_sequences
            return choose_random_sequences(terms, tree, code, n, self.seed, self.first_tree)
        return choose_exact(terms)

    def candidates(self, at: NDArray[Any], correct: Floats) -> list[NDArray[np.intp]]:
        """Columns that the final choice may have at `at`, when the counts of other leaves are not known yet.

        A sequence is scored by its whole tree, so every drawn degree may be needed; the other choices are
        made leaf by leaf.
        """
        if self.setting.selection != "random_sequences":
            return [self.columns(at, correct)]
        tree, code = self.leaves.tree[at] + self.first_tree, self.leaves.code[at]
        offered = len(self.setting.offered)
        return [keyed_below(offered, self.seed, s, tree, code) for s in range(self.setting.n_sequences)]

    def wanted(self, at: NDArray[Any], columns: list[NDArray[np.intp]]) -> dict[int, set[int]]:
        """Machines behind columns: places on the list of degrees, by set."""
        zero = int(self.setting.constant_leaves)
        wanted: dict[int, set[int]] = {}
        for column in columns:
            for set_id, c in zip(self.leaves.set_id[at].tolist(), column.tolist()):
                if c >= zero:
                    wanted.setdefault(set_id, set()).add(c - zero)
        return wanted


def fit_trees(
    data: TrainingData,
    setting: Setting,
    n_trees: int,
    seed: int,
    options: SolverOptions,
    rows: NDArray[Any] | None = None,
    first_tree: int = 0,
    base: float | None = None,
) -> tuple[CompositeModel, Grove]:
    """Composite trees under one setting; votes have equal weights.

    `base` is the size of a sample that the boxes C refer to (2.12): the mean of what these trees saw, unless
    they are some of more.
    """
    grove, stop = grow_to_size(data, setting, n_trees, seed, options, rows, first_tree)
    sets = IndexSets(data.y, data.weight, data.n_classes)
    leaves = collect_leaves(grove.topology, stop, grove.assigned, grove.bags, sets)
    choice = LeafChoice(data, setting, leaves, sets, grove.sample_size(data), seed, first_tree)
    ids = np.unique(leaves.set_id[~sets.pure[leaves.set_id]])
    correct = np.zeros((len(sets), len(setting.degrees)))
    boxes = np.array(setting.C, dtype=np.float64)[:, None]
    store = MachineStore()
    base = float(choice.m.mean()) if base is None else base
    for chunk in train(data, sets, ids, np.array(setting.degrees), boxes, base, options):
        correct[chunk.ids] = chunk.correct[:, :, 0]
        at = np.flatnonzero(np.isin(leaves.set_id, chunk.ids))
        store.keep(chunk, choice.wanted(at, choice.candidates(at, correct)))
    facts = _facts(choice, correct, store, base)
    model = CompositeModel(grove.forest, leaves.of_node(stop), facts, store.predictor(), data.n_classes)
    return model, grove


def _facts(choice: LeafChoice, correct: Floats, store: MachineStore, base: float) -> LeafFacts:
    """The final choice and what it costs, leaf by leaf."""
    setting, leaves, sets = choice.setting, choice.leaves, choice.sets
    n, zero = len(leaves), int(setting.constant_leaves)
    mixed = np.flatnonzero(~sets.pure[leaves.set_id])
    column = choice.columns(mixed, correct)
    by_machine = column >= zero
    at, place = mixed[by_machine], column[by_machine] - zero
    machine = np.full(n, -1, dtype=np.int32)
    machine[at] = [store.number(s, p) for s, p in zip(leaves.set_id[at].tolist(), place.tolist())]
    constant = sets.majority[leaves.set_id]
    constant[at] = -1
    degree = np.zeros(n, dtype=np.int64)
    degree[at] = np.array(setting.degrees)[place]
    total = sets.total[leaves.set_id]
    C = np.zeros(n)
    C[at] = np.sqrt(total[at] / base) * np.array(setting.C)[place]  # theory.md (2.12)
    right = sets.majority_total[leaves.set_id]
    right[at] = correct[leaves.set_id[at], place]
    converged = np.ones(n, dtype=bool)
    converged[at] = store.converged[machine[at]]
    iterations = np.zeros(n, dtype=np.int64)
    iterations[at] = store.iterations[machine[at]]
    return LeafFacts.of(
        leaves, degree=degree, C=C, correct=right, total=total, constant=constant, machine=machine,
        converged=converged, iterations=iterations,
    )  # fmt: skip
