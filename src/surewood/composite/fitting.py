"""RCF(B, r, gamma, M) of theory.md §2.11 for one setting: grow, train, count, choose, assemble.

:class:`Setting` says everything about a tree but its data; :func:`fit_trees` is a function of (data,
setting, seed, tree numbers): not of threads, not of the trees beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.composite.data import TrainingData
from surewood.composite.leaves import MAX_DEPTH, IndexSets, Leaves, Topology, collect_leaves, cut
from surewood.composite.machines import Chunk, MachineStore, SolverOptions, train
from surewood.composite.model import CompositeModel, LeafFacts
from surewood.composite.selection import (
    choose_exact,
    choose_random_degree,
    choose_random_sequences,
    complexities,
    keyed_below,
    leaf_terms,
)
from surewood.trees import FlatForest, Grown, TreeParams, grow_forest

Floats = NDArray[np.float64]
SELECTIONS = ("exact", "random_sequences", "random_degree")


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
    bags = [_in_bag(grown, first_tree + tree) for tree in range(n_trees)]
    assigned = grown.forest.apply(data.matrix, n_jobs=options.n_jobs)
    return Grove(grown, Topology.of(grown.forest), assigned, bags)


def _in_bag(grown: Grown, tree: int) -> NDArray[np.int32]:
    if grown.bag.sampling == "all":
        return grown.bag.rows.astype(np.int32)
    return np.sort(grown.bag.rows[grown.bag.counts(tree) > 0]).astype(np.int32)


def grow_to_size(
    data: TrainingData,
    setting: Setting,
    n_trees: int,
    seed: int,
    options: SolverOptions,
    rows: NDArray[Any] | None = None,
    first_tree: int = 0,
) -> tuple[Grove, NDArray[np.int64]]:
    """Trees and their cut; leaves beyond the size limit go deeper, as far as questions tell rows apart."""
    depth = setting.max_depth
    while True:
        grove = grow(data, setting, n_trees, seed, options, rows, first_tree, depth)
        if setting.max_size is None:
            return grove, cut(grove.topology, setting.max_depth)
        sizes = grove.topology.sizes(grove.assigned, grove.bags)
        # Terminal nodes above the limit of depth cannot be split further.
        open_ends = grove.topology.terminal & (grove.topology.depth >= depth) & (sizes > setting.max_size)
        if not open_ends.any() or depth >= MAX_DEPTH:
            return grove, cut(grove.topology, setting.max_depth, setting.max_size, sizes)
        excess = sizes[open_ends].max() / setting.max_size
        depth = min(MAX_DEPTH, depth + max(2, int(np.ceil(np.log2(excess)))))


def fit_trees(
    data: TrainingData,
    setting: Setting,
    n_trees: int,
    seed: int,
    options: SolverOptions,
    rows: NDArray[Any] | None = None,
    first_tree: int = 0,
) -> tuple[CompositeModel, Grove]:
    """Composite trees under one setting; votes have equal weights."""
    grove, stop = grow_to_size(data, setting, n_trees, seed, options, rows, first_tree)
    sets = IndexSets(data.y, data.weight, data.n_classes)
    leaves = collect_leaves(grove.topology, stop, grove.assigned, grove.bags, sets)
    m = grove.sample_size(data)
    ids = np.unique(leaves.set_id[~sets.pure[leaves.set_id]])
    correct = np.zeros((len(sets), len(setting.degrees)))
    store = MachineStore()
    for chunk in train(
        data, sets, ids, np.array(setting.degrees), _column(setting.C), float(m.mean()), options
    ):
        correct[chunk.ids] = chunk.correct[:, :, 0]
        at = np.flatnonzero(np.isin(leaves.set_id, chunk.ids))
        store.keep(chunk, _wanted(data, setting, leaves, at, sets, correct, m, seed, first_tree))
    facts = _facts(data, setting, leaves, sets, correct, m, seed, first_tree, store)
    model = CompositeModel(grove.forest, leaves.of_node(stop), facts, store.predictor(), data.n_classes)
    return model, grove


def _column(C: tuple[float, ...]) -> Floats:
    return np.array(C, dtype=np.float64)[:, None]


def counts_table(setting: Setting, sets: IndexSets, set_id: NDArray[Any], correct: Floats) -> Floats:
    """Correct weight of every (leaf, offered degree)."""
    table = correct[set_id]
    if setting.constant_leaves:
        table = np.column_stack([sets.majority_total[set_id], table])
    return table


def terms_table(
    data: TrainingData,
    setting: Setting,
    leaves: Leaves,
    at: NDArray[Any],
    sets: IndexSets,
    correct: Floats,
    m: Floats,
    gamma_scale: float,
) -> Floats:
    """``T_k`` (2.11) of the leaves `at` for every offered degree; m is the tree's own."""
    table = counts_table(setting, sets, leaves.set_id[at], correct)
    terms = np.zeros_like(table)
    size = m[leaves.tree[at]]
    for value in np.unique(size):
        same = size == value
        cost = complexities(
            leaves.depth[at][same],
            setting.offered,
            m=value,
            n_features=data.n_features,
            n_questions=data.n_questions,
            max_features=setting.max_features,
            n_classes=data.n_classes,
        )
        total = sets.total[leaves.set_id[at][same]]
        terms[same] = leaf_terms(
            table[same], total, cost, m=value, n_classes=data.n_classes, gamma_scale=gamma_scale
        )
    return terms


