"""One division of one data set: all composite methods over the whole grid, and what validation chooses.

From top to bottom: random divisions and the grid of r ([D-17], [D-18]); the *rules* by which leaves get their
degrees; one pass over the grid for one r; :class:`GridStudy`, which does it for every r and chooses.

A rule is one value on the axis that a method tunes beside r, depth and number of trees: a γ for RCF (exact
or by 10 random sequences), a common degree for RF-SVM, nothing for RF-SVM with random degrees. In a pass
trees are grown to the largest depth; at every depth each leaf's SVMs of all degrees are trained once and
predict once the validation and test rows that land in it; after that every rule only looks labels up, and
smaller forests are prefixes. So the test labels of the point that validation chooses are there already, and
nothing is refitted.

Parameters are those of smallest validation error. Ties, of which small validation parts have many, go to
more trees (less variance for the same choice), then to the shallower tree, the simpler rule (larger γ,
smaller degree) and the r nearest to √F.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from papers.protocol import Profile
from papers.readings import KERNELS, read_design
from papers.records import pack
from surewood._arrays import Counts, Floats
from surewood.composite.data import CompositeData, SolverOptions
from surewood.composite.degrees import LeafChoice
from surewood.composite.estimator import RandomCompositeForestClassifier
from surewood.composite.grid import HeldOut, feature_grid, part_of
from surewood.composite.growing import (
    Grove,
    IndexSets,
    Leaves,
    Setting,
    Topology,
    TreeRange,
    collect_leaves,
    cut,
    grow,
    mean_sample_size,
)
from surewood.composite.leaves import Chunk, errors_of_C, train_leaf_svms, tune_C
from surewood.svm.gram import Gram
from surewood.svm.one_vs_one import vote_counts
from surewood.svm.penalty import best_C
from surewood.tables import TrainingTable, begin_fit

TREES_PER_BATCH = 100
#: method -> selection of the composite forest
SELECTIONS = {
    "rcf": "exact",
    "rcf_sequences": "random_sequences",
    "rf_svm": "common_degree",
    "rf_svm_random": "random_degree",
}


@dataclass(frozen=True)
class Division:
    """Row numbers of the three parts, ascending."""

    train: Counts
    validation: Counts
    test: Counts

    @property
    def evaluated(self) -> Counts:
        """Validation rows, then test rows."""
        return np.concatenate([self.validation, self.test])


def divide(n_rows: int, seed: int, division: str = "60/20/20") -> Division:
    """60 % training, 20 % test (rounded up), the rest validation; not stratified.

    `division` has the percentages of training, validation and test part.

    Examples
    --------
    >>> parts = divide(528, 0)
    >>> len(parts.train), len(parts.validation), len(parts.test)
    (317, 105, 106)
    """
    order = np.random.default_rng(seed).permutation(n_rows)
    train_share, _, test_share = (float(part) / 100.0 for part in division.split("/"))
    n_test = math.ceil(test_share * n_rows - 1e-9)
    n_train = math.floor(train_share * n_rows + 0.5)
    test, train, rest = np.split(order, [n_test, n_test + n_train])
    return Division(np.sort(train), np.sort(rest), np.sort(test))


def divide_official(split: NDArray[Any], validation: float, seed: int) -> Division:
    """The official test part, and a random fraction of the official training part for validation.

    Examples
    --------
    >>> parts = divide_official(np.array(["train"] * 8 + ["test"] * 3), 0.25, 0)
    >>> len(parts.train), len(parts.validation), parts.test.tolist()
    (6, 2, [8, 9, 10])
    """
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(split == "train"))
    n_validation = math.floor(validation * len(rows) + 0.5)
    held, train = np.split(rows, [n_validation])
    return Division(np.sort(train), np.sort(held), np.flatnonzero(split == "test"))


def thinned_features(n_features: int, every: int) -> tuple[int, ...]:
    """The paper's grid of r, or every second, third, ... value of it, counted from √F outwards.

    Examples
    --------
    >>> thinned_features(60, 1), thinned_features(60, 2)
    ((1, 4, 8, 15, 31, 60), (1, 8, 31))
    """
    grid = feature_grid(n_features)
    middle = grid.index(max(1, math.floor(math.sqrt(n_features) + 0.5)))
    return tuple(r for k, r in enumerate(grid) if (k - middle) % every == 0)


@dataclass(frozen=True)
class Rule:
    """A method with a value of γ or a common degree (None: it has neither)."""

    method: str
    value: float | None

    def setting(self, base: Setting) -> Setting:
        """The setting of a forest that follows this rule."""
        selection = SELECTIONS[self.method]
        if selection == "common_degree":
            assert self.value is not None
            k = base.degrees.index(int(self.value))
            degrees, C = (base.degrees[k],), (base.C[k],)
            return replace(base, selection="exact", degrees=degrees, C=C, constant_leaves=False)
        gamma = base.gamma_scale if self.value is None else self.value
        return replace(base, selection=selection, gamma_scale=gamma)

    def columns(self, choice: LeafChoice, at: NDArray[Any], correct: NDArray[np.float64]) -> NDArray[np.intp]:
        """Place on the list of degrees that each of the leaves `at` takes; -1 for a constant."""
        if SELECTIONS[self.method] == "common_degree":
            assert self.value is not None
            return np.full(len(at), choice.setting.degrees.index(int(self.value)), dtype=np.intp)
        column = replace(choice, setting=self.setting(choice.setting)).columns(at, correct)
        return column - int(choice.setting.constant_leaves)

    def chosen(self) -> Mapping[str, float]:
        """The value by its name."""
        if self.value is None:
            return {}
        if SELECTIONS[self.method] == "common_degree":
            return {"degree": int(self.value)}
        return {"gamma": self.value}


def rules_of(methods: Sequence[str], gammas: Sequence[float], degrees: Sequence[int]) -> list[Rule]:
    """All rules of some methods; of one method in the order of preference on ties (simplest first)."""
    rules: list[Rule] = []
    for method in methods:
        selection = SELECTIONS[method]
        if selection == "common_degree":
            rules += [Rule(method, float(d)) for d in sorted(degrees)]
        elif selection == "random_degree":
            rules.append(Rule(method, None))
        else:
            rules += [Rule(method, float(g)) for g in sorted(gammas, reverse=True)]
    return rules


@dataclass(frozen=True)
class GridAxes:
    """Depths, rules and numbers of trees (ascending)."""

    depths: tuple[int, ...]
    rules: tuple[Rule, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class GridOutcome:
    """What one pass found, arrays of shape (depths, rules, sizes) first.

    Attributes
    ----------
    labels : ndarray of int16, shape (depths, rules, sizes, rows)
        The forests' labels of the evaluated rows.
    active : ndarray of float64
        Fraction of the leaves with SVMs whose complexity penalty is active.
    degree : ndarray of float64
        Mean degree of the leaves with SVMs.
    """

    labels: NDArray[np.int16]
    active: Floats
    degree: Floats


@dataclass(frozen=True)
class GridPass:
    """One pass: rows to train on and to evaluate, the grid, and how trees are grown for one r."""

    data: CompositeData
    held: HeldOut
    axes: GridAxes
    setting: Setting
    seed: int
    #: Whether leaves vote with the fractions of pairs that classes win, not with a label.
    soft: bool = False
    #: Numbers of the rows to train on and to evaluate, where splits are found between any two of them.
    numbers: tuple[Floats, Floats] | None = None


def walk(one: GridPass) -> GridOutcome:
    """Labels of all points of the grid for the setting's r."""
    data, held, axes = one.data, one.held, one.axes
    shape = (len(axes.depths), len(axes.rules), len(axes.sizes))
    labels = np.zeros((*shape, len(held.y)), dtype=np.int16)
    votes = np.zeros((*shape[:2], len(held.y), data.n_classes))
    sums = np.zeros((3, *shape[:2]))  # leaves with SVMs, active ones, sum of degrees
    active, degree = np.zeros(shape), np.zeros(shape)
    done = 0
    for k, size in enumerate(axes.sizes):
        while done < size:
            count = min(size - done, TREES_PER_BATCH)
            _add_batch(one, (done, count), votes, sums)
            done += count
        labels[:, :, k] = votes.argmax(axis=3)
        counted = np.maximum(sums[0], 1.0)
        active[:, :, k], degree[:, :, k] = sums[1] / counted, sums[2] / counted
    return GridOutcome(labels, active, degree)


