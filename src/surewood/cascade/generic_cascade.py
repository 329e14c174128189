r"""Cascades of any families of classifiers and splits: the generic algorithm (theory.md §3.5).

*The search* finds the exact minimum of (3.6) over leaves, fractions, leaf families and split families. For
one fraction μ the subsets S_k depend on the split families alone, and a leaf's classifier on its own points
alone. So the score is a sum: for a given sequence of splits every leaf takes its own best family. The search
(`GenericSearch`) runs over sequences of splits as a tree of prefixes, pruned by (3.9), with every member
fitted once (`GenericTree`). Ties go to the first cascade in the order of the printed loops: fewer leaves,
earlier fraction, then lexicographically smaller (H_1, ..., H_l), then (Q_1, ..., Q_{l-1}).

Then *training* (`make_generic_plan`, `train_generic`) and *the fitted model* (`GenericCascade`,
`GenericModel`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from surewood._arrays import AnyArray, Codes, Counts, Floats, check_number
from surewood.base.describing import Facts, figure
from surewood.base.parameters import calibration_method
from surewood.bounds.evidence import EstimateEvidence, Evidence
from surewood.cascade.chain import Rows, as_fractions, divide
from surewood.cascade.data import CascadeData, Folds, encoded, varies
from surewood.cascade.model import Detail, LeafCalibrator, explained_rows, path_step, penalty_figure
from surewood.cascade.plan import calibration_folds, read_gamma
from surewood.cascade.search import tie
from surewood.families import ConstantMember, Families, Family, Member, as_families
from surewood.tables import DesignEncoder, Table, by_label, plain


def complexity_factor(n_classes: int) -> float:
    """4 for two classes (3.6), 8c for more: the theorem of composite trees with one-hot leaves (2.2)."""
    return 4.0 if n_classes <= 2 else 8.0 * n_classes


# --- the search --------------------------------------------------------------------------------------------


class GenericPath(NamedTuple):
    """A cascade by its places on the lists; compares as ties are broken."""

    n_leaves: int
    fraction: int
    leaves: tuple[int, ...]
    splits: tuple[int, ...]


@dataclass(frozen=True)
class GenericResult:
    """The best cascade: its score in counts, and its leaves' counts and complexities."""

    path: GenericPath
    score: float
    plus: Floats
    minus: Floats
    complexity: Floats
    n_fitted: int = 0
    n_pruned: int = 0
    n_cascades: int = 0


class SplitRule(NamedTuple):
    """A member that orders points, and the value up to which they go on."""

    member: Member
    threshold: float


#: Family, correct weight, wrong weight and complexity of a leaf.
Leaf: TypeAlias = tuple[int, float, float, float]


@dataclass
class GenericTree:
    """Members fitted on subsets of one sample, each once."""

    X: Floats
    codes: Codes
    weight: Floats
    n_classes: int
    leaf_families: Sequence[Family]
    split_families: Sequence[Family]
    n_fitted: int = 0
    _leaves: dict[tuple[bytes, int], Member] = field(default_factory=dict)
    _splits: dict[tuple[bytes, int], tuple[Member, Floats]] = field(default_factory=dict)

    def leaf(self, rows: Rows, family: int) -> Member:
        """The member of a leaf family on a leaf's points."""
        key = (rows.tobytes(), family)
        if key not in self._leaves:
            self._leaves[key] = self._fit(self.leaf_families[family], rows)
        return self._leaves[key]

    def best_leaf(self, rows: Rows, cost: float, complexity: Floats, scale: float) -> tuple[Leaf, float]:
        """The cheapest leaf here, and its term; ties go to the earlier family.

        `cost` is the complexity of the splits above, `complexity` that of each leaf family.
        """
        codes, weight = self.codes[rows], self.weight[rows]
        size, best, lowest = float(weight.sum()), None, np.inf
        for family in range(len(complexity)):
            whole = cost + float(complexity[family])
            charge = scale * whole
            if best is not None and min(charge, size) >= lowest - tie(lowest):
                continue  # even without an error this family would not be cheaper
            predicted = self.leaf(rows, family).scores(self.X[rows]).argmax(axis=1)
            plus = float(weight[predicted == codes].sum())
            term = (size - plus) + min(charge, plus)
            if best is None or term < lowest - tie(lowest):
                best, lowest = (family, plus, size - plus, whole), term
        assert best is not None
        return best, lowest

    def divide(self, rows: Rows, family: int, fraction: Fraction) -> tuple[SplitRule, Rows, Rows] | None:
        """Split, points that stay and points that go on; None when either part would be empty."""
        key = (rows.tobytes(), family)
        if key not in self._splits:
            member = self._fit(self.split_families[family], rows)
            values = np.zeros(len(rows)) if isinstance(member, ConstantMember) else member.order(self.X[rows])
            self._splits[key] = (member, values)
        member, values = self._splits[key]
        divided = divide(values, self.weight[rows], fraction)
        if divided is None:
            return None
        goes_on, threshold = divided
        return SplitRule(member, threshold), rows[~goes_on], rows[goes_on]

    def _fit(self, family: Family, rows: Rows) -> Member:
        codes, weight = self.codes[rows], self.weight[rows]
        self.n_fitted += 1
        X = np.ascontiguousarray(self.X[rows])
        if (codes == codes[0]).all() or not varies(X):  # a constant is all that can be learned
            return ConstantMember.of(codes, weight, self.n_classes)
        return family.fit(X, codes, weight, self.n_classes)


