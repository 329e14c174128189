"""Memory of a fit by count: what its stages hold, array by array (ESTIMATE).

A fit has stages that do not meet: the choice of settings (a pilot, the tuning of C, or a search), the trees
of each part, the votes of all trees. The table, the design and the bins are there throughout; of the stages
the one that needs most counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from surewood.composite.depths import pilot_depths
from surewood.composite.grid import TREES_PER_BATCH
from surewood.composite.leaf_svms import CHUNK_BYTES
from surewood.composite.parameters import degree_list, is_auto
from surewood.composite.part_fitting import ROWS_AND_TREES
from surewood.composite.pilot import BEST, IN_BAG, JUDGED_ROWS, ROUNDS, pilot_size, pilot_trees
from surewood.composite.plan import DEGREES, PILOT_C, PLAIN_TREES_PER_TREE, Parameters
from surewood.composite.tuning import C_GRID, N_FOLDS, TUNING_ROWS
from surewood.estimators.cost import OBJECT_BYTES
from surewood.svm import SvmGroups

_SET_BYTES = 450.0  # of a leaf: its array of rows, its entry in two dicts and a list, its facts
_ASSIGNING_BYTES = 29.0  # SVM of a row in a tree for one (degree, C), in three forms, and the label
_PLAIN_NODES = 0.4  # of a plain tree, per row
_NODE_BYTES = 32.0  # of a plain tree as it is kept, with the frequencies of two classes
_KEPT_SUPPORT = 0.6  # of the rows of a leaf that are support vectors of the SVM it keeps


@dataclass(frozen=True)
class Shape:
    """What the memory of a fit depends on."""

    n_rows: int
    n_columns: int
    #: Columns of the design matrix.
    width: int
    n_classes: int
    #: Fraction of the rows in the two largest classes.
    pair: float = 1.0
    #: Points of the grid that vote side by side in a search, and the fraction of the rows that are held out.
    n_grid: int = 0
    held_out: float = 0.0

    def classes_among(self, n_rows: float) -> float:
        """Classes that so many random rows have, on average."""
        k = float(self.n_classes)
        return max(1.0, k * -math.expm1(n_rows * math.log1p(-1.0 / k))) if k > 1 else 1.0


@dataclass(frozen=True)
class Leaves:
    """Leaves whose SVMs are trained together."""

    shape: Shape
    n_trees: float
    #: Rows that a tree sees, and those of its largest leaf.
    bag: float
    largest: float
    degrees: int
    n_C: int = 1
    #: Bytes of the row numbers, counted for every depth at which the trees are cut.
    n_cuts: int = 1
    leaves_per_tree: float = 1.0

    def svms(self) -> SvmGroups:
        """Those of one chunk."""
        k = self.shape.classes_among(self.largest)
        per_group = self.degrees * self.n_C
        held = self.n_trees * self.bag * per_group * 8.0 * k
        part = min(1.0, CHUNK_BYTES / held)
        return SvmGroups(
            largest=self.largest,
            points=part * self.n_trees * self.bag,
            n_groups=max(1.0, part * self.n_trees * self.bag / self.largest),
            n_classes=k,
            pair=self.largest * min(1.0, max(self.shape.pair, 2.0 / k)),
            width=self.shape.width,
            per_group=per_group,
            n_degrees=self.degrees,
        )

    def row_numbers(self) -> float:
        """Nodes in which all rows end, bags, and the rows of every leaf."""
        nodes = 4.0 * self.shape.n_rows * self.n_trees
        sets = self.n_cuts * 4.0 * self.bag * self.n_trees + self.leaves_per_tree * self.n_trees * _SET_BYTES
        return nodes + 4.0 * self.bag * self.n_trees + sets

    def kept(self, n_trees: float) -> float:
        """SVMs that stay, one per leaf."""
        coefficients = 8.0 * max(self.shape.classes_among(self.largest) - 1.0, 1.0)
        return n_trees * self.bag * _KEPT_SUPPORT * (4.0 + coefficients)


def stages(given: Parameters, shape: Shape, n_trees: int, leaf: int, n_jobs: int | None) -> dict[str, float]:
    """Bytes of every stage; `leaf` is the most rows per leaf that a default fit affords."""
    found = {"trees": _trees(given, shape, n_trees, leaf, n_jobs)}
    if given.selection == "auto":
        found["pilot"] = _pilot(given, shape, leaf, n_jobs)
    elif shape.n_grid:
        found["search"] = _search(given, shape, n_trees, n_jobs) + _tuning(given, shape, n_jobs)
    elif is_auto(given.C):
        found["tuning"] = _tuning(given, shape, n_jobs)
    found["votes"] = _votes(given, shape, n_trees, leaf)
    return {name: size + OBJECT_BYTES for name, size in found.items()}


def n_degrees(given: Parameters) -> int:
    """Degrees that are offered."""
    return len(DEGREES if is_auto(given.degrees) else degree_list(given.degrees))


def _pilot(given: Parameters, shape: Shape, leaf: int, n_jobs: int | None) -> float:
    """Views of the pilot's trees at every depth, and the SVMs of a round at the shallowest."""
    n, judged = pilot_size(shape.n_rows), min(shape.n_rows, JUDGED_ROWS)
    trees, depths = pilot_trees(shape.n_rows, shape.n_classes), pilot_depths(n, leaf)
    n_C = len(PILOT_C) - 2 if is_auto(given.C) else 1
    keys = n_degrees(given) * n_C
    pilot = [
        Leaves(
            replace(shape, pair=min(1.0, shape.pair * 2.0 ** (depth - depths[0]))),  # splits part the classes
            n_trees=trees / ROUNDS,
            bag=IN_BAG * n,
            largest=IN_BAG * n / 2.0**depth,
            degrees=n_degrees(given),
            n_C=n_C,
        ).svms()
        for depth in depths
    ]
    all_trees = Leaves(
        shape, trees, IN_BAG * n, IN_BAG * n, 1, n_cuts=len(depths),
        leaves_per_tree=sum(min(2.0**d, IN_BAG * n / 8.0) for d in depths),
    )  # fmt: skip
    # Leaf, set and majority of every row, and its label for every (degree, C).
    views = len(depths) * judged * trees * (4.0 + 8.0 + 2.0 + 2.0 * (keys + n_degrees(given)))
    assigning = judged * trees / ROUNDS * keys * _ASSIGNING_BYTES
    working = max(max(svms.scratch(n_jobs), assigning) + svms.results() for svms in pilot)
    votes = 4.0 * 8.0 * judged * shape.n_classes
    return views + all_trees.row_numbers() + judged * trees + working + votes


