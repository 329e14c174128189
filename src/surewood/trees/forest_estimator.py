"""The forest engine as an estimator: random forests, extra-trees and completely random forests on bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Floats
from surewood.base.base import ClassifierBase, Fitted, normalized
from surewood.base.calibration import ScoreCalibrator, held_out_probabilities
from surewood.base.folds import draw_seed
from surewood.base.parameters import (
    COMMON,
    StudyParameter,
    Switch,
    TimedRunParameters,
    parameters,
)
from surewood.base.rules import Boolean, Choice
from surewood.tables import Table, TrainingTable, begin_predict, by_batches
from surewood.trees.binning import BinMapper
from surewood.trees.flat_tree import FlatForest
from surewood.trees.forest_model import ForestModel, explanation_steps, report_facts
from surewood.trees.forest_plan import check_together, make_plan
from surewood.trees.forest_training import train
from surewood.trees.growing import MAX_CLASSES, SPLITTERS
from surewood.trees.monotone import MONOTONE


@parameters(
    {
        **COMMON,
        "splitter": Choice(*SPLITTERS),
        "oob_score": Boolean(),
        "certifiable": Boolean(),
        "monotonic_cst": MONOTONE,
    }
)
class BinnedForestClassifier(ClassifierBase[ForestModel], TimedRunParameters, StudyParameter):
    """A forest of classification trees grown on at most 255 bins per column.

    Parameters have the names and the meaning of scikit-learn's ``RandomForestClassifier``. Tables are taken
    as they come: category columns are split by sets of categories, missing values follow the side that
    training found better.

    The order of the columns matters: features are drawn by position, and ties go to the first column.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    splitter : {"best", "random", "completely_random"}, default="best"
        "best" is a random forest; "random" draws one threshold per feature and takes the best of them
        (extra-trees); "completely_random" draws one feature and one threshold, both at random.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
    max_depth : int or None, default=None
    min_samples_leaf : int or float, default=1
        Counted in rows (a float: as a fraction of the rows), as in scikit-learn.
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight of a leaf, as a fraction of the weight that a tree sees.
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default="auto"
        Features tried per node. "auto" is "sqrt", or 1 for completely random trees, which take no other
        value.
    oob_score : bool, default=False
        Compute ``oob_score_`` and ``oob_decision_function_``.
    calibrate : bool or {"auto", "temperature", "offset", "isotonic"}, default=False
        Calibrate probabilities on the out-of-bag votes (:doc:`/probabilities`);
        predictions stay the same. By default they are the vote fractions, as in scikit-learn's forests.
    certifiable : bool, default=False
        Grow the forest so that :func:`~surewood.certify.certify` can guarantee its error without a holdout:
        bins from a random tenth of the rows, half of the others (``study={"max_samples": ...}``) in each bag
        without replacement, one vote per tree. Numeric columns only; at least 100 rows.
    monotonic_cst : mapping of column names, or list with an entry per column, default=None
        1: the probability of the second class may not fall with the column; -1: it may not rise; 0: no
        constraint. Two classes only, and no category columns.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list of names, positions, mask or None, default="from_dtype"
    time_limit : float or None, default=None
        Seconds after which no more trees are begun; the first batch always is.
    remember_rows, n_jobs, random_state
        As in :class:`~surewood.RandomCompositeForestClassifier`.
    verbose : int, default=0
        1 shows the progress of a fit.
    warm_start : bool, default=False
        Keep the trees of the last fit and grow only those that `n_estimators` asks for beyond them.
    study : dict or None, default=None
        Switches for experiments, see below.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    model_ : ForestModel
        The fitted forest; the following attributes read it.
    forest_ : FlatForest
        The trees.
    mapper_ : BinMapper
        The bins of the columns.
    calibrator_ : ScoreCalibrator or None
    seed_ : int
        Seed of the trees.
    feature_importances_ : ndarray, shape (n_features,)
        Mean over trees of the normalized decreases of impurity.
    oob_score_ : float
        Accuracy of the out-of-bag predictions (ESTIMATE); with `oob_score` only.
    oob_decision_function_ : ndarray, shape (n_rows, n_classes)
        Out-of-bag class frequencies, NaN for rows that every tree saw; with `oob_score` only.
    n_features_in_, feature_names_in_, schema_
        What the training table looked like.

    Notes
    -----
    Probabilities are means of the leaves' class frequencies. Categories at a node are ordered by the
    frequency of the node's majority class among their rows (for two classes this finds the best of all
    subsets), and cut in two. Where a node saw no missing value, missing values and unseen categories follow
    its larger child.

    **Study switches.** `study` is a dictionary with any of

    * ``min_samples_split`` (int or float, default 2): minimum number of rows of a node that is split;
    * ``bootstrap`` (bool, default True): draw rows with replacement for each tree;
    * ``max_samples`` (int, float, "auto" or None, default None): rows drawn for each tree (a float: as a
      fraction of the rows of positive weight), by default as many as there are; without `bootstrap` they are
      drawn without replacement;
    * ``min_impurity_decrease`` (float, default 0): minimum weighted decrease of impurity of a split;
    * ``max_bins`` (int, default 255): maximum number of bins of a numeric column.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = BinnedForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    >>> forest.predict(X[:2]).tolist()
    [0, 0]
    >>> forest.oob_score_ > 0.9
    True
    """

    model_: ForestModel = field(init=False)

    __report_facts__ = report_facts
    __explanation_steps__ = explanation_steps
    _kind = "forest"

    _most_classes: ClassVar[int] = MAX_CLASSES
    _study_switches: ClassVar[Mapping[str, Switch]] = {
        "min_samples_split": Switch(2, COMMON["min_samples_split"]),
        "max_samples": Switch(None, COMMON["max_samples"]),
        "bootstrap": Switch(True, COMMON["bootstrap"]),
        "min_impurity_decrease": Switch(0.0, COMMON["min_impurity_decrease"]),
        "max_bins": Switch(255, COMMON["max_bins"]),
    }

    n_estimators: int = field(default=100, kw_only=False)
    splitter: str = "best"
    criterion: str = "gini"
    max_depth: int | None = None
    min_samples_leaf: int | float = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: str | int | float | None = "auto"
    oob_score: bool = False
    calibrate: bool | str = False
    certifiable: bool = False
    monotonic_cst: Any = None
    warm_start: bool = False

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | str | None = None,
        groups: ArrayLike | None = None,
    ) -> BinnedForestClassifier:
        """Grow the forest.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, sparse matrix, pandas or polars frame, with missing values as they come; or Parquet data,
            by a :class:`~surewood.ParquetTable` or a path, which may be larger than memory.
        y : array of shape (n_rows,)
            Labels; for Parquet data the name of their column.
        sample_weight : array of shape (n_rows,), optional
            Rows of weight 0 are ignored; weight 2 is the row twice, in bootstrap samples too. Weights that
            are not whole numbers multiply what was drawn.
        groups : array of shape (n_rows,), optional
            Group of each row (a patient, a device). Whole groups are drawn for each tree.
        """
        parameters = self._parameters()
        check_together(parameters)
        # Bags treat equal rows as one row of their weight anyway.
        with self._begin_fit(X, y, sample_weight, groups, merge_streamed=False) as data:
            self._fit_table(parameters, data)
        return self

    def _fit_table(self, parameters: Any, data: TrainingTable) -> Floats | None:
        kept = self._kept_model(data)
        seed = draw_seed(self.random_state) if kept is None else kept.seed
        plan = make_plan(parameters, data, seed)
        model = train(plan, data, kept)
        earlier = None if kept is None else self.remembered_rows_
        self._store_fit(data)
        if kept is not None and self.remembered_rows_ is not None:  # kept trees know the rows they saw
            self.remembered_rows_ = self.remembered_rows_.and_rows_of(earlier)
        votes = model.held_out
        shown = data.expand(votes) if plan.wants_votes and votes is not None else None
        self.model_ = replace(model, held_out=shown)
        return None if votes is None else held_out_probabilities(votes, model.calibrator)

    def _kept_model(self, inputs: TrainingTable) -> ForestModel | None:
        """The forest of an earlier fit that a warm start goes on from."""
        model: ForestModel | None = vars(self).get("model_")
        if not self.warm_start or model is None:
            return None
        if inputs.table.n_columns != self.n_features_in_ or not np.array_equal(inputs.classes, self.classes_):
            raise ValueError(
                "warm_start needs the columns and classes of the first fit; "
                "use warm_start=False to start anew."
            )
        first, now = self.schema_, inputs.schema
        if (first.kinds, first.categories) != (now.kinds, now.categories):  # kept trees split by their codes
            raise ValueError(
                "warm_start needs columns of the same kinds, with the same categories, as the first fit; "
                "use warm_start=False to start anew."
            )
        if self.n_estimators < model.trees.n_trees:
            raise ValueError(
                f"n_estimators={self.n_estimators} is below the {model.trees.n_trees} trees that "
                "warm_start=True keeps; raise it or use warm_start=False."
            )
        return model

    forest_ = Fitted[FlatForest]("trees", "The trees.")
    mapper_ = Fitted[BinMapper]("mapper", "The bins of the columns.")
    calibrator_ = Fitted[ScoreCalibrator | None](
        "calibrator", "What turns votes into probabilities, with `calibrate`."
    )
    seed_ = Fitted[int]("seed", "Seed of the trees.")

    @property
    def feature_importances_(self) -> Floats:
        """Impurity importances, summing to 1 (all 0 when no tree has a split)."""
        return normalized(self._fitted().importances)

    @property
    def oob_score_(self) -> float:
        """Accuracy of the out-of-bag predictions (ESTIMATE), with `oob_score`."""
        if self.model_.held_out is None:
            raise AttributeError("this forest was fitted with oob_score=False")
        return self.model_.held_out_accuracy

    @property
    def oob_decision_function_(self) -> Floats:
        """Out-of-bag class frequencies, with `oob_score`."""
        if self.model_.held_out is None:
            raise AttributeError("this forest was fitted with oob_score=False")
        return self.model_.held_out

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, shape (n_rows, n_classes), columns in the order of ``classes_``.

        Mean votes of the trees; calibrated ones with `calibrate`.
        """
        if self._takes_as_is(X):
            return self.model_.raw_probabilities(X, self.n_jobs)
        return super().predict_proba(X)

    def apply(self, X: Any) -> NDArray[np.uint32]:
        """Node (within its tree) in which each row ends, shape (n_rows, n_trees)."""

        def of_batch(table: Table) -> NDArray[np.uint32]:
            return self.model_.leaves(table, self.n_jobs)

        return by_batches(begin_predict(self, X), of_batch)

    def decision_path(self, X: Any) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
        """Nodes that each row passes, as in scikit-learn.

        Returns
        -------
        indicator : csr matrix, shape (n_rows, total number of nodes)
        n_nodes_ptr : ndarray, shape (n_trees + 1,)
            Columns ``n_nodes_ptr[t]`` to ``n_nodes_ptr[t + 1]`` belong to tree `t`.
        """
        leaves = self.apply(X).astype(np.int64)
        return self.model_.paths(leaves), self.model_.trees.node_start.copy()

    def _exact_values(self, rows: Table, background: Table, groups: Sequence[Sequence[int]]) -> Floats | None:
        """Those of the mean votes; a calibration on top is not a sum over trees."""
        return self.model_.shapley_values(rows, background, groups, self.n_jobs)

    def _takes_as_is(self, X: Any) -> bool:
        """Whether X is plainly what the engine reads: one row is then predicted in microseconds.

        Everything else, errors included, goes through the general checks.
        """
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype in (np.float32, np.float64)
            and "model_" in vars(self)
            and X.shape[1] == self.n_features_in_
            and len(X) > 0
            and X.flags.c_contiguous
            and self.schema_.names is None
            and not self.model_.has_categories
            and not np.isinf(X).any()
        )
