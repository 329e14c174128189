"""How composite trees are grown and their leaves filled: one setting, shared by some trees of a forest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surewood.trees import TreeParams


@dataclass(frozen=True)
class Setting:
    """Everything about a composite tree except its data, its seed and its number."""

    #: Splits above a leaf; features drawn at a node.
    max_depth: int
    max_features: int
    #: Degrees in ascending order and one C per degree, scaled by leaf (2.12). A common degree is a tuple of
    #: one.
    degrees: tuple[int, ...]
    C: tuple[float, ...]
    #: Multiplier of the complexity term of the criterion (2.9).
    gamma_scale: float
    #: "exact", "random_sequences" or "random_degree".
    selection: str = "exact"
    #: Leaves with more rows are split further, beyond `max_depth`.
    max_size: int | None = None
    #: Sequences drawn with "random_sequences".
    n_sequences: int = 10
    #: Offer degree 0, the majority class, at every leaf.
    constant_leaves: bool = False
    #: How the rows of a tree are drawn, and how many.
    sampling: str = "all"
    n_draws: int | None = None
    min_weight_fraction_leaf: float = 0.0

    @property
    def offered(self) -> NDArray[np.int64]:
        """Degrees a leaf may have, 0 first where it is offered."""
        return np.array(((0,) if self.constant_leaves else ()) + self.degrees, dtype=np.int64)

    def tree_params(self, max_depth: int, only_leaves: bool = False) -> TreeParams:
        """The engine's parameters for trees of this depth; with `only_leaves` no leaf is split further."""
        return TreeParams(
            criterion="entropy",
            max_depth=max_depth,
            # The engine makes at least one split; a tree of depth 0 is cut at its root.
            stop_depth=max(self.max_depth, 1),
            stop_rows=(self.max_size or 0) if only_leaves else 0,
            max_features=self.max_features,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            sampling=self.sampling,
            n_draws=self.n_draws,
        )


def plain_tree_params(max_features: int) -> TreeParams:
    """Plain trees: bootstrap, no depth limit, class frequencies at the leaves."""
    return TreeParams(criterion="gini", max_features=max_features, sampling="bootstrap")