@dataclass(frozen=True)
class _View:
    """The trees of a batch cut at one depth: leaves, and the leaf of every evaluated row in every tree."""

    leaves: Leaves
    leaf: NDArray[np.int32]

    def sets(self) -> NDArray[np.int64]:
        return self.leaves.set_id[self.leaf]


def _add_batch(one: GridPass, batch: tuple[int, int], votes: Floats, sums: Floats) -> None:
    """Grow some trees, train and predict with their SVMs, add the votes of every rule."""
    data, held, axes = one.data, one.held, one.axes
    setting, seed, n_jobs = one.setting, one.seed, data.options.n_jobs
    first, count = batch
    trees = TreeRange(count, seed, first)
    if one.numbers is None:
        grove = grow(data, setting, trees, max(axes.depths))
        nodes: NDArray[Any] = grove.forest.apply(held.matrix, n_jobs=n_jobs)
        m = mean_sample_size(data, setting, max(axes.sizes), seed, 0)  # of all trees, not of a batch
    else:
        grove, nodes = grow_exact(data, setting, trees, max(axes.depths), one.numbers)
        m = float(grove.sample_size(data).mean())
    sets = IndexSets(data.y, data.weight, data.n_classes)
    views = _views(grove, nodes, axes, sets)
    answers = _ask(data, held, sets, views, setting, m, one.soft)
    for d, view in enumerate(views):
        choice = LeafChoice(data, setting, view.leaves, sets, grove.sample_size(data), seed, first)
        mixed = np.flatnonzero(~sets.pure[view.leaves.set_id])
        majority = sets.majority[view.sets()].astype(np.int16)
        pairs = answers.pair_of(view)
        for g, rule in enumerate(axes.rules):
            column = rule.columns(choice, mixed, answers.correct)
            _tally(rule, choice, mixed, column, answers.correct, sums[:, d, g])
            of_leaf = np.full(len(view.leaves), -1, dtype=np.int64)
            of_leaf[mixed] = column
            place = of_leaf[view.leaf]
            has_svm, column = place >= 0, np.maximum(place, 0)
            if answers.fractions is None:
                labels = np.where(has_svm, answers.labels[pairs, column], majority)
                votes[d, g] += vote_counts(labels, data.n_classes)
                continue
            for tree in range(place.shape[1]):
                at = has_svm[:, tree]
                votes[d, g, at] += answers.fractions[pairs[at, tree], column[at, tree]]
                votes[d, g, ~at, majority[~at, tree]] += 1.0


