"""``RandomCompositeForestClassifier``: parameters, documentation, and the two named settings."""

from __future__ import annotations

from typing import Any

from surewood.composite.estimator import _CompositeClassifier


class RandomCompositeForestClassifier(_CompositeClassifier):
    """A forest whose leaves hold polynomial SVMs of chosen degrees.

    Shallow random trees route points to leaves; a leaf holds a one-vs-one SVM with a polynomial kernel,
    and the degree is chosen leaf by leaf by a data-dependent criterion, for the forest by out-of-bag
    votes, or both.

    Parameters
    ----------
    n_estimators : int, default=100
        Composite trees.
    max_depth : "auto" or int, default="auto"
        Questions above a leaf (0: one machine for all points). "auto": chosen by the pilot, or, with another
        `selection`, 4, less where leaves would have fewer than 20 rows.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Features tried at a node; None: all.
    degrees : "auto", int or list of int, default="auto"
        Degrees offered to leaves. "auto" is 1, 2, 3.
    C : "auto", float or list of float, default="auto"
        Regularisation, one value or one a degree; a leaf with the share s of the points uses ``sqrt(s) * C``.
        "auto": by the pilot, or, with another `selection`, by 5-fold cross-validation of one machine a
        degree.
    gamma_scale : "auto" or float, default="auto"
        Multiplier of the complexity in the criterion. "auto" is 1e-4.
    selection : {"auto", "exact", "random_sequences", "common_degree", "random_degree"}, default="auto"
        "exact" is the minimum of the criterion over all sequences of degrees; "random_sequences" the best of
        `n_sequences` random ones; "common_degree" and "random_degree" do without the criterion (RF-SVM).
        "auto" runs a pilot on bags and takes the three best of all (depth, degree, C) and of the criterion at
        every depth, by out-of-bag error, together with a share of plain trees.
    n_sequences : int, default=10
    constant_leaves : "auto" or bool, default="auto"
        Offer degree 0, the most frequent class, at every leaf. Leaves of one class have it anyway.
    leaf_scores : {"one_hot", "ovo_votes", "calibrated"}, default="one_hot"
        What a leaf contributes: the class its machine predicts, the share of pairs each class wins, or its
        label with the probability that it was right outside the bag.
    plain_share : "auto" or float, default="auto"
        Share of the vote held by plain trees (no limit of depth, class frequencies at the leaves, bootstrap).
        "auto": by out-of-bag error of the pilot; 0 with another `selection`.
    n_plain_trees : "auto" or int, default="auto"
        Plain trees, where their share is positive; "auto" is 5 for every composite tree.
    bootstrap : bool, default=False
    max_samples : "auto", int, float or None, default="auto"
        Rows a tree sees (a fraction: of all). "auto": 0.8 with ``selection="auto"``, else all. Without
        `bootstrap` they are drawn without replacement.
    max_leaf_size : "auto", int or None, default="auto"
        Leaves with more rows are split further, whatever `max_depth`. "auto": 2000, less where the whole fit
        would cost too much; None: no limit.
    calibrate : {"auto", "temperature", "isotonic"} or False, default="auto"
        Calibration of ``predict_proba`` on out-of-bag (or out-of-fold) votes; False gives the mean scores.
        Fewer than 50 rows are never calibrated.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of a leaf, as a fraction of the weight a tree sees.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list of names, positions, mask or None, default="from_dtype"
    tol : float, default=1e-3
        Stopping tolerance of the machines, as in libsvm.
    max_iter : int, default=10000
        Iterations a pair of classes; machines that need more are kept and flagged in the ledger.
    max_memory : int or None, default=None
        Bytes a fit may use. Above it inner products are formed leaf by leaf, with the same result.
    n_jobs : int or None, default=None
        Threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray
    model_ : CompositeModel
        Trees, leaves and machines as plain arrays.
    settings_ : tuple of Setting
        What the parts of the forest were grown with.
    plain_share_ : float
    held_out_error_ : float
        ESTIMATE: error of out-of-bag (or out-of-fold) votes; NaN where there were none.
    criterion_ : ndarray
        CRITERION (2.9) of each composite tree.
    active_leaves_ : float
        Share of leaves at which the criterion felt the complexity; at 0 the tie rule chose the degrees.
    degrees_histogram_ : dict
    n_iter_ : int
        Most iterations of a machine, summed over its pairs of classes.
    feature_importances_ : ndarray
    n_features_in_, feature_names_in_, schema_

    See Also
    --------
    RandomCompositeForestClassifierCV : The whole grid of the paper in one pass.
    CompositeTreeClassifier : One tree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomCompositeForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> forest.predict(X[:2]).tolist(), forest.predict_proba(X).shape
    ([0, 0], (150, 3))
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | str = "auto",
        max_features: str | int | float | None = "sqrt",
        degrees: Any = "auto",
        C: Any = "auto",
        gamma_scale: float | str = "auto",
        selection: str = "auto",
        n_sequences: int = 10,
        constant_leaves: bool | str = "auto",
        leaf_scores: str = "one_hot",
        plain_share: float | str = "auto",
        n_plain_trees: int | str = "auto",
        bootstrap: bool = False,
        max_samples: int | float | str | None = "auto",
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
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_features = max_features
        self.degrees = degrees
        self.C = C
        self.gamma_scale = gamma_scale
        self.selection = selection
        self.n_sequences = n_sequences
        self.constant_leaves = constant_leaves
        self.leaf_scores = leaf_scores
        self.plain_share = plain_share
        self.n_plain_trees = n_plain_trees
        self.bootstrap = bootstrap
        self.max_samples = max_samples
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

    @classmethod
    def paper(cls, **changes: Any) -> RandomCompositeForestClassifier:
        """The algorithm of the paper: degrees 1 to 9 by the criterion with exact minimum, every tree on
        all rows.

        Parameters
        ----------
        **changes
            Any parameter, over these: ``selection="exact"``, ``degrees=1..9``, ``gamma_scale=1e-3``,
            ``max_depth=4``, no plain trees, no limit on the size of leaves, votes as probabilities.

        Examples
        --------
        >>> RandomCompositeForestClassifier.paper(max_depth=3).selection
        'exact'
        """
        setting: dict[str, Any] = {
            "selection": "exact",
            "degrees": tuple(range(1, 10)),
            "gamma_scale": 1e-3,
            "max_depth": 4,
            "plain_share": 0.0,
            "max_samples": None,
            "max_leaf_size": None,
            "calibrate": False,
        }
        return cls(**(setting | changes))
