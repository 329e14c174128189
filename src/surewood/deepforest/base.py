"""What all cascades share: preparing data, predicting, evidence, importances, cost.

A subclass names its rules and study switches and says how its blocks, its plan and its model are made
(`_blocks`, `_plan`, `_train`). :class:`MarginForestBase` adds what the margin forest and its CV twin share.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import Floats
from surewood.bounds import Evidence
from surewood.deepforest import report_facts
from surewood.deepforest.cost import LayerCost, estimate_cost, within_memory
from surewood.deepforest.data import PreparedData, prepare
from surewood.deepforest.depth_schedules import Schedule
from surewood.deepforest.evidence import held_out_evidence, theorem_evidence
from surewood.deepforest.explaining import explain_rows
from surewood.deepforest.explanation_steps import explanation_steps
from surewood.deepforest.model import DeepForestModel, MarginForestModel, without_held_out
from surewood.deepforest.old_form import model_of_old_state
from surewood.deepforest.plan import Blocks, FitPlan, Parameters
from surewood.deepforest.records import LayerRecord
from surewood.deepforest.reweighting import WeightRule
from surewood.estimators.base import ClassifierBase
from surewood.estimators.calibration import held_out_probabilities
from surewood.estimators.declaring import StudyParameter, TimedRunParameters, parameters
from surewood.estimators.parameters import check_parameters, study_settings
from surewood.estimators.seeds import draw_seed
from surewood.estimators.time_limit import TimeLimit
from surewood.tables import FitInputs, Table, begin_predict, by_batches


@parameters()
class DeepForestBase(ClassifierBase, TimedRunParameters, StudyParameter):
    """Base of the cascades; not an estimator by itself."""

    __report_facts__ = report_facts.cascade_report_facts
    __explanation_steps__ = explanation_steps
    layer_table = report_facts.layer_table
    staged_margins = report_facts.staged_margins

    _renamed_parameters = {"n_folds": "cv"}  # noqa: RUF012
    _explained_kind: ClassVar[str]

    model_: Any = field(init=False)
    n_estimators: int = field(default=100, kw_only=False)
    forests: Any = "auto"
    cv: Any = 5
    max_features: Any = "sqrt"
    min_weight_fraction_leaf: float = 0.0
    max_layers: int = 10

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | str | None = None) -> Any:
        """Grow the cascade.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, sparse matrix, pandas or polars frame; NaN and None are missing values. Or a
            :class:`~surewood.tables.ParquetTable`, or the path of a Parquet file or folder, which are read
            batch by batch: the table may be larger than memory.
        y : array of shape (n_rows,)
            Labels. For a Parquet file: the name of their column.
        sample_weight : array of shape (n_rows,), optional
            Rows of weight 0 are absent; whole numbers are counts: weight 2 is the row twice.

        Returns
        -------
        self
        """
        parameters = self._parameters()
        with self._begin(X, y, sample_weight) as inputs:
            plan, data = self._planned(parameters, inputs)
            fitted = self._train(within_memory(plan, data), data)
            self._store_fit(inputs)
            self._store(fitted)
        return self

    def _fit_held_out(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """Fit; held-out probabilities of the rows of `X`, which the fitted model then does not keep."""
        self.fit(X, y, sample_weight)
        model: DeepForestModel = self.model_
        self.model_ = without_held_out(model)
        return held_out_probabilities(model.held_out.scores, model.calibrator)

    def _parameters(self) -> Parameters:
        """All parameters and study switches by name, checked; the time of the fit starts here."""
        check_parameters(self)
        limit = TimeLimit(self.time_limit)
        return {**self.get_params(deep=False), **study_settings(self), "time_limit": limit}

    def _begin(self, X: Any, y: Any, sample_weight: Any) -> FitInputs:
        # Not merged: trees and margins count each of equal rows, see row_order.
        inputs = self._begin_fit(X, y, sample_weight, merge=False)
        n_rows = inputs.table.n_rows if inputs.weight is None else int((inputs.weight > 0).sum())
        if n_rows < 2:
            raise ValueError(f"found n_samples={n_rows} of positive weight; cross-fitting needs at least 2.")
        return inputs

    def _planned(self, parameters: Parameters, inputs: FitInputs) -> tuple[FitPlan[Any], PreparedData]:
        seed = draw_seed(self.random_state)
        blocks = self._blocks(parameters, inputs.table)
        data = prepare(inputs, blocks, parameters["max_bins"], parameters["cv"])
        return self._plan(parameters, blocks, data, seed), data

    @abstractmethod
    def _blocks(self, parameters: Parameters, table: Table) -> Blocks:
        """The blocks of forests to compare at the first layer."""

    @abstractmethod
    def _plan(self, parameters: Parameters, blocks: Blocks, data: PreparedData, seed: int) -> FitPlan[Any]:
        """The plan of the fit."""

    @abstractmethod
    def _train(self, plan: Any, data: PreparedData) -> Any:
        """What :meth:`_store` stores."""

    def _store(self, fitted: Any) -> None:
        self.model_ = fitted

    def _model(self) -> Any:
        check_is_fitted(self, "model_")
        return self.model_

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, shape (n_rows, n_classes), columns in the order of ``classes_``.

        Calibrated on the held-out scores of the training points by default, see `calibrate`.
        """
        model: DeepForestModel = self._model()
        return by_batches(begin_predict(self, X), lambda table: model.probabilities(table, self.n_jobs))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Probabilities after 1, 2, ... layers; the last ones are :meth:`predict_proba`.

        The calibration is that of the last layer, so stages differ in their scores only.
        """
        model: DeepForestModel = self._model()
        for scores in model.staged_scores(begin_predict(self, X), self.n_jobs):
            yield model.calibrated(scores)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predictions after 1, 2, ... layers."""
        for proba in self.staged_predict_proba(X):
            yield np.asarray(self.classes_)[proba.argmax(axis=1)]

    def _explained(self, X: Any) -> list[dict[str, Any]]:
        """Class vectors and margins, layer by layer."""
        model, table = self._model(), begin_predict(self, X)
        details = explain_rows(model, table, self.schema_, self.classes_, self.n_jobs)
        return self._explanations(self._explained_kind, self.predict_proba(X), details)

    @property
    def layers_(self) -> list[LayerRecord]:
        """One record per layer, kept or not."""
        return list(self._model().records)

    @property
    def n_layers_(self) -> int:
        """Layers that predict."""
        return int(self._model().n_layers)

    @property
    def stop_reason_(self) -> str:
        """Why growing ended: "no gain", "perfect", "max_layers" or "time_limit"."""
        return str(self._model().stop_reason)

    @property
    def forests_(self) -> list[tuple[str, int]]:
        """Kind and number of trees of each forest of a layer."""
        return list(self._model().forests)

    @property
    def held_out_scores_(self) -> Floats:
        """Scores of the training rows from models that did not see them."""
        return np.asarray(self._model().held_out.scores)

    @property
    def held_out_labels_(self) -> NDArray[np.int32]:
        """Class codes of the training rows."""
        return np.asarray(self._model().held_out.labels)

    @property
    def staged_held_out_scores_(self) -> list[Floats]:
        """Held-out scores after each layer, where they were kept."""
        return list(self._model().held_out.staged)

    @property
    def feature_importances_(self) -> Floats:
        """Impurity importances of the table's columns, summing to 1.

        What a layer gains from the class vectors of earlier layers is passed on to the columns those were
        made from.
        """
        return np.asarray(self._model().importances(self.n_features_in_))

    def estimate_cost(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> LayerCost:
        """Memory and time of a fit before it starts, extrapolated from a few probe trees (ESTIMATE).

        Returns
        -------
        LayerCost
            A :class:`surewood.estimators.cost.CostEstimate` with figures per layer.
        """
        parameters = self._parameters()
        with self._begin(X, y, sample_weight) as inputs:
            return estimate_cost(*self._planned(parameters, inputs))

    def __certificate_evidence__(self) -> Iterator[Evidence]:
        """Estimates and heuristics that :func:`surewood.certify` can add about this model."""
        yield from held_out_evidence(self._model())

    @classmethod
    def _state_of_today(cls, state: dict[str, Any]) -> dict[str, Any]:
        state = model_of_old_state(state) if "reader_" in state else state
        return super()._state_of_today(state)


class MarginForestBase(DeepForestBase):
    """What the margin forest and its CV twin share."""

    __report_facts__ = report_facts.margin_report_facts
    _explained_kind = "margin_forest"

    @property
    def alphas_(self) -> Floats:
        """Weight of each kept layer in the final score."""
        model: MarginForestModel = self._model()
        return model.alphas

    @property
    def depth_schedule_(self) -> Schedule:
        """Growth rate of the depth, one per forest."""
        model: MarginForestModel = self._model()
        return model.schedule

    @property
    def reweighting_(self) -> WeightRule:
        """The weight rule in force ("chosen" resolved)."""
        model: MarginForestModel = self._model()
        return model.weights

    def __certificate_evidence__(self) -> Iterator[Evidence]:
        """Held-out error, margin ratio, and the value of the stated theorem (4.7): no guarantee."""
        yield from super().__certificate_evidence__()
        yield from theorem_evidence(self._model(), self.n_features_in_)
