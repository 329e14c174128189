"""Boosted trees as an estimator."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import field
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import Floats
from surewood.boosting import report_facts
from surewood.boosting.cost import estimate_cost, memory_parts
from surewood.boosting.explaining import explain_rows
from surewood.boosting.model import BoostedModel
from surewood.boosting.plan import BoostingPlan, make_plan
from surewood.boosting.training import train
from surewood.bounds import Evidence
from surewood.estimators.base import ClassifierBase
from surewood.estimators.cost import CostEstimate, refuse_beyond
from surewood.estimators.declaring import RunParameters, parameters
from surewood.estimators.fitted import Fitted
from surewood.estimators.importances import normalised
from surewood.estimators.parameters import COMMON, check_parameters
from surewood.estimators.rules import Integer, Number
from surewood.estimators.seeds import draw_seed
from surewood.tables import FitInputs, begin_predict
from surewood.trees import bin_table

_RULES = {
    **COMMON,
    "learning_rate": Number(above=0.0),
    "max_leaf_nodes": Integer(2),
    "min_samples_leaf": Integer(1),
    "l2_regularization": Number(0.0),
}


@parameters(_RULES)
class BoostedTreesClassifier(ClassifierBase, RunParameters):
    """Gradient boosting on histograms, cross-fitted.

    The rows are dealt to five folds. For each fold, scikit-learn's histogram boosting grows trees on the
    other rows, on the bins of this library's forests, while the log-loss of the fold falls. The fitted model
    is the mean of the five models' scores (fewer models on more than 10,000 rows). The held-out probabilities
    of the folds calibrate it.

    The order of the columns matters: features are drawn by position, and ties go to the first column.

    Parameters
    ----------
    n_estimators : int, default=300
        Most rounds; a round has one tree per class, or one tree for two classes.
    learning_rate : float, default=0.2
    max_leaf_nodes : int, default=8
    min_samples_leaf : int, default=5
        Counted in rows.
    min_weight_fraction_leaf : float, default=0.0
        Least rows of a leaf as a fraction of the rows, where that is more than `min_samples_leaf`.
    l2_regularization : float, default=1.0
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default=0.5
        Columns that are tried at a node, drawn at random; "auto" is the square root of their number.
    calibrate : bool or {"auto", "temperature", "offset", "isotonic"}, default=True
        Calibrate probabilities on the held-out rows; predictions stay the same.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list of names, positions, mask or None, default="from_dtype"
    max_memory : float, str or None, default=None
        Bytes (or text such as "4GB") that a fit may take beyond the table itself. A fit that would need more
        is refused.
    remember_rows : bool, default=True
        Keep content hashes of the training rows, so that certificates recognize copies of them.
    n_jobs : int or None, default=None
        Models that are grown at a time. Results do not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    model_ : BoostedModel
        The fitted trees.
    n_rounds_ : list of int
        Rounds of each model.
    held_out_error_ : float
        ESTIMATE: error on held-out rows, on which the number of rounds was chosen.
    feature_importances_ : ndarray, shape (n_features,)
        Gain of the splits on each column, summing to 1.
    n_features_in_, feature_names_in_, schema_
        What the training table looked like.

    See Also
    --------
    SurewoodClassifier : has it as a member.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BoostedTreesClassifier(random_state=0).fit(X, y)
    >>> model.predict(X[:2]).tolist(), model.predict_proba(X).shape
    ([0, 0], (150, 3))
    """

    model_: BoostedModel = field(init=False)

    __report_facts__ = report_facts.report_facts
    __explanation_steps__ = report_facts.explanation_steps

    n_estimators: int = field(default=300, kw_only=False)
    learning_rate: float = 0.2
    max_leaf_nodes: int = 8
    min_samples_leaf: int = 5
    min_weight_fraction_leaf: float = 0.0
    l2_regularization: float = 1.0
    max_features: str | int | float | None = 0.5

    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | str | None = None
    ) -> BoostedTreesClassifier:
        """Grow the trees.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, sparse matrix, pandas or polars frame, with missing values as they come; or Parquet data,
            by a :class:`~surewood.tables.ParquetTable` or a path, whose rows must fit into memory as numbers.
        y : array of shape (n_rows,)
            Labels; for Parquet data the name of their column.
        sample_weight : array of shape (n_rows,), optional
            Rows of weight 0 are absent; weight 2 is the row twice.

        Returns
        -------
        self
        """
        self._fit_held_out(X, y, sample_weight)
        return self

    def _fit_held_out(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """Fit; held-out probabilities of the rows of `X`, NaN for rows that no model left out."""
        with self._begin(X, y, sample_weight) as inputs:
            plan = self._plan(inputs)
            if plan.max_memory is not None:
                needed = sum(memory_parts(plan, inputs.table.shape, inputs.n_classes).values())
                refuse_beyond(plan.max_memory, needed, "use fewer rows or smaller trees")
            trained = train(plan, inputs, draw_seed(self.random_state))
            self._store_fit(inputs)
            self.model_ = trained.model
            return inputs.expand(trained.held_out)

    def _begin(self, X: Any, y: Any, sample_weight: Any) -> FitInputs:
        check_parameters(self)
        return self._begin_fit(X, y, sample_weight)

    def _plan(self, inputs: FitInputs) -> BoostingPlan:
        return make_plan(self, inputs.table.n_rows, inputs.table.n_columns)

    def _explained(self, X: Any) -> list[dict[str, Any]]:
        """Scores, the features of the splits, the trees with the largest values."""
        check_is_fitted(self, "model_")
        table = begin_predict(self, X)
        details = explain_rows(self.model_, table, self.schema_, self.classes_)
        return self._explanations("boosted_trees", self.predict_proba(X), details)

    def estimate_cost(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | str | None = None
    ) -> CostEstimate:
        """Memory and time of a fit before it starts, from a few rounds (ESTIMATE)."""
        started = time.perf_counter()
        with self._begin(X, y, sample_weight) as inputs:
            plan = self._plan(inputs)
            matrix = bin_table(inputs.table, inputs.weight, 255, plan.n_jobs)
            return estimate_cost(plan, matrix, inputs, time.perf_counter() - started)

    def __certificate_evidence__(self) -> Iterable[Evidence]:
        """What `surewood.certify` may use: the held-out error, an ESTIMATE."""
        check_is_fitted(self, "model_")
        return self.model_.evidence()

    @property
    def n_rounds_(self) -> list[int]:
        """Rounds of each model."""
        return [int(n) for n in self.model_.n_rounds]

    held_out_error_ = Fitted[float]("held_out_error", "ESTIMATE: error on held-out rows.")

    @property
    def feature_importances_(self) -> Floats:
        """Gain of the splits on each column, summing to 1 (all 0 when no tree has a split)."""
        check_is_fitted(self, "model_")
        return normalised(self.model_.importances)
