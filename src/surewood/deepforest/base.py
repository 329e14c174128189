"""What the two cascades have in common: preparing data, predicting, probabilities, importances, cost.

A subclass checks its own parameters (`_check`), grows (`_grow`) and traces importances through its layers
(`_trace_importances`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import Floats
from surewood.deepforest import report_facts
from surewood.deepforest.block import LayerInput
from surewood.deepforest.checks import check_common
from surewood.deepforest.cost import LayerCost, estimate_cascade_cost, settle_memory
from surewood.deepforest.evidence import held_out_evidence
from surewood.deepforest.explaining import told_rows
from surewood.deepforest.explanation_steps import explanation_steps
from surewood.deepforest.folds import usable_folds
from surewood.deepforest.layer_input import InputReader, training_input
from surewood.deepforest.members import Member, TreeSettings, parse_compositions
from surewood.deepforest.row_order import OrderedRows, content_keys, order_rows, put_in_order
from surewood.deepforest.spilling import SpillFolder
from surewood.deepforest.training import RunOptions, TrainingSet
from surewood.deepforest.wide_tables import has_machine
from surewood.estimators.calibration import ScoreCalibrator
from surewood.parallel.progress import stage
from surewood.tables import FitInputs, Table, begin_fit, begin_predict, by_batches, column_names

_ROWS_AT_ONCE = 2**16  # rows predicted together: class vectors of all forests stay small


class DeepForestBase(ClassifierMixin, BaseEstimator, ABC):
    """Base of the cascades; not an estimator by itself."""

    __report_facts__ = report_facts.cascade_report_facts
    __explanation_steps__ = explanation_steps
    layer_table = report_facts.layer_table
    staged_margins = report_facts.staged_margins

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
        compositions = self._checked_compositions()
        inputs, seed = self._begin(X, y, sample_weight)
        with inputs:
            self._fit(inputs, self._offered(compositions, inputs.table), seed)
        return self

    def _fit(self, inputs: FitInputs, compositions: list[list[Member]], seed: int) -> None:
        reader, ordered, training = self._prepare(inputs, compositions)
        run = self._run_options(training, compositions)
        rows, validation = np.arange(training.n_rows), None
        if self.validation_fraction is not None:
            rows, held = training.split_off(self.validation_fraction, seed)
            training, validation = training.take(rows), training.take(held)
        n_folds = usable_folds(training.y, self.n_folds, inputs.classes)
        grown = self._grow(training, validation, compositions, n_folds, seed, run)
        self._store(inputs, reader, OrderedRows(ordered.source[rows], training.weight), training, grown, run)

    def _checked_compositions(self) -> list[list[Member]]:
        """Check all parameters; the blocks to compare at the first layer."""
        check_common(self)
        compositions = parse_compositions(self.forests, self.n_estimators)
        self._check(compositions)
        return compositions

    def _offered(self, compositions: list[list[Member]], table: Table) -> list[list[Member]]:
        """The blocks to compare, now that the table is known."""
        return compositions

    @abstractmethod
    def _check(self, compositions: list[list[Member]]) -> None:
        """Check the subclass's own parameters."""

    @abstractmethod
    def _grow(
        self,
        training: TrainingSet,
        validation: TrainingSet | None,
        compositions: list[list[Member]],
        n_folds: int,
        seed: int,
        run: RunOptions,
    ) -> Any:
        """Grow and return the fit with ``model``, ``records``, ``held_out``, ``staged_held_out``."""

    @abstractmethod
    def _trace_importances(self) -> Floats:
        """Importances of the table's columns."""

    def _begin(self, X: Any, y: Any, sample_weight: Any) -> tuple[FitInputs, int]:
        inputs = begin_fit(
            self,
            X,
            y,
            sample_weight,
            class_weight=self.class_weight,
            categorical_features=self.categorical_features,
            merge=False,  # folds must split equal rows, see row_order
        )
        n_rows = inputs.table.n_rows if inputs.weight is None else int((inputs.weight > 0).sum())
        if n_rows < 2:
            raise ValueError(f"found n_samples={n_rows} of positive weight; cross-fitting needs at least 2.")
        return inputs, int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _prepare(
        self, inputs: FitInputs, compositions: list[list[Member]]
    ) -> tuple[InputReader, OrderedRows, TrainingSet]:
        """Bin the table once and put its rows in canonical order."""
        reader = InputReader.learn(
            inputs.table, inputs.weight, self.max_bins, [m for members in compositions for m in members]
        )
        codes = reader.mapper.codes(inputs.table)
        ordered = order_rows(content_keys(codes), inputs.y, inputs.weight)
        codes = put_in_order(codes, ordered.source)
        numbers = None if reader.numbers is None else reader.numbers.read(inputs.table)[ordered.source]
        base = training_input(codes, reader.mapper, numbers)
        return reader, ordered, TrainingSet(base, inputs.y[ordered.source], inputs.classes, ordered.weight)

    def _run_options(self, training: TrainingSet, compositions: list[list[Member]]) -> RunOptions:
        keep = self.keep_in_memory
        if self.max_memory is not None:
            keep = settle_memory(self._cost(training, compositions), self.max_memory, keep)
        spill = None if keep else SpillFolder(self.spill_folder)
        return RunOptions(self.n_jobs, self.verbose, spill, self.keep_held_out)

    def _tree_settings(self) -> TreeSettings:
        weighting = getattr(self, "weighting", "reweight")
        return TreeSettings(
            self.criterion,
            self.max_features,
            self.min_samples_leaf,
            float(self.min_weight_fraction_leaf),
            weighting,
        )

    def _store(
        self,
        inputs: FitInputs,
        reader: InputReader,
        ordered: OrderedRows,
        training: TrainingSet,
        grown: Any,
        run: RunOptions,
    ) -> None:
        calibrator = None
        if self.calibrate is not False:
            method = "auto" if self.calibrate is True else self.calibrate
            with stage(self.verbose, "calibrating", 1) as advance:
                calibrator = ScoreCalibrator(method).fit(
                    grown.held_out, training.y, training.weight, advance, self.n_jobs
                )
        inputs.store(self)
        self.reader_, self.calibrator_, self.spill_ = reader, calibrator, run.spill
        self.model_, self.layers_ = grown.model, grown.records
        self.n_layers_ = len(grown.model.layers)
        n_rows = inputs.table.n_rows
        self.held_out_scores_ = ordered.to_user_rows(grown.held_out, n_rows)
        self.held_out_labels_ = inputs.y
        self.staged_held_out_scores_ = [ordered.to_user_rows(s, n_rows) for s in grown.staged_held_out]

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, shape (n_rows, n_classes), columns in the order of ``classes_``.

        Calibrated on the held-out scores of the training points unless ``calibrate=False``.
        """
        return by_batches(begin_predict(self, X), self._table_proba)

    def _table_proba(self, table: Table) -> Floats:
        inputs = self.reader_.read(table)
        parts = []
        for start in range(0, inputs.matrix.n_rows, _ROWS_AT_ONCE):
            *_, scores = self.model_.staged_scores(inputs.rows(start, start + _ROWS_AT_ONCE), self.n_jobs)
            parts.append(self._probabilities(scores))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class, the first on ties."""
        proba = self.predict_proba(X)
        return np.asarray(self.classes_)[proba.argmax(axis=1)]

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Probabilities after 1, 2, ... layers; the last ones are :meth:`predict_proba`.

        The calibration is that of the last layer, so stages differ in their scores only.
        """
        table = begin_predict(self, X)
        for scores in self.model_.staged_scores(self.reader_.read(table), self.n_jobs):
            yield self._probabilities(scores)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predictions after 1, 2, ... layers."""
        for proba in self.staged_predict_proba(X):
            yield np.asarray(self.classes_)[proba.argmax(axis=1)]

    def explain(self, X: Any) -> list[dict[str, Any]]:
        """How rows were classified: class vectors and margins, layer by layer.

        Returns
        -------
        list of dict
            One a row, of values that JSON knows: ``kind`` ("margin_forest" or "cascade_forest"),
            ``prediction``, ``probabilities`` and ``votes`` (final score) by label, ``margin`` (distance of
            the two largest votes) and ``layers``, one entry a layer that the row met: ``layer``, ``weight``
            (share in the final score), ``vector`` (its own class vector), ``scores`` and ``margin`` after it,
            ``forests`` (``kind``, ``vector``, ``vote`` of each) and ``features`` (questions that its trees
            asked about each column, most first). A layer has hundreds or thousands of trees, so their single
            paths are not listed; cascade forests add the ``gate`` of a layer.
        """
        table = begin_predict(self, X)
        proba = self.predict_proba(X)
        names = column_names(self.schema_, table.n_columns)
        kind, scores, layers = self._explained(self.reader_.read(table), names)
        return told_rows(kind, self.classes_, proba, scores, layers)

    @abstractmethod
    def _explained(self, base: LayerInput, names: list[str]) -> tuple[str, Floats, list[list[Any]]]:
        """Kind of model, final scores, and the entries of the layers for every row."""

    def _probabilities(self, scores: Any) -> Floats:
        return np.asarray(scores if self.calibrator_ is None else self.calibrator_.transform(scores))

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    @property
    def feature_importances_(self) -> Floats:
        """Impurity importances of the table's columns, summing to 1.

        What a layer gains from the class vectors of earlier layers is passed on to the columns those were
        made from.
        """
        check_is_fitted(self, "model_")
        importances = self._trace_importances()
        total = importances.sum()
        return importances / total if total > 0 else importances

    def estimate_cost(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> LayerCost:
        """Memory and time of a fit before it starts, extrapolated from a few probe trees (ESTIMATE).

        Returns
        -------
        LayerCost
            A :class:`surewood.estimators.cost.CostEstimate` with figures a layer.
        """
        compositions = self._checked_compositions()
        inputs, _ = self._begin(X, y, sample_weight)
        with inputs:
            compositions = self._offered(compositions, inputs.table)
            _, _, training = self._prepare(inputs, compositions)
            return self._cost(training, compositions)

    def _cost(self, training: TrainingSet, compositions: list[list[Member]]) -> LayerCost:
        members = compositions[0]
        depth = self._first_depth(len(members))
        return estimate_cascade_cost(
            training,
            members,
            self._tree_settings(),
            depth,
            n_folds=1 if self.cross_fit == "oob" else self.n_folds,
            max_layers=self.max_layers,
            patience=self.patience,
            vector_columns=self._vector_columns(len(training.classes), len(members)),
            trial_layers=self._trial_layers(),
            n_jobs=self.n_jobs,
            contrasts=has_machine(compositions),
        )

    def __certificate_evidence__(self) -> Iterator[Any]:
        """What `surewood.certify` may add about this model: estimates and heuristics."""
        check_is_fitted(self, "model_")
        yield from held_out_evidence(self)

    def _trial_layers(self) -> tuple[float, float]:
        """Fewest and most layers that are grown to compare settings."""
        return 0.0, 0.0

    @abstractmethod
    def _first_depth(self, n_members: int) -> list[int | None]:
        """Depth limit of each member, for the cost estimate."""

    @abstractmethod
    def _vector_columns(self, n_classes: int, n_members: int) -> int:
        """Columns that a later layer adds to the table."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