def grow_exact(
    data: CompositeData, setting: Setting, trees: TreeRange, depth: int, numbers: tuple[Floats, Floats]
) -> tuple[Grove, NDArray[np.int64]]:
    """Trees with thresholds between any two values, and the node of every evaluated row in every tree.

    scikit-learn grows them: the library's own engine has at most 255 bins per column.
    """
    train, evaluated = numbers
    tables, bags, assigned, nodes = [], [], [], []
    for tree in range(trees.first_tree, trees.first_tree + trees.n_trees):
        rng = np.random.default_rng([trees.seed, tree])
        drawn = np.ones(data.n_rows, dtype=np.int64)
        if setting.sampling == "bootstrap":
            drawn = np.bincount(rng.integers(data.n_rows, size=data.n_rows), minlength=data.n_rows)
        grown = DecisionTreeClassifier(
            criterion="entropy",
            max_depth=depth,
            max_features=setting.max_features,
            random_state=int(rng.integers(2**31)),
        ).fit(train, data.y, sample_weight=drawn if data.weight is None else drawn * data.weight)
        left, right = grown.tree_.children_left, grown.tree_.children_right
        parent, level = np.full(len(left), -1), np.zeros(len(left), dtype=np.int64)
        for node in np.flatnonzero(left >= 0):  # parents come before their children
            parent[[left[node], right[node]]] = node
            level[[left[node], right[node]]] = level[node] + 1
        tables.append({"parent": parent, "left": left, "depth": level})
        bags.append(np.flatnonzero(drawn).astype(np.int32))
        assigned.append(grown.apply(train))
        nodes.append(grown.apply(evaluated))
    grove = Grove(
        cast(Any, None),  # what the engine grew: nothing
        Topology.of_tables(tables),
        np.column_stack(assigned).astype(np.uint32),
        bags,
    )
    return grove, np.column_stack(nodes)