@dataclass(frozen=True)
class _Prefix:
    """The beginning of a cascade with `n_leaves` leaves: what it has collected, and the rows that go on."""

    n_leaves: int
    fraction: int
    rows: Rows
    collected: float = 0.0
    splits: tuple[int, ...] = ()
    cost: float = 0.0
    leaves: tuple[Leaf, ...] = ()


class GenericSearch:
    """Branch and bound over the cascades of a tree.

    Parameters
    ----------
    tree : GenericTree
    fractions : sequence of Fraction
    max_leaves : int
    scale : float
        4γm, or 8cγm with more than two classes (§2.2).
    leaf_complexity, split_complexity : ndarray
        Rademacher complexities of the families on the whole sample.
    """

    def __init__(
        self,
        tree: GenericTree,
        fractions: Sequence[Fraction],
        max_leaves: int,
        scale: float,
        leaf_complexity: Floats,
        split_complexity: Floats,
    ) -> None:
        self.tree, self.max_leaves, self.scale = tree, max_leaves, scale
        self.fractions = tuple(fraction for fraction in fractions if fraction < 1)
        self.a, self.q = leaf_complexity, split_complexity
        self.best: GenericResult | None = None
        self.n_pruned = 0

    def run(self) -> GenericResult:
        """The exact minimizer."""
        rows = np.arange(len(self.tree.codes), dtype=np.int32)
        self._finish(_Prefix(1, 0, rows))
        for n_leaves in range(2, self.max_leaves + 1):
            for fraction in range(len(self.fractions)):
                self._extend(_Prefix(n_leaves, fraction, rows))
        assert self.best is not None
        h, q = len(self.a), len(self.q)
        sizes = (len(self.fractions) * h**n * q ** (n - 1) for n in range(2, self.max_leaves + 1))
        return replace(
            self.best, n_fitted=self.tree.n_fitted, n_pruned=self.n_pruned, n_cascades=h + sum(sizes)
        )

    def _extend(self, prefix: _Prefix) -> None:
        """All cascades that continue a prefix."""
        if len(prefix.splits) == prefix.n_leaves - 1:
            self._finish(prefix)
            return
        for family in self._open_splits(prefix):
            divided = self.tree.divide(prefix.rows, family, self.fractions[prefix.fraction])
            if divided is None:
                continue
            _, stay, go_on = divided
            cost = prefix.cost + float(self.q[family])
            leaf, term = self.tree.best_leaf(stay, cost, self.a, self.scale)
            longer = replace(
                prefix,
                rows=go_on,
                collected=prefix.collected + term,
                splits=(*prefix.splits, family),
                cost=cost,
                leaves=(*prefix.leaves, leaf),
            )
            self._extend(longer)

    def _open_splits(self, prefix: _Prefix) -> Iterator[int]:
        """Split families that may still lead to a better cascade, by (3.9)."""
        size, smallest = float(self.tree.weight[prefix.rows].sum()), float(self.a.min())
        for family in range(len(self.q)):
            cost = prefix.cost + float(self.q[family])
            bound = prefix.collected + min(size, self.scale * (cost + smallest))
            best = self.best
            assert best is not None
            later = (prefix.n_leaves, prefix.fraction) > best.path[:2]
            if bound > best.score + tie(best.score) or (later and bound >= best.score - tie(best.score)):
                self.n_pruned += 1
            else:
                yield family

    def _finish(self, prefix: _Prefix) -> None:
        leaf, term = self.tree.best_leaf(prefix.rows, prefix.cost, self.a, self.scale)
        leaves = [*prefix.leaves, leaf]
        families = tuple(leaf[0] for leaf in leaves)
        path = GenericPath(prefix.n_leaves, prefix.fraction, families, prefix.splits)
        score = prefix.collected + term
        best = self.best
        if best is not None:
            eps = tie(best.score)
            if score > best.score + eps or (score >= best.score - eps and path > best.path):
                return
        columns = np.array([leaf[1:] for leaf in leaves]).T
        self.best = GenericResult(path, score, columns[0], columns[1], columns[2])


