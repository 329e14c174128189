"""``SurewoodClassifier``: the classifier to start with."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from numpy.typing import ArrayLike

from surewood._arrays import Floats
from surewood.base.base import ClassifierBase, Fitted, normalized
from surewood.base.folds import draw_seed
from surewood.base.parameters import COMMON, TimedRunParameters, parameters
from surewood.base.rules import AUTO, Choice, Either, ListOf
from surewood.mixture.model import MemberRecord, MixtureModel, explanation_steps, report_facts
from surewood.mixture.plan import NAMES, make_plan
from surewood.mixture.training import train
from surewood.trees.monotone import MONOTONE

_RULES = {
    **COMMON,
    "members": Either(AUTO, ListOf(Choice(*NAMES), f"names among {', '.join(map(repr, NAMES))}")),
    "monotonic_cst": MONOTONE,
}


@parameters(_RULES)
class SurewoodClassifier(ClassifierBase[MixtureModel], TimedRunParameters):
    """The classifier to start with: all families in one weighted, calibrated mixture.

    A random forest, a composite forest, boosted trees, extra-trees and a margin forest are fitted once each.
    The weights minimize the log-loss on rows that the members did not see plus one imaginary row per member,
    which only that member predicts correctly: with few rows no member gets weight 0 or all of the weight.
    Members that add little are dropped. The members are calibrated; the mixture is calibrated once more where
    that clearly helps.

    The order of the columns matters: the members draw features by position, and ties go to the first column.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of the composite forest and of each forest of a layer of the margin forest; the random forest
        and the extra-trees have three times as many, boosted trees at most ten times as many rounds.
    members : "auto" or list of str, default="auto"
        Which of "random_forest", "composite_forest", "boosted_trees", "extra_trees", "margin_forest" to fit.
        "auto" takes all that suit the table.
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight of a leaf of any member, as a fraction of the weight a tree sees.
    calibrate : bool or {"auto", "temperature", "offset", "isotonic"}, default=True
        Calibrate the mixture on held-out probabilities: True or "auto" where the cross-validated gain in
        log-loss exceeds two standard errors, another method always. Never changes a prediction.
    monotonic_cst : mapping of column names, or list with an entry per column, default=None
        1: the probability of the second class may not fall with the column; -1: it may not rise; 0: no
        constraint. Two classes only, and no category columns; composite and margin forests are left out.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list of names, positions, mask or None, default="from_dtype"
    time_limit : float or None, default=None
        Seconds. Members are fitted in the order of their value per second; each may take an equal part of
        the remaining time and leaves unused time to the others. ``members_`` has a note for each member that
        used up its time or was not started.
    remember_rows : bool, default=True
        Keep content hashes of the training rows, so that certificates recognize copies of them.
    n_jobs : int or None, default=None
        Threads (or workers of the active joblib backend). Results do not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray
    members_ : list of MemberRecord
        Every member that was considered: ``name``, ``weight``, ``held_out_log_loss``, ``held_out_error``,
        ``seconds`` and ``note``; ``pandas.DataFrame(model.members_)`` is a table.
    weights_ : dict of str to float
        Weights of the members that predict.
    estimators_ : dict of str to classifier
        The members that predict.
    held_out_error_ : float
        ESTIMATE: error of the mixture on held-out rows; weights and calibration were chosen on them.
    feature_importances_ : ndarray, shape (n_features,)
        Weighted mean of the members' impurity importances.

    See Also
    --------
    RandomCompositeForestClassifier, MarginDeepForestClassifier, BinnedForestClassifier,
    BoostedTreesClassifier : the members.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SurewoodClassifier(random_state=0).fit(X, y)
    >>> bool(abs(sum(model.weights_.values()) - 1) < 1e-9)
    True
    >>> model.predict(X[:2]).tolist()
    [0, 0]
    """

    __report_facts__ = report_facts
    __explanation_steps__ = explanation_steps
    _title = "Mixture of classifiers"
    _kind = "mixture"

    model_: MixtureModel = field(init=False)

    n_estimators: int = field(default=100, kw_only=False)
    members: Any = "auto"
    min_weight_fraction_leaf: float = 0.0
    monotonic_cst: Any = None

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | str | None = None,
        groups: ArrayLike | None = None,
    ) -> SurewoodClassifier:
        """Fit all members and weigh them.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, sparse matrix, pandas or polars frame; categories and missing values as they come. Or a
            :class:`~surewood.ParquetTable`, or the path of a Parquet file or folder.
        y : array of shape (n_rows,)
            Labels. For a Parquet file: the name of their column.
        sample_weight : array of shape (n_rows,), optional
            Weight 2 is the row twice; rows of weight 0 are ignored.
        groups : array of shape (n_rows,), optional
            Group of each row (a patient, a device). Whole groups are held out in every
            member; their probabilities, weights and calibration are for rows of new groups.

        Returns
        -------
        self
        """
        parameters = self._parameters()
        with self._begin_fit(X, y, sample_weight, groups) as inputs:
            model = train(make_plan(parameters, inputs, draw_seed(self.random_state)), inputs)
            self._store_fit(inputs)
            self.model_ = model
        return self

    @property
    def members_(self) -> list[MemberRecord]:
        """Every member that was considered, with what became of it."""
        return list(self.model_.records)

    @property
    def weights_(self) -> dict[str, float]:
        """Weights of the members that predict."""
        return {member.name: member.weight for member in self.model_.members}

    @property
    def estimators_(self) -> dict[str, Any]:
        """The members that predict."""
        return {member.name: member.estimator for member in self.model_.members}

    held_out_error_ = Fitted[float]("held_out_error", "ESTIMATE: error of the mixture on held-out rows.")

    @property
    def feature_importances_(self) -> Floats:
        """Weighted mean of the members' impurity importances, summing to 1 (all 0 where no tree splits)."""
        return normalized(self._fitted().importances)