def _views(grove: Grove, nodes: NDArray[Any], axes: GridAxes, sets: IndexSets) -> list[_View]:
    nodes = nodes.astype(np.int64) + grove.topology.start[:-1]
    known: dict[int, int] = {}
    views = []
    for depth in axes.depths:
        stop = cut(grove.topology, depth)
        leaves = collect_leaves(grove, stop, sets, known)
        views.append(_View(leaves, leaves.of_node(stop)[nodes]))
    return views


def _tally(
    rule: Rule,
    choice: LeafChoice,
    at: NDArray[Any],
    column: NDArray[np.intp],
    correct: Floats,
    sums: Floats,
) -> None:
    """Count leaves with SVMs, those with an active complexity penalty (§2.9), and their degrees."""
    sums[0] += len(at)
    sums[2] += np.array((*choice.setting.degrees, 0))[column].sum()  # the last entry is for -1, a constant
    if rule.method in ("rcf", "rcf_sequences"):
        own = LeafChoice(
            choice.data, rule.setting(choice.setting), choice.leaves, choice.sets, choice.m, choice.seed
        )
        zero = int(choice.setting.constant_leaves)
        terms = own.terms(at, correct)[np.arange(len(at)), column + zero]
        total = choice.sets.total[choice.leaves.set_id[at]]
        sums[1] += np.count_nonzero(terms < total * (1.0 - 1e-12))


@dataclass(frozen=True)
class _Answers:
    """Labels of (evaluated row, set) pairs by the SVMs of every degree, and counts of the sets.

    `key` ascending: row * number of sets + set; `labels` (pairs, degrees); `correct` (sets, degrees);
    `fractions` (pairs, degrees, classes), of pairs of classes that each class wins, or None.
    """

    key: NDArray[np.int64]
    labels: NDArray[np.int16]
    correct: Floats
    fractions: NDArray[np.float32] | None

    def pair_of(self, view: _View) -> NDArray[np.intp]:
        """Number of the pair of every (row, tree)."""
        return np.searchsorted(self.key, _keys(view, len(self.correct)))


def _keys(view: _View, n_sets: int) -> NDArray[np.int64]:
    return np.arange(len(view.leaf))[:, None] * n_sets + view.sets()


def _ask(
    data: CompositeData,
    held: HeldOut,
    sets: IndexSets,
    views: list[_View],
    setting: Setting,
    m: float,
    soft: bool,
) -> _Answers:
    """Train every set of several classes for every degree; ask about the rows that land in it."""
    n_sets, n_degrees = len(sets), len(setting.degrees)
    key = np.unique(np.concatenate([np.unique(_keys(view, n_sets)) for view in views]))
    labels = np.full((len(key), n_degrees), -1, dtype=np.int16)
    correct = np.zeros((n_sets, n_degrees))
    fractions = np.zeros((len(key), n_degrees, data.n_classes), dtype=np.float32) if soft else None
    boxes = np.array(setting.C)[:, None]
    used = np.unique(np.concatenate([view.leaves.set_id for view in views]))
    ids = used[~sets.pure[used]]
    row_of, set_of = np.divmod(key, n_sets)
    for chunk in train_leaf_svms(data, sets, ids, np.array(setting.degrees), boxes, m):
        correct[chunk.ids] = chunk.correct[:, :, 0]
        place = np.full(n_sets, -1, dtype=np.int64)
        place[chunk.ids] = np.arange(len(chunk.ids))
        at = np.flatnonzero(place[set_of] >= 0)
        if len(at):
            group = place[set_of[at]]
            labels[at] = _chunk_labels(chunk, held, row_of[at], group, n_degrees, data.options.n_jobs)
            if fractions is not None:
                predictor, design = chunk.svms.predictor(), held.design[row_of[at]]
                for k in range(n_degrees):
                    assign = (group * n_degrees + k)[:, None].astype(np.int32)
                    fractions[at, k] = predictor.vote_fractions(
                        design, assign, n_classes=data.n_classes, n_jobs=data.options.n_jobs
                    )
    return _Answers(key, labels, correct, fractions)