def _tree_leaves(given: Parameters, shape: Shape, n_trees: float, leaf: int) -> Leaves:
    """Leaves of the final trees that are fitted together."""
    if given.selection == "auto":
        n = pilot_size(shape.n_rows)
        bag, largest = IN_BAG * shape.n_rows, IN_BAG * n / 2.0 ** pilot_depths(n, leaf)[0]
        return Leaves(shape, n_trees / BEST, bag, largest, 1, leaves_per_tree=bag / min(largest, 100.0))
    depth = reached_depth(given, shape.n_rows)
    bag = (1.0 - shape.held_out) * shape.n_rows
    return Leaves(
        shape, n_trees, bag, bag / 2.0**depth, n_degrees(given), leaves_per_tree=2.0**depth
    )  # fmt: skip


def reached_depth(given: Parameters, n_rows: int) -> int:
    """Smallest depth of a tree whose depth is a parameter."""
    offered = 4 if is_auto(given.max_depth) else min(_as_list(given.max_depth))
    return min(offered, max(int(math.log2(max(n_rows, 2))), 0))


def _as_list(value: object) -> list[int]:
    return [int(one) for one in np.atleast_1d(np.asarray(value))]


def _trees(given: Parameters, shape: Shape, n_trees: int, leaf: int, n_jobs: int | None) -> float:
    """The trees of one part, beside those that are done and the rows that each did not see."""
    own = _tree_leaves(given, shape, min(n_trees, BEST * ROWS_AND_TREES / shape.n_rows), leaf)
    svms = own.svms()
    outside = shape.n_rows * n_trees if given.selection == "auto" else 0.0
    return own.row_numbers() + outside + own.kept(n_trees) + svms.scratch(n_jobs) + svms.results()


def _votes(given: Parameters, shape: Shape, n_trees: int, leaf: int) -> float:
    """All trees, joined from their parts, their labels of all rows, and the plain trees beside them."""
    own = _tree_leaves(given, shape, n_trees, leaf)
    cells = float(shape.n_rows) * n_trees
    labels = cells * (1.0 + 4.0 + 8.0 + 4.0) if given.selection == "auto" else 0.0
    plain = 0.0
    if given.selection == "auto":
        nodes = PLAIN_TREES_PER_TREE * n_trees * shape.n_rows * _PLAIN_NODES
        plain = nodes * (_NODE_BYTES - 16.0 + 8.0 * min(shape.n_classes, 4))
    probabilities = 6.0 * 8.0 * shape.n_rows * shape.n_classes
    return 2.0 * own.kept(n_trees) + labels + plain + probabilities


def _tuning(given: Parameters, shape: Shape, n_jobs: int | None) -> float:
    """SVMs of all degrees and all C on four fifths of some rows."""
    n = (1.0 - shape.held_out) * shape.n_rows
    rows = (1.0 - 1.0 / N_FOLDS) * min(n, TUNING_ROWS)
    svms = Leaves(shape, 1, rows, rows, n_degrees(given), len(C_GRID)).svms()
    return svms.scratch(n_jobs) + svms.results()


def _search(given: Parameters, shape: Shape, n_trees: int, n_jobs: int | None) -> float:
    """A walk over the grid: sets and SVMs of all trees at all depths, votes of all points."""
    depths = _as_list(given.max_depth)
    own = _tree_leaves(given, shape, min(n_trees, TREES_PER_BATCH), 0)
    cuts = Leaves(
        shape, n_trees, own.bag, own.largest, 1, n_cuts=len(depths),
        leaves_per_tree=sum(min(2.0**d, own.bag / 4.0) for d in depths),
    )  # fmt: skip
    svms = own.svms()
    held = shape.held_out * shape.n_rows
    votes = 8.0 * held * shape.n_classes * shape.n_grid + held * n_trees * 16.0 * 2.0 * shape.n_grid / len(
        depths
    )
    return (
        cuts.row_numbers() + len(depths) * own.kept(n_trees) + votes + svms.scratch(n_jobs) + svms.results()
    )