# --- training ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GenericPlan:
    """Everything a fit needs to know besides the sample; see `DeepCascadeClassifier`."""

    leaves: Families
    splits: Families
    max_leaves: int
    fractions: tuple[Fraction, ...]
    gamma_scale: float
    calibration: str | None
    calibration_folds: Folds


def make_generic_plan(parameters: Mapping[str, Any], data: CascadeData, seed: int) -> GenericPlan:
    """The plan of a `DeepCascadeClassifier`."""
    leaves, splits = (as_families(name, parameters[name]) for name in ("leaves", "splits"))
    if not leaves:
        raise ValueError("leaves is empty: a cascade needs at least one family of classifiers.")
    for family in splits:
        if not family.can_order:
            raise ValueError(
                f"{type(family).__name__} cannot order points, so it cannot split; offer it for leaves only."
            )
    return GenericPlan(
        leaves=leaves,
        splits=splits,
        max_leaves=int(parameters["max_leaves"]),
        fractions=as_fractions(parameters["fractions"]),
        gamma_scale=read_gamma(parameters["gamma_scale"]),
        calibration=calibration_method(parameters["calibrate"]),
        calibration_folds=calibration_folds(data, seed),
    )


def train_generic(plan: GenericPlan, data: CascadeData) -> GenericModel:
    """Find and fit the best cascade."""
    design, n_classes = data.design, data.n_classes
    result = GenericSearch(
        GenericTree(design, data.codes, data.weight, n_classes, plan.leaves, plan.splits),
        plan.fractions,
        plan.max_leaves if plan.splits else 1,
        complexity_factor(n_classes) * plan.gamma_scale * data.total,
        np.array([family.rademacher(design, n_classes) for family in plan.leaves]),
        np.array([family.split_rademacher(design, n_classes) for family in plan.splits]),
    ).run()
    leaves = tuple(plan.leaves[f] for f in result.path.leaves)
    splits = tuple(plan.splits[f] for f in result.path.splits)
    fraction = plan.fractions[result.path.fraction] if splits else None
    cascade = build_generic(data, leaves, splits, fraction, np.arange(len(data.codes)))
    held_out = np.zeros((len(data.codes), n_classes))
    held_out_leaf = np.zeros(len(data.codes), dtype=np.int64)
    for training_rows, rows in plan.calibration_folds:
        fold_cascade = build_generic(data, leaves, splits, fraction, training_rows)
        held_out[rows], held_out_leaf[rows] = fold_cascade.evaluate(design[rows])
    calibrator = None
    if plan.calibration is not None:
        calibrator = LeafCalibrator(plan.calibration)
        calibrator.fit(held_out, data.codes, data.weight, held_out_leaf)
    return GenericModel(
        cascade=cascade,
        search=result,
        leaf_families=leaves,
        split_families=splits,
        gamma_scale=plan.gamma_scale,
        held_out=held_out,
        held_out_error=float(data.weight @ (held_out.argmax(axis=1) != data.codes) / data.total),
        classes=data.classes,
        encoder=data.encoder,
        calibrator=calibrator,
    )


def build_generic(
    sample: CascadeData,
    leaves: Sequence[Family],
    splits: Sequence[Family],
    fraction: Fraction | None,
    part: AnyArray,
) -> GenericCascade:
    """Fit the chain of chosen families on some rows; it ends early where no split divides the points."""
    tree = GenericTree(sample.design, sample.codes, sample.weight, sample.n_classes, leaves, splits)
    rows = part.astype(np.int32)
    rules: list[SplitRule] = []
    members: list[Member] = []
    for k in range(len(splits)):
        divided = None if fraction is None else tree.divide(rows, k, fraction)
        if divided is None:
            break
        rule, stay, rows = divided
        rules.append(rule)
        members.append(tree.leaf(stay, k))
    # A chain that ends early keeps the most complex classifier it was to have, that of its last leaf.
    members.append(tree.leaf(rows, len(leaves) - 1))
    return GenericCascade(tuple(rules), tuple(members), sample.n_classes)


# --- the fitted model --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GenericCascade:
    """A fitted chain: the split of every node but the last, and the leaves' classifiers."""

    splits: Sequence[SplitRule]
    leaves: Sequence[Member]
    n_classes: int

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        check_number("n_classes", self.n_classes, 1, 65535, whole=True)

    def check_members(self, n_columns: int) -> None:
        """Refuse classifiers of other columns or classes, by trying each of them on a row."""
        row = np.zeros((1, n_columns))
        members = (*self.leaves, *(split.member for split in self.splits))
        for member in (part for whole in members for part in whole.parts):
            scores = np.asarray(member.scores(row))
            features = np.asarray(getattr(member, "feature", 0))
            if scores.shape != (1, self.n_classes) or features.max(initial=0) >= max(n_columns, 1):
                raise ValueError("the classifiers of a cascade have other columns or classes.")
            if not np.isfinite(scores).all():
                raise ValueError("the scores of a classifier must be finite.")

    def evaluate(self, design: Floats) -> tuple[Floats, Counts]:
        """Scores per class and leaf of every row."""
        scores = np.zeros((len(design), self.n_classes))
        leaf = np.zeros(len(design), dtype=np.int64)
        here = np.arange(len(design))
        for k, member in enumerate(self.leaves):
            stay = here
            if k < len(self.splits) and len(here):
                split = self.splits[k]
                goes_on = split.member.order(design[here]) <= split.threshold
                stay, here = here[~goes_on], here[goes_on]
            if len(stay):
                scores[stay], leaf[stay] = member.scores(design[stay]), k
        return scores, leaf