def _chunk_labels(
    chunk: Chunk,
    held: HeldOut,
    row: NDArray[np.int64],
    group: NDArray[np.int64],
    n_degrees: int,
    n_jobs: int | None,
) -> NDArray[np.int16]:
    """Labels of pairs (row ascending, machine group) by all degrees: one product serves them all."""
    rows, start, counts = np.unique(row, return_index=True, return_counts=True)
    slot = np.arange(len(row)) - np.repeat(start, counts)
    own = np.repeat(np.arange(len(rows)), counts)
    assign = np.full((len(rows), int(counts.max()), n_degrees), -1, dtype=np.int32)
    assign[own, slot] = group[:, None] * n_degrees + np.arange(n_degrees)
    codes = chunk.svms.predictor().predict(held.design[rows], assign.reshape(len(rows), -1), n_jobs=n_jobs)
    return codes.reshape(assign.shape)[own, slot].astype(np.int16)


@dataclass(frozen=True)
class Point:
    """A chosen point of the grid and how it did."""

    rule: Rule
    max_features: int
    depth: int
    n_trees: int
    validation_error: float
    test_error: float
    active_leaves: float
    mean_degree: float

    def chosen(self) -> dict[str, Any]:
        """The parameters by name."""
        return {"r": self.max_features, "depth": self.depth, "trees": self.n_trees, **self.rule.chosen()}


