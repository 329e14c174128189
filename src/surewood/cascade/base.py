"""What the SVM cascades share: predictions, and everything else that a fitted cascade tells its user."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import AnyArray, Codes, Counts, Floats
from surewood.bounds import Evidence, LeafLedger
from surewood.cascade import report_facts, sizes
from surewood.cascade.chain import Cascade
from surewood.cascade.cost import estimate_cost
from surewood.cascade.exits import SCALES, cascade_names, exit_table, latency_curve, true_class_margins
from surewood.cascade.explaining import explain_rows
from surewood.cascade.explanation_steps import explanation_steps
from surewood.cascade.held_out import OutOfFold
from surewood.cascade.model import CascadeModel
from surewood.cascade.old_form import penalty_of_today
from surewood.cascade.plan import DEGREES, FRACTIONS
from surewood.cascade.reject import LeafRecord, RejectOption, check_limits, count_groups, countable
from surewood.cascade.sample import Sample
from surewood.cascade.search import SearchResult
from surewood.cascade.trainer import KernelChoice
from surewood.estimators.base import ClassifierBase
from surewood.estimators.cost import CostEstimate
from surewood.estimators.declaring import StudyParameter, TimedRunParameters, parameters
from surewood.estimators.fitted import Fitted
from surewood.tables import FitInputs, Table, begin_predict, plain


def is_calibrated(estimator: Any) -> bool:
    """Whether an estimator offers probabilities."""
    return bool(estimator.calibrate)


class CascadeBase(ClassifierBase):
    """What cascades of SVMs and of any families have in common."""

    model_: Any

    gamma_scale_ = Fitted[float | None]("gamma_scale", "γ that selected the cascade.")

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find and train the best cascade.

        Parameters
        ----------
        X : table of shape (n, n_features)
            Numbers or categories, missing values allowed.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Whole weights count as equal rows; others are rescaled to mean 1.

        Returns
        -------
        self
        """
        inputs, sample, plan = self._plan(X, y, sample_weight)
        fitted = self._train(plan, sample)
        self._store_fit(inputs)
        self._store(fitted)
        return self

    @abstractmethod
    def _plan(self, X: Any, y: Any, sample_weight: Any) -> tuple[FitInputs, Sample, Any]:
        """Validated inputs, the sample, and the plan."""

    @abstractmethod
    def _train(self, plan: Any, sample: Sample) -> Any:
        """What :meth:`_store` stores."""

    def _store(self, fitted: Any) -> None:
        self.model_ = fitted

    @abstractmethod
    def _class_scores(self, X: Any) -> Floats:
        """One score per row and class."""

    @abstractmethod
    def _probabilities(self, X: Any) -> Floats:
        """Calibrated probabilities."""

    def predict(self, X: Any) -> AnyArray:
        """Class labels: the class of the largest score, which also has the largest probability."""
        best = self._class_scores(X).argmax(axis=1)
        labels: AnyArray = np.asarray(self.classes_)[best]
        return labels

    @available_if(is_calibrated)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities calibrated on out-of-fold scores; the largest is that of the predicted class."""
        return self._probabilities(X)

    @available_if(is_calibrated)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of :meth:`predict_proba`."""
        return super().predict_log_proba(X)

    @abstractmethod
    def decision_path(self, X: Any) -> Counts:
        """Leaf at which each row stays.

        Returns
        -------
        ndarray of int64
            Shape (n,), or (n, n_classes) where each class has a cascade of its own.
        """

    def apply(self, X: Any) -> Counts:
        """Leaf at which each row stays, as :meth:`decision_path`."""
        return self.decision_path(X)

    def __certificate_evidence__(self) -> Iterable[Evidence]:
        """What `surewood.certify` may use: the out-of-fold error, and for SVM cascades counts for (3.2)."""
        check_is_fitted(self, "model_")
        evidence: Iterable[Evidence] = self.model_.evidence()
        return evidence

    def _table(self, X: Any) -> Table:
        check_is_fitted(self, "model_")
        return begin_predict(self, X)

    def _labels(self) -> list[Any]:
        return [plain(label) for label in self.classes_]


