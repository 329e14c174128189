"""What the tree, the forest and its CV twin have in common: input, predictions, ledgers, evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import Floats
from surewood.bounds import Evidence
from surewood.composite import report_facts
from surewood.composite.cost import estimate_cost, needed_memory, products_read
from surewood.composite.data import TrainingData, prepare
from surewood.composite.explaining import explain_rows
from surewood.composite.explanation_steps import explanation_steps
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.memory import Shape
from surewood.composite.model import CompositeModel
from surewood.composite.old_form import model_of_old_state
from surewood.composite.parameters import solver_tolerance
from surewood.composite.plan import Parameters
from surewood.composite.setting import Setting
from surewood.estimators.base import ClassifierBase
from surewood.estimators.cost import CostEstimate, refuse_beyond
from surewood.estimators.declaring import RunParameters, StudyParameter
from surewood.estimators.fitted import Fitted
from surewood.estimators.parameters import check_parameters, memory_bytes, study_settings
from surewood.estimators.rules import Integer, check_value
from surewood.svm import gram_limit
from surewood.tables import DesignEncoder, FitInputs, begin_predict, by_batches


class CompositeClassifier(ClassifierBase, RunParameters, StudyParameter):
    """Shared methods. A subclass has the parameters and ``fit``, which stores a `CompositeModel`."""

    __report_facts__ = report_facts.report_facts
    __explanation_steps__ = explanation_steps
    leaf_terms = report_facts.leaf_terms
    leaf_degrees = report_facts.leaf_degrees

    model_: CompositeModel

    # --- fit -----------------------------------------------------------------------------------------------

    def _parameters(self) -> Parameters:
        """What a plan is made from."""
        given = {**self.get_params(deep=False), **study_settings(self)}
        return Parameters(**{one.name: given[one.name] for one in fields(Parameters) if one.name in given})

    def _begin(self, X: Any, y: Any, sample_weight: Any, merge: bool = True) -> FitInputs:
        """Checked parameters, then checked data, by default with equal rows merged."""
        check_parameters(self)
        return self._begin_fit(X, y, sample_weight, merge=merge)

    def _options(self) -> SolverOptions:
        study = study_settings(self)
        tol = solver_tolerance(study["tol"], self._parameters().selection)
        return SolverOptions(tol, int(study["max_iter"]), self.n_jobs, int(self.verbose))

    def _check_memory(self, inputs: FitInputs) -> None:
        """Refuse a fit that would need more than `max_memory`."""
        limit = memory_bytes(self.max_memory)
        if limit is not None:
            needed, _ = needed_memory(self._parameters(), self._shape(inputs), limit, self.n_jobs)
            refuse_beyond(limit, sum(needed.values()), "use fewer trees or fewer rows")

    def _prepared(self, inputs: FitInputs) -> TrainingData:
        """What a fit reads, within `max_memory`."""
        self._check_memory(inputs)
        limit = gram_limit(memory_bytes(self.max_memory))
        return prepare(inputs, limit, self.n_jobs, products_read(self._parameters(), inputs.table.n_rows))

    def _store(self, inputs: FitInputs, model: CompositeModel) -> None:
        """Write on the estimator, once everything has succeeded."""
        self._store_fit(inputs)
        self.model_ = model

    def _shape(self, inputs: FitInputs) -> Shape:
        """What the memory of a fit depends on."""
        width = max(DesignEncoder().fit(inputs.table, inputs.weight).n_columns_, 1)
        counts = np.sort(np.bincount(inputs.y, minlength=2))
        pair = float(counts[-2:].sum()) / len(inputs.y)
        return Shape(inputs.table.n_rows, inputs.table.n_columns, width, inputs.n_classes, pair)

    def _passes(self, n_columns: int) -> int:
        """How often the work of a fit is done."""
        return 1

    def estimate_cost(self, X: Any, y: Any, sample_weight: Any = None) -> CostEstimate:
        """Memory and a range of time of a fit, without doing it (ESTIMATE)."""
        inputs = self._begin(X, y, sample_weight)
        limit, shape = memory_bytes(self.max_memory), self._shape(inputs)
        return estimate_cost(self._parameters(), shape, limit, self.n_jobs, self._passes(shape.n_columns))

    # --- predictions ---------------------------------------------------------------------------------------

    def _fitted(self) -> CompositeModel:
        """The fitted model."""
        check_is_fitted(self, "model_")
        return self.model_

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities: the trees' mean score, calibrated by default.

        The largest probability of a row is that of the class with the largest mean score.
        """
        model, table = self._fitted(), begin_predict(self, X)
        return model.calibrated(by_batches(table, lambda part: model.mean_scores(part, self.n_jobs)))

    def tree_predictions(self, X: Any) -> NDArray[Any]:
        """The label that each composite tree gives to each row, shape (n_rows, n_trees)."""
        model, table = self._fitted(), begin_predict(self, X)
        codes = by_batches(table, lambda part: model.tree_labels(part, self.n_jobs))
        return np.asarray(model.classes[codes])

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Number of the leaf (within its tree, as in :meth:`ledger`) of each row, shape (n_rows, n_trees)."""
        model = self._fitted()
        return model.leaf_numbers(begin_predict(self, X), self.n_jobs)

    def decision_path(self, X: Any) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
        """Nodes that each row passes in the composite trees, as in scikit-learn's forests."""
        model = self._fitted()
        return model.decision_path(begin_predict(self, X), self.n_jobs)

    def _explained(self, X: Any) -> list[dict[str, Any]]:
        """Path, leaf, degree and vote of every composite tree."""
        model, table = self._fitted(), begin_predict(self, X)
        probabilities = self.predict_proba(X)
        return self._explanations("composite", probabilities, explain_rows(model, table, probabilities))

    # --- what the model knows of itself --------------------------------------------------------------------

    def ledger(self, tree: int | None = None) -> pd.DataFrame:
        """One row per leaf: depth, path, counts, degree, complexity, and which side of the minimum decided.

        Parameters
        ----------
        tree : int, optional
            One tree only. Plain trees have no ledger: every leaf of theirs is a constant.
        """
        if tree is not None:
            check_value("tree", tree, Integer(0))
        return self._fitted().ledger(tree)

    def nodes(self, tree: int = 0) -> pd.DataFrame:
        """A composite tree, one row per node, parents first.

        Returns
        -------
        DataFrame
            ``node``, ``parent`` (-1 at the root), ``depth``, ``condition`` (the side of the split that leads
            here, in words), ``points``, ``errors`` and ``complexity_term`` (sums over the leaves below),
            ``leaf`` (its number in :meth:`ledger`, -1 at inner nodes), ``degree`` (-1 there) and ``side``.
        """
        check_value("tree", tree, Integer(0))
        return self._fitted().nodes(tree)

    def __certificate_evidence__(self) -> Iterable[Evidence]:
        """What `surewood.certify` may use: counts of the trees, out-of-bag votes, held-out error."""
        return self._fitted().evidence()

    settings_ = Fitted[tuple[Setting, ...]]("settings", "What the parts of the forest were grown with.")
    plain_weight_ = Fitted[float]("plain_weight", "Weight of the plain trees in the vote.")
    held_out_error_ = Fitted[float](
        "held_out.error", "ESTIMATE: error of out-of-bag (or out-of-fold) votes; NaN where there were none."
    )
    criterion_ = Fitted[Floats](
        "criterion",
        "CRITERION (2.9) of each composite tree with its gamma_scale: a selection score, not a bound.",
    )
    active_leaves_ = Fitted[float](
        "active_leaves", "Fraction of leaves with an active complexity penalty (§2.9)."
    )
    degrees_histogram_ = Fitted[dict[int, int]](
        "degrees_histogram", "Number of leaves of each degree, over all composite trees."
    )
    feature_importances_ = Fitted[Floats](
        "feature_importances", "Impurity importances of the splits, summing to 1; all 0 where no tree splits."
    )
    n_iter_ = Fitted[int]("n_iter", "Most iterations of an SVM, summed over its pairs of classes.")

    @classmethod
    def _state_of_today(cls, state: dict[str, Any]) -> dict[str, Any]:
        return super()._state_of_today(model_of_old_state(state))