class GridStudy:
    """Prepared parts of one division, C of every degree, and the outcome of the pass for every r.

    Parameters
    ----------
    X, y : table and labels
    division : Division
    profile : Profile
    dataset : str
        Whose sizes of the profile hold.
    methods : sequence of str
        Composite methods.
    seed : int
    n_jobs : int
    say : callable
    """

    def __init__(
        self,
        X: pd.DataFrame,
        y: pd.Series,
        division: Division,
        profile: Profile,
        dataset: str,
        methods: Sequence[str],
        seed: int,
        n_jobs: int = 1,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._division, self._seed, self._readings = division, seed, profile.readings
        self._options = SolverOptions(n_jobs=n_jobs, kernel=KERNELS[profile.readings.kernel])
        self._inputs: TrainingTable = begin_fit(RandomCompositeForestClassifier.paper(), X, y, merge=False)
        degrees = tuple(int(d) for d in profile.get("degrees"))
        gammas = profile.get("gammas")
        self.axes = GridAxes(
            tuple(profile.get("depths", dataset)),
            tuple(rules_of(methods, gammas, degrees)),
            tuple(profile.get("trees", dataset)),
        )
        self.features = thinned_features(X.shape[1], int(profile.get("every_r", dataset)))
        data, held, numbers = self._parts(division.train, division.evaluated)
        say("C of every degree")
        self.C = self._boxes(data, held, degrees, tuple(profile.get("C")), str(profile.get("choose_C")))
        self._base = Setting(
            max_depth=max(self.axes.depths),
            max_features=1,
            degrees=degrees,
            C=self.C,
            gamma_scale=1.0,
            constant_leaves=bool(profile.get("constant_leaves")),
            growth=self._readings.growth,
            sampling="all" if self._readings.bagging == "none" else self._readings.bagging,
        )
        self._y = held.y
        self._soft = self._readings.leaf_scores == "votes"
        self.outcomes: list[GridOutcome] = []
        for r in self.features:
            say(f"r = {r}")
            setting = replace(self._base, max_features=r)
            one = GridPass(data, held, self.axes, setting, seed, self._soft, numbers)
            self.outcomes.append(walk(one))

    def _parts(
        self, rows: NDArray[Any], held: NDArray[Any]
    ) -> tuple[CompositeData, HeldOut, tuple[Floats, Floats] | None]:
        """Rows to train on, rows to evaluate, and the numbers of both where thresholds are exact."""
        data, evaluated = part_of(self._inputs, (rows, held), self._options)
        readings = self._readings
        table, other_table = data.inputs.table, self._inputs.table.take(held)
        numbers = None
        if readings.thresholds == "exact":
            numbers = (table.columns(0, table.n_columns), other_table.columns(0, table.n_columns))
        if readings.scaling != "standardised":
            design, other = read_design(readings, table, [table, other_table], data.weight)
            data = replace(data, gram=Gram(design, n_jobs=self._options.n_jobs))
            evaluated = replace(evaluated, design=other)
        return data, evaluated, numbers

    def _boxes(
        self,
        data: CompositeData,
        held: HeldOut,
        degrees: tuple[int, ...],
        C_grid: tuple[float, ...],
        how: str,
    ) -> tuple[float, ...]:
        """C of every degree ([D-12])."""
        if how == "cv":
            return tune_C(data, degrees, self._seed, C_grid)[0]
        n = len(self._division.validation)
        rows = np.arange(data.n_rows, dtype=np.int32)
        fold = rows, (held.design[:n], held.y[:n], None)
        errors = errors_of_C(data, [fold], degrees, C_grid)
        return tuple(best_C(errors, C_grid).tolist())

    def _rules(self, method: str) -> list[int]:
        return [g for g, rule in enumerate(self.axes.rules) if rule.method == method]

    def errors(self, method: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of validation and test errors of a method, shape (r, depths, rules, sizes)."""
        n = len(self._division.validation)
        labels = np.stack([outcome.labels[:, self._rules(method)] for outcome in self.outcomes])
        wrong = labels != self._y
        return wrong[..., :n].sum(axis=-1), wrong[..., n:].sum(axis=-1)

    def packed(self, method: str) -> dict[str, Any]:
        """The same for a record."""
        names = {
            "r": self.features,
            "depth": self.axes.depths,
            "rule": [self.axes.rules[g].value for g in self._rules(method)],
            "trees": self.axes.sizes,
        }
        return pack(names, *self.errors(method))

    def choose(self, method: str) -> Point:
        """The point of a method with the smallest validation error."""
        validation, test = self.errors(method)
        f, d, g, b = preferred(validation, self.features, self._inputs.table.n_columns)
        outcome, rule = self.outcomes[f], self._rules(method)[g]
        parts = self._division
        return Point(
            rule=self.axes.rules[rule],
            max_features=self.features[f],
            depth=self.axes.depths[d],
            n_trees=self.axes.sizes[b],
            validation_error=float(validation[f, d, g, b]) / len(parts.validation),
            test_error=float(test[f, d, g, b]) / len(parts.test),
            active_leaves=float(outcome.active[d, rule, b]),
            mean_degree=float(outcome.degree[d, rule, b]),
        )

    def refitted_error(self, point: Point) -> float:
        """Test error of the chosen point fitted to the training and validation part together."""
        parts = self._division
        rows = np.sort(np.concatenate([parts.train, parts.validation]))
        data, held, numbers = self._parts(rows, parts.test)
        axes = GridAxes((point.depth,), (point.rule,), (point.n_trees,))
        setting = replace(self._base, max_features=point.max_features, max_depth=point.depth)
        one = GridPass(data, held, axes, setting, self._seed, self._soft, numbers)
        return float((walk(one).labels[0, 0, 0] != held.y).mean())


def preferred(errors: NDArray[Any], features: Sequence[int], n_columns: int) -> tuple[int, ...]:
    """Index (r, depth, rule, size) of the smallest error, ties as above.

    Examples
    --------
    >>> preferred(np.zeros((3, 2, 1, 2)), [1, 4, 16], 16)
    (1, 0, 0, 1)
    """

    def preference(at: tuple[int, ...]) -> tuple[float, ...]:
        f, d, g, b = at
        return (-b, d, g, abs(math.log(features[f]) - 0.5 * math.log(n_columns)), f)

    tied = [tuple(at) for at in np.argwhere(errors <= errors.min() + 1e-12).tolist()]
    return min(tied, key=preference)
