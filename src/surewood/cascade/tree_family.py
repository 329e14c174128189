"""Small decision trees, kept as plain arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from surewood._arrays import Codes, Floats, check_number, check_values
from surewood.cascade.families import Family, Member
from surewood.cascade.old_form import renamed


@dataclass
class TreeMember(Member):
    """A decision tree as plain arrays, node 0 first; a leaf is its own child."""

    feature: NDArray[np.int64]
    threshold: Floats
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    frequency: Floats  # (nodes, classes)
    depth: int

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(renamed(state, {"share": "frequency"}))
        n_nodes = len(self.frequency)
        for name, array in (("feature", self.feature), ("left", self.left), ("right", self.right)):
            check_values(name, array, "i", (n_nodes,), 0, None if name == "feature" else n_nodes - 1)
        check_values("threshold", self.threshold, "f", (n_nodes,))
        check_values("frequency", self.frequency, "f", (n_nodes, None), 0.0, 1.0)
        check_number("depth", self.depth, 0, n_nodes, whole=True)

    @classmethod
    def of(cls, tree: DecisionTreeClassifier, n_classes: int) -> TreeMember:
        """Copy a fitted scikit-learn tree."""
        own, nodes = tree.tree_, np.arange(tree.tree_.node_count)
        is_leaf = own.children_left < 0
        frequency = np.zeros((len(nodes), n_classes))
        frequency[:, np.asarray(tree.classes_, dtype=np.int64)] = own.value[:, 0, :]
        return cls(
            np.where(is_leaf, 0, own.feature).astype(np.int64),
            own.threshold.copy(),
            np.where(is_leaf, nodes, own.children_left).astype(np.int64),
            np.where(is_leaf, nodes, own.children_right).astype(np.int64),
            frequency / frequency.sum(axis=1, keepdims=True),
            int(own.max_depth),
        )

    def scores(self, X: Floats) -> Floats:
        single = X.astype(np.float32)  # scikit-learn compares single precision values with double thresholds
        node = np.zeros(len(X), dtype=np.int64)
        for _ in range(self.depth):
            low = single[np.arange(len(X)), self.feature[node]] <= self.threshold[node]
            node = np.where(low, self.left[node], self.right[node])
        return self.frequency[node]


@dataclass
class TreeFamily(Family):
    """Small decision trees; as a split, the points whose leaf is least pure go on.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 0], dtype=np.int32)
    >>> TreeFamily(2).fit(X, codes, np.ones(3), 2).scores(X).argmax(axis=1)
    array([0, 1, 0])
    """

    max_depth: int = 2

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        tree = DecisionTreeClassifier(max_depth=self.max_depth, random_state=0)
        return TreeMember.of(tree.fit(X, codes, sample_weight=weight), n_classes)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        nodes = (1 << self.max_depth) - 1
        return nodes * math.log(m * n_features) + (nodes + 1) * math.log(n_classes)

    def split_log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        return self.log_growth(m, n_features, 2)  # a leaf goes on or stays
