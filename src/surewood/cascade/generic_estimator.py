"""`DeepCascadeClassifier`: cascades of any families of classifiers and splits (theory.md §3.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import Counts, Floats
from surewood.cascade import report_facts
from surewood.cascade.base import CascadeBase
from surewood.cascade.cost import estimate_generic_cost
from surewood.cascade.explaining import explain_generic_rows
from surewood.cascade.explanation_steps import explanation_steps
from surewood.cascade.families import Families, Family
from surewood.cascade.generic_model import GenericCascade, GenericEvaluation, GenericModel
from surewood.cascade.generic_search import GenericResult
from surewood.cascade.generic_training import GenericPlan, train_generic
from surewood.cascade.named_families import as_families
from surewood.cascade.plan import FRACTION_LIST, GAMMA_SCALE, calibration_folds, read_gamma
from surewood.cascade.sample import Sample, make_sample
from surewood.cascade.splits import as_fractions
from surewood.estimators.cost import CostEstimate
from surewood.estimators.declaring import parameters
from surewood.estimators.fitted import Fitted
from surewood.estimators.parameters import COMMON, calibration_method, check_parameters, memory_bytes
from surewood.estimators.rules import Either, Integer, Kind, Rule
from surewood.estimators.seeds import draw_seed
from surewood.tables import FitInputs

_FAMILIES = Either(
    Kind("a family", lambda value: isinstance(value, Family)),
    Kind("a list of families or of their names", lambda value: isinstance(value, Iterable)),
)


_RULES: Mapping[str, Rule] = {
    **COMMON,
    "leaves": _FAMILIES,
    "splits": _FAMILIES,
    "max_leaves": Integer(1),
    "fractions": FRACTION_LIST,
}


@parameters(_RULES)
class DeepCascadeClassifier(CascadeBase):
    r"""Cascade of any families of classifiers and splits, by the exact minimum of a learning bound.

    A split sends a fraction μ of its points on; the others stay and are classified by the leaf. The number of
    leaves, μ, leaf families and split families are the exact minimizer of

    .. math:: \widehat R_S+\sum_k\min\Big(4\gamma\Big[\sum_{j\le d_k}\widehat{\mathfrak R}_S(Q_j)
              +\widehat{\mathfrak R}_S(H_k)\Big],\frac{m_k^+}m\Big)

    (with 8c in place of 4 for c > 2 classes).

    The order of the columns matters: rows are dealt to folds by a hash of their values, which knows the
    position of each column.

    Parameters
    ----------
    leaves : list of family or name, default=("constant", "stump", "tree", "linear_svm", "quadratic")
        Families that leaves choose from; ties go to the earlier one. Names: constant, threshold, stump, tree,
        logistic, linear_svm, quadratic, cubic, rbf. `EstimatorFamily` wraps any scikit-learn classifier.
    splits : list of family or name, default=("linear_svm",)
        Families that splits choose from; they must order points.
    max_leaves : int, default=3
    fractions : list of float, default=(0.25, 0.5, 0.75)
        Fractions μ, the same for all nodes of a cascade.
    gamma_scale : "auto" or float, default=0.01
        Multiplier γ of the complexity; below 1 the criterion is a selection score, not a bound. "auto" is the
        default.
    max_memory : int, float, str or None, default=None
        Memory that a fit may take beyond the table itself, in bytes or as text such as "4GB"; a fit that
        would need more is refused.
    calibrate : bool or {"auto", "temperature", "offset", "isotonic"}, default=True
        Method that calibrates `predict_proba`, leaf by leaf, on out-of-fold scores; True is "auto", False is
        none.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list or mask, default="from_dtype"
    random_state : int, RandomState or None, default=None
        Deals the folds of the calibration.
    remember_rows : bool, default=True
        Whether the model remembers fingerprints of its training rows.

    Attributes
    ----------
    classes_ : ndarray
    model_ : GenericModel
        The fitted state.
    cascade_ : GenericCascade
    search_ : GenericResult
        Chosen families, counts and complexities per leaf, members fitted, prefixes pruned.
    leaf_families_, split_families_ : tuple of Family
        The chosen ones, node by node.
    gamma_scale_ : float
    out_of_fold_error_ : float

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> model = DeepCascadeClassifier(["tree", "rbf"], max_leaves=2, random_state=0).fit(X, y)
    >>> len(model.leaf_families_) <= 2, model.out_of_fold_error_ < 0.3
    (True, True)
    """

    __report_facts__ = report_facts.generic_report_facts
    __explanation_steps__ = explanation_steps
    leaf_terms = report_facts.generic_leaf_terms
    leaf_flow = report_facts.generic_leaf_flow

    _renamed_parameters: ClassVar[dict[str, str]] = {"questions": "splits", "probability": "calibrate"}

    model_: GenericModel = field(init=False)

    leaves: Any = field(default=("constant", "stump", "tree", "linear_svm", "quadratic"), kw_only=False)
    splits: Any = field(default=("linear_svm",), kw_only=False)
    max_leaves: int = 3
    fractions: Any = (0.25, 0.5, 0.75)
    gamma_scale: Any = GAMMA_SCALE
    random_state: Any = None

    _train = staticmethod(train_generic)

    def _families(self) -> tuple[Families, Families]:
        check_parameters(self)
        leaves, splits = as_families("leaves", self.leaves), as_families("splits", self.splits)
        if not leaves:
            raise ValueError("leaves is empty: a cascade needs at least one family of classifiers.")
        for family in splits:
            if not family.can_order:
                raise ValueError(
                    f"{type(family).__name__} cannot order points, so it cannot split; "
                    "offer it for leaves only."
                )
        return tuple(leaves), tuple(splits)

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> tuple[FitInputs, Sample, GenericPlan]:
        leaves, splits = self._families()
        inputs = self._begin_fit(X, y, sample_weight)
        sample = make_sample(inputs, sample_weight)
        plan = GenericPlan(
            leaves=leaves,
            splits=splits,
            max_leaves=int(self.max_leaves),
            fractions=as_fractions(self.fractions),
            gamma_scale=read_gamma(self.gamma_scale),
            calibration=calibration_method(self.calibrate),
            calibration_folds=calibration_folds(sample, draw_seed(self.random_state)),
            max_memory=memory_bytes(self.max_memory),
        )
        return inputs, sample, plan

    def estimate_cost(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> CostEstimate:
        """Memory and a range of time of a fit before it starts, from two small fits (ESTIMATE)."""
        self._families()
        return estimate_generic_cost(self, X, y, sample_weight)

    # --- fitted attributes ---------------------------------------------------------------------------------

    cascade_ = Fitted[GenericCascade]("cascade", "The fitted chain.")
    search_ = Fitted[GenericResult]("search", "Result of the search.")
    leaf_families_ = Fitted[Families]("leaf_families", "Chosen families of the leaves.")
    split_families_ = Fitted[Families]("split_families", "Chosen families of the splits.")
    out_of_fold_error_ = Fitted[float](
        "held_out_error", "Out-of-fold error of cascades with the chosen families."
    )

    # --- predictions ---------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """Scores: shape (n,), positive for the second class, or one score per class."""
        scores = self._evaluate(X).scores
        return np.asarray(scores[:, 1] - scores[:, 0]) if len(self.classes_) == 2 else scores

    def _class_scores(self, X: Any) -> Floats:
        return self._evaluate(X).scores

    def _probabilities(self, X: Any) -> Floats:
        found = self._evaluate(X)
        return self.model_.probabilities(found)

    def decision_path(self, X: Any) -> Counts:
        return self._evaluate(X).leaf

    def _explained(self, X: Any) -> list[dict[str, Any]]:
        """The splits that each row met, and the leaf where it stayed."""
        table, model = self._table(X), self.model_
        found = model.cascade.evaluate(model.encode(table))
        probabilities = None if model.calibrator is None else model.probabilities(found)
        return explain_generic_rows(model, table, probabilities, self._labels())

    def ledger(self) -> pd.DataFrame:
        """One row per leaf: family, counts, complexity, and which side of the minimum is smaller."""
        check_is_fitted(self, "model_")
        return self.model_.ledger()

    def _evaluate(self, X: Any) -> GenericEvaluation:
        table = self._table(X)
        return self.model_.cascade.evaluate(self.model_.encode(table))

    @classmethod
    def _state_of_today(cls, state: dict[str, Any]) -> dict[str, Any]:
        if "cascade_" in state:  # a fitted estimator of format 1
            state["model_"] = GenericModel.of_old_state(state)
        return super()._state_of_today(state)
