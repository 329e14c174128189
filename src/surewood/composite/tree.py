"""``CompositeTreeClassifier``: one composite tree."""

from __future__ import annotations

from typing import Any

from surewood.composite.estimator import _CompositeClassifier


class CompositeTreeClassifier(_CompositeClassifier):
    """One tree whose leaves hold polynomial SVMs, their degrees chosen by a data-dependent criterion.

    Parameters
    ----------
    max_depth : "auto" or int, default="auto"
        Questions above a leaf. "auto": 4, less where leaves would have fewer than 20 rows.
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        Features tried at a node; None: all, and the tree is not random.
    degrees, C, gamma_scale, n_sequences, constant_leaves, leaf_scores, max_leaf_size, calibrate, \
min_weight_fraction_leaf, class_weight, categorical_features, tol, max_iter, max_memory, n_jobs, \
random_state, verbose
        As in :class:`RandomCompositeForestClassifier`.
    selection : {"exact", "random_sequences", "common_degree", "random_degree"}, default="exact"

    Attributes
    ----------
    classes_, model_, settings_, criterion_, active_leaves_, degrees_histogram_, feature_importances_, ...
        As in :class:`RandomCompositeForestClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CompositeTreeClassifier(max_depth=1, C=1.0, random_state=0).fit(X, y)
    >>> tree.ledger()[["path", "points", "degree"]].to_dict("list")
    {'path': ['x2 <= 2.45', 'x2 > 2.45'], 'points': [50, 100], 'degree': [0, 2]}
    """

    # What a forest has and a tree has not.
    n_estimators = 1
    plain_share = 0.0
    n_plain_trees = "auto"
    bootstrap = False
    max_samples = None

    def __init__(
        self,
        *,
        max_depth: int | str = "auto",
        max_features: str | int | float | None = None,
        degrees: Any = "auto",
        C: Any = "auto",
        gamma_scale: float | str = "auto",
        selection: str = "exact",
        n_sequences: int = 10,
        constant_leaves: bool | str = "auto",
        leaf_scores: str = "one_hot",
        max_leaf_size: int | str | None = "auto",
        calibrate: str | bool = "auto",
        min_weight_fraction_leaf: float = 0.0,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        tol: float = 1e-3,
        max_iter: int = 10_000,
        max_memory: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.max_features = max_features
        self.degrees = degrees
        self.C = C
        self.gamma_scale = gamma_scale
        self.selection = selection
        self.n_sequences = n_sequences
        self.constant_leaves = constant_leaves
        self.leaf_scores = leaf_scores
        self.max_leaf_size = max_leaf_size
        self.calibrate = calibrate
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.tol = tol
        self.max_iter = max_iter
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