@parameters()
class SvmCascadeBase(CascadeBase, TimedRunParameters, StudyParameter):
    """Predictions and reports of a fitted :class:`~surewood.cascade.model.CascadeModel`."""

    __report_facts__ = report_facts.svm_report_facts
    __explanation_steps__ = explanation_steps
    leaf_terms = report_facts.svm_leaf_terms
    leaf_degrees = report_facts.leaf_degrees
    leaf_flow = report_facts.svm_leaf_flow
    settings_for = staticmethod(sizes.settings_for)
    max_training_rows = sizes.MAX_TRAINING_ROWS

    _renamed_parameters: ClassVar[dict[str, str]] = {
        "time_budget": "time_limit",
        "probability": "calibrate",
        "max_machines": "max_svms",
    }

    model_: CascadeModel = field(init=False)
    max_leaves: int = field(default=4, kw_only=False)
    fractions: Any = FRACTIONS
    degrees: Any = DEGREES
    C: Any = "auto"
    kernel: str = "poly"
    multiclass: str = "one_vs_rest"

    # --- fitted attributes ---------------------------------------------------------------------------------

    cascades_ = Fitted[tuple[Cascade, ...]](
        "cascades", "The trained cascades: one, or one per class for one-vs-rest."
    )
    search_ = Fitted[tuple[SearchResult, ...]]("search", "Result of the search for each cascade.")
    out_of_fold_ = Fitted[OutOfFold](
        "held_out", "Scores of training rows by cascades of the same structure that did not see them."
    )
    kernels_ = Fitted[KernelChoice]("kernels", "Kernel and all degrees that were offered.")
    C_ = Fitted[Floats]("C", "C of each cascade and degree on the whole sample.")

    @property
    def n_iter_(self) -> Counts:
        """Iterations of the solver per cascade."""
        return np.array([one.n_iter for one in self.model_.cascades])

    # --- predictions ---------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """Decision values: shape (n,), positive for the second class, or one score per class."""
        parts = self._model().evaluate(self._design(X), n_jobs=self.n_jobs)
        return parts[0].scores if len(parts) == 1 else self.model_.scores(parts)

    def _class_scores(self, X: Any) -> Floats:
        return self._model().scores(self._model().evaluate(self._design(X), n_jobs=self.n_jobs))

    def _probabilities(self, X: Any) -> Floats:
        model = self._model()
        return model.probabilities(model.evaluate(self._design(X), n_jobs=self.n_jobs))

    @available_if(is_calibrated)  # type: ignore[untyped-decorator]
    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Probabilities if cascades ended after 1, 2, ... SVMs; the last are :meth:`predict_proba`."""
        model, design = self._model(), self._design(X)
        for k in range(1, max(cascade.n_leaves for cascade in model.cascades) + 1):
            yield model.probabilities(model.evaluate(design, n_leaves=k, n_jobs=self.n_jobs))

    def decision_path(self, X: Any) -> Counts:
        parts = self._model().evaluate(self._design(X), n_jobs=self.n_jobs)
        leaves = np.column_stack([part.leaf for part in parts])
        return leaves[:, 0] if len(parts) == 1 else leaves

    def _explained(self, X: Any) -> list[dict[str, Any]]:
        """The SVMs that each row met, its distance from them, and where it stayed."""
        model, table = self._model(), self._table(X)
        parts = model.evaluate(model.encode(table), n_jobs=self.n_jobs)
        probabilities = None if model.calibrator is None else model.probabilities(parts)
        return explain_rows(model, table, probabilities, self._labels(), self.n_jobs)

    # --- where rows leave ----------------------------------------------------------------------------------

    def exits(self, X: Any, y: Any = None) -> pd.DataFrame:
        """Rows that leave at each leaf: how many, at what cost, and with `y` the accuracy among them.

        Returns
        -------
        DataFrame
            One row per leaf: ``cascade`` (the class set against the rest, or "all"), ``leaf``, ``degree``,
            ``points``, ``fraction``, ``kernel_values`` (computed for a row that leaves here), ``accuracy``.
        """
        model, design = self._model(), self._design(X)
        codes = None if y is None else self._codes(y, len(design))
        return exit_table(model, cascade_names(model, list(self.classes_)), design, codes, self.n_jobs)

    def margins(self, X: Any, y: Any) -> Floats:
        """Score of the true class minus the best other one; positive where the prediction is correct."""
        scores = self._class_scores(X)
        return true_class_margins(scores, self._codes(y, len(scores)))

    def latency_curve(self, X: Any, y: Any, scales: Sequence[float] | None = None) -> pd.DataFrame:
        """Accuracy against mean work per row, when fewer or more rows are sent on.

        Parameters
        ----------
        X, y : table and labels
            Rows that were not used in the fit.
        scales : list of float, optional
            Factors of the thresholds: with 0 all rows leave at the first SVM, 1 is the fitted cascade,
            infinity sends all rows to the last SVM.

        Returns
        -------
        DataFrame
            ``scale``, ``kernel_values`` (mean per row), ``accuracy``, ``left_at_first`` (fraction).
        """
        model, design = self._model(), self._design(X)
        codes = self._codes(y, len(design))
        return latency_curve(model, design, codes, SCALES if scales is None else scales, self.n_jobs)

    def reject_option(
        self, max_error: float, X: Any = None, y: Any = None, *, delta: float = 0.05, bands: int = 1
    ) -> RejectOption:
        """Predict only where the leaf's error is bounded by `max_error`.

        Parameters
        ----------
        max_error : float
            Largest error, between 0 and 1, that a leaf's upper bound may have.
        X, y : table and labels, optional
            Rows that were not used in the fit: the bounds are then a GUARANTEE. Without them the out-of-fold
            predictions of the fit are used, and the bounds are an ESTIMATE.
        delta : float, default=0.05
            All bounds hold together with probability at least 1 - delta.
        bands : int, default=1
            Bands of distance that a leaf is divided into, by quantiles of the training points' distances.

        Returns
        -------
        RejectOption
        """
        if (X is None) != (y is None):
            raise ValueError("reject_option needs both X and y, or neither of them.")
        check_limits(max_error, delta)
        model, own = self._model(), self._model().held_out
        record = LeafRecord.of(own.scores, own.leaf, own.distance)
        edges = record.band_edges([one.n_leaves for one in model.cascades], bands)
        if X is None:
            counts = count_groups(record, edges, own.codes, own.weight)
        else:
            record = self._leaf_record(X)
            codes = self._codes(y, len(record.predicted))
            counts = count_groups(record, edges, codes, countable(X, self.remembered_rows_))
        return RejectOption.of(self, edges, counts, max_error, delta, X is not None)

    # --- books ---------------------------------------------------------------------------------------------

    def ledger(self) -> LeafLedger | dict[Any, LeafLedger]:
        """One row per leaf, with the terms of the criterion (3.8); a dictionary by class for one-vs-rest."""
        model = self._model()
        ledgers = [model.ledger(t) for t in range(len(model.cascades))]
        names = cascade_names(model, list(self.classes_))
        return ledgers[0] if len(ledgers) == 1 else dict(zip(names, ledgers))

    def estimate_cost(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> CostEstimate:
        """Memory and a range of time of a fit before it starts, from two small fits (ESTIMATE).

        How many cascades a search must look at depends on the data: the range is wide.
        """
        return estimate_cost(self, X, y, sample_weight)

    # --- helpers -------------------------------------------------------------------------------------------

    def _model(self) -> CascadeModel:
        check_is_fitted(self, "model_")
        return self.model_

    def _design(self, X: Any) -> Floats:
        return self._model().encode(self._table(X))

    def _leaf_record(self, X: Any) -> LeafRecord:
        return self._model().record(self._design(X), self.n_jobs)

    def _codes(self, y: Any, n: int) -> Codes:
        labels = np.asarray(y).ravel()
        if len(labels) != n:
            raise ValueError(f"X has {n} rows, but y has {len(labels)} labels.")
        codes = np.searchsorted(self.classes_, labels)
        codes = np.minimum(codes, len(self.classes_) - 1)
        unknown = labels[np.asarray(self.classes_)[codes] != labels]
        if len(unknown):
            raise ValueError(f"y has labels that did not occur in training, such as {unknown[0]!r}.")
        return codes.astype(np.int32)

    @classmethod
    def _state_of_today(cls, state: dict[str, Any]) -> dict[str, Any]:
        if "cascades_" in state:  # a fitted estimator of format 1
            state["model_"] = CascadeModel.of_old_state(state)
        penalty_of_today(state, has_selection="C_selection" in cls._study_switches)
        return super()._state_of_today(state)