@dataclass(frozen=True)
class GenericModel:
    """A fitted cascade of any families. Everything here was recorded by ``fit`` [D-37]."""

    cascade: GenericCascade
    search: GenericResult
    #: The chosen ones, node by node.
    leaf_families: Families
    split_families: Families
    gamma_scale: float
    #: Scores of training rows by cascades of the chosen families that did not see them.
    held_out: Floats
    held_out_error: float
    #: Labels by class code.
    classes: AnyArray
    encoder: DesignEncoder
    calibrator: LeafCalibrator | None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.cascade.n_classes != len(self.classes):
            raise ValueError("a cascade has as many classes as labels.")
        self.cascade.check_members(self.encoder.n_columns_)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def is_calibrated(self) -> bool:
        return self.calibrator is not None

    def probabilities(self, rows: Table, n_jobs: int | None) -> Floats:
        """Calibrated class probabilities; `n_jobs` does nothing."""
        if self.calibrator is None:
            raise AttributeError("this cascade was fitted with calibrate=False: it has no probabilities.")
        return self.calibrator.transform(*self.evaluate(rows))

    def evaluate(self, rows: Table) -> tuple[Floats, Counts]:
        """Scores per class and leaf of every row."""
        return self.cascade.evaluate(encoded(self.encoder, rows))

    def family_of_leaf(self, leaf: int) -> Family:
        """Family of a leaf's classifier; a chain that ended early keeps that of its last leaf."""
        return self.leaf_families[-1] if leaf + 1 == len(self.cascade.leaves) else self.leaf_families[leaf]

    def ledger(self) -> pd.DataFrame:
        """One row per leaf, with the terms of the criterion (3.6)."""
        result = self.search
        total = float(result.plus.sum() + result.minus.sum())
        charge = complexity_factor(self.n_classes) * self.gamma_scale * result.complexity
        return pd.DataFrame(
            {
                "family": [type(family).__name__ for family in self.leaf_families],
                "split": [*(type(family).__name__ for family in self.split_families), ""],
                "correct": result.plus,
                "errors": result.minus,
                "complexity": result.complexity,
                "complexity_term": charge,
                "sample_term": result.plus / total,
                "side": np.where(result.plus / total > charge, "complexity", "sample"),
            }
        )

    def evidence(self) -> list[Evidence]:
        """The out-of-fold error; families of the user's own come without a guarantee."""
        name = "out-of-fold error of cascades with the fitted families"
        n = len(self.held_out)
        return [EstimateEvidence(name=name, value=self.held_out_error, n=n, used_for_selection=True)]

    def facts(self) -> list[Facts]:
        """Key figures."""
        return [figure("leaves", len(self.cascade.leaves)), penalty_figure(self.gamma_scale)]

    def explain(self, rows: Table, n_jobs: int | None) -> list[Detail]:
        """One dictionary per row: class scores and path; `n_jobs` does nothing."""
        design, labels = encoded(self.encoder, rows), [plain(label) for label in self.classes]
        paths = [self._path(row[None], labels) for row in design]
        return explained_rows(labels, self.cascade.evaluate(design)[0], [paths])

    def _path(self, row: Floats, labels: Sequence[Any]) -> Detail:
        path: list[Detail] = []
        nodes: list[Detail] = []
        k = 0
        for split, family in zip(self.cascade.splits, self.split_families):
            value = float(split.member.order(row)[0])
            goes_on = bool(value <= split.threshold)
            path.append(path_step(k + 1, goes_on, split.threshold, value))
            nodes.append(
                {
                    "node": k,
                    "split": type(family).__name__,
                    "distance": plain(value),
                    "threshold": plain(split.threshold),
                    "goes_on": goes_on,
                }
            )
            if not goes_on:
                break
            k += 1
        return {
            "class": None,
            "leaf": k,
            "degree": None,
            "family": type(self.family_of_leaf(k)).__name__,
            "path": path,
            "nodes": nodes,
            "scores": by_label(labels, self.cascade.leaves[k].scores(row)[0]),
            "support": [],
        }