def choose(
    setting: Setting, terms: Floats, leaves: Leaves, at: NDArray[Any], seed: int, first_tree: int = 0
) -> NDArray[np.intp]:
    """Column of the offered degrees for each of the leaves `at`."""
    tree = leaves.tree[at]
    if setting.selection == "exact" or terms.shape[1] == 1:
        return choose_exact(terms)
    if setting.selection == "random_degree":
        return choose_random_degree(terms.shape[1], tree + first_tree, leaves.code[at], seed)
    return choose_random_sequences(terms, tree, leaves.code[at], setting.n_sequences, seed, first_tree)


def _wanted(
    data: TrainingData,
    setting: Setting,
    leaves: Leaves,
    at: NDArray[Any],
    sets: IndexSets,
    correct: Floats,
    m: Floats,
    seed: int,
    first_tree: int,
) -> dict[int, set[int]]:
    """Machines of a chunk that the final choice may need: leafwise choices are final already."""
    zero = int(setting.constant_leaves)
    columns: list[NDArray[Any]]
    if setting.selection == "random_sequences" and len(setting.offered) > 1:
        tree, code = leaves.tree[at] + first_tree, leaves.code[at]
        n = len(setting.offered)
        columns = [keyed_below(n, seed, s, tree, code) for s in range(setting.n_sequences)]
    else:
        terms = terms_table(data, setting, leaves, at, sets, correct, m, setting.gamma_scale)
        columns = [choose(setting, terms, leaves, at, seed, first_tree)]
    wanted: dict[int, set[int]] = {}
    for drawn in columns:
        for set_id, column in zip(leaves.set_id[at].tolist(), drawn.tolist()):
            if column >= zero:
                wanted.setdefault(set_id, set()).add(column - zero)
    return wanted


def _facts(
    data: TrainingData,
    setting: Setting,
    leaves: Leaves,
    sets: IndexSets,
    correct: Floats,
    m: Floats,
    seed: int,
    first_tree: int,
    store: MachineStore,
) -> LeafFacts:
    """The final choice and what it costs, leaf by leaf."""
    n, zero = len(leaves), int(setting.constant_leaves)
    mixed = np.flatnonzero(~sets.pure[leaves.set_id])
    terms = terms_table(data, setting, leaves, mixed, sets, correct, m, setting.gamma_scale)
    column = choose(setting, terms, leaves, mixed, seed, first_tree)
    by_machine = column >= zero
    at = mixed[by_machine]
    place = column[by_machine] - zero
    machine = np.full(n, -1, dtype=np.int32)
    machine[at] = [store.number(s, p) for s, p in zip(leaves.set_id[at].tolist(), place.tolist())]
    constant = sets.majority[leaves.set_id].astype(np.int32)
    constant[at] = -1
    degree = np.zeros(n, dtype=np.int64)
    degree[at] = np.array(setting.degrees)[place]
    total = sets.total[leaves.set_id]
    C = np.zeros(n)
    C[at] = np.sqrt(total[at] / m.mean()) * np.array(setting.C)[place]  # theory.md (2.12)
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


__all__ = ["Chunk", "Grove", "Setting", "choose", "fit_trees", "grow", "grow_to_size", "terms_table"]
