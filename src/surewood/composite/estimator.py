"""What the tree, the forest and its CV twin have in common once they are fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from surewood._arrays import Floats
from surewood.composite import accounting
from surewood.composite import parameters as check
from surewood.composite.books import Books
from surewood.composite.cost import cost_of, memory_of
from surewood.composite.data import TrainingData, prepare
from surewood.composite.ensemble import Ensemble, fit_plan, with_out_of_fold
from surewood.composite.machines import SolverOptions
from surewood.composite.model import ROWS_A_BLOCK
from surewood.composite.rules import ENOUGH_FOR_BAGS, Plan, resolve
from surewood.estimators.calibration import ScoreCalibrator
from surewood.estimators.cost import CostEstimate, refuse_beyond
from surewood.parallel.progress import stage
from surewood.svm import first_rows, gram_limit
from surewood.tables import DesignEncoder, FitInputs, Table, begin_fit, begin_predict, by_batches


class _CompositeClassifier(Books, ClassifierMixin, BaseEstimator):
    """Shared methods; subclasses have the parameters, and may find the plan in another way."""

    # --- fit -----------------------------------------------------------------------------------------------

    def _begin(self, X: Any, y: Any, sample_weight: Any, merge: bool = True) -> FitInputs:
        check.check_common(self)
        return begin_fit(
            self,
            X,
            y,
            sample_weight,
            class_weight=self.class_weight,
            categorical_features=self.categorical_features,
            merge=merge,
        )

    def _options(self) -> SolverOptions:
        return SolverOptions(float(self.tol), int(self.max_iter), self.n_jobs, int(self.verbose))

    def _draw_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit to a table and its labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, sparse matrix, pandas or polars frame; categories and missing values as they come. Or a
            :class:`~surewood.tables.ParquetTable`, or the path of a Parquet file or folder, which are read
            batch by batch: only the rows of the leaves at work are in memory.
        y : array of shape (n_rows,)
            Labels. For a Parquet file: the name of their column.
        sample_weight : array of shape (n_rows,), optional
            Multiplies C and counts; rows of weight 0 are absent.
        """
        with self._begin(X, y, sample_weight) as inputs:
            data = self._prepared(inputs)
            seed, options = self._draw_seed(), self._options()
            plan = resolve(self, data, seed, options)
            self._carry_out(inputs, data, plan, seed, options, not inputs.weighted)
        return self

    def _carry_out(
        self,
        inputs: FitInputs,
        data: TrainingData,
        plan: Plan,
        seed: int,
        options: SolverOptions,
        unweighted: bool,
    ) -> None:
        """Fit a plan, calibrate, and only then write on the estimator."""
        ensemble = fit_plan(data, plan, seed, options, self.leaf_scores)
        ensemble = self._judged(data, ensemble, plan, seed, options)
        calibrator = self._calibrator(data, ensemble)
        self._store(inputs, data, plan, ensemble, calibrator)
        self._unweighted = unweighted

    def _judged(
        self, data: TrainingData, ensemble: Ensemble, plan: Plan, seed: int, options: SolverOptions
    ) -> Ensemble:
        """With held-out votes where calibration needs them and the bags do not give them."""
        if ensemble.held_out is not None or self.calibrate is False or data.total() < ENOUGH_FOR_BAGS:
            return ensemble
        return with_out_of_fold(data, ensemble, plan, seed, options)

    def _calibrator(self, data: TrainingData, ensemble: Ensemble) -> ScoreCalibrator | None:
        if self.calibrate is False or ensemble.held_out is None or data.n_classes < 2:
            return None
        with stage(int(self.verbose), "calibrating", 1) as advance:
            calibrator = ScoreCalibrator(self.calibrate)
            return calibrator.fit(ensemble.held_out, data.y, data.weight, advance, self.n_jobs)

    def _store(
        self,
        inputs: FitInputs,
        data: TrainingData,
        plan: Plan,
        ensemble: Ensemble,
        calibrator: ScoreCalibrator | None,
    ) -> None:
        inputs.store(self)
        self.model_ = ensemble.model
        self.reader_ = data.reader
        self.settings_ = ensemble.settings
        self.n_iter_ = max(1, int(ensemble.model.facts.iterations.max(initial=0)))
        self.plain_share_ = plan.plain_share
        self.calibrator_ = calibrator
        self.n_design_ = data.n_features
        predictor = ensemble.model.predictor
        self._support_origin = None if predictor is None else first_rows(inputs)[predictor.support_index]
        self._part_of_tree = ensemble.part_of_tree
        self._importances = ensemble.importances
        self._n_degrees = plan.n_degrees
        self._tuned = plan.portfolio is not None
        self._votes = ensemble.votes
        self._growth = accounting.question_growth(data.reader.mapper, data.matrix.has_missing, data.n_rows)
        self._affine = all(
            p is None or int(p.max(initial=-1)) < data.reader.encoder.max_categories
            for p in data.reader.encoder.positions_
        )
        self._held_out_kind = ensemble.held_out_kind
        self._held_out_rows = 0
        self.held_out_error_ = np.nan
        if ensemble.held_out is not None:
            known = ~np.isnan(ensemble.held_out).any(axis=1)
            wrong = ensemble.held_out[known].argmax(axis=1) != data.y[known]
            weight = None if data.weight is None else data.weight[known]
            self._held_out_rows = int(known.sum())
            if known.any():
                self.held_out_error_ = float(np.average(wrong, weights=weight))

    # --- predictions ---------------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities: the trees' mean score, calibrated unless `calibrate` is False.

        The largest probability of a row is that of the class with the largest mean score.
        """
        shares = by_batches(begin_predict(self, X), self._shares)
        return shares if self.calibrator_ is None else self.calibrator_.transform(shares)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest probability, the first on ties."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_)[best]

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _shares(self, table: Table) -> Floats:
        """Mean score of the trees, in blocks of rows so that memory does not grow with the table."""
        out = np.empty((table.n_rows, len(self.classes_)))
        for begin in range(0, table.n_rows, ROWS_A_BLOCK):
            end = min(begin + ROWS_A_BLOCK, table.n_rows)
            part = table if end - begin == table.n_rows else table.take(np.arange(begin, end))
            out[begin:end] = self.model_.all_shares(
                self.reader_.matrix(part), self.reader_.design(part), self.leaf_scores, self.n_jobs
            )
        return out

    def tree_predictions(self, X: Any) -> NDArray[Any]:
        """The label that each composite tree gives to each row, shape (n_rows, n_trees)."""
        table = begin_predict(self, X)

        def labels(part: Table) -> NDArray[np.int32]:
            return self.model_.labels(self.reader_.matrix(part), self.reader_.design(part), self.n_jobs)

        return np.asarray(self.classes_)[by_batches(table, labels)]

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Number of the leaf (within its tree, as in :meth:`ledger`) of each row, shape (n_rows, n_trees)."""
        table = begin_predict(self, X)
        leaf = self.model_.leaf_index(self.reader_.matrix(table), self.n_jobs)
        first = np.searchsorted(self.model_.facts.tree, np.arange(self.model_.n_trees))
        return leaf.astype(np.int64) - first

    def decision_path(self, X: Any) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
        """Nodes that each row passes in the composite trees, as in scikit-learn's forests."""
        table = begin_predict(self, X)
        leaf = self.model_.leaf_index(self.reader_.matrix(table), self.n_jobs)
        at = self.model_.facts.node[leaf]
        start = self.model_.forest.node_start
        parent = np.concatenate(
            [
                np.where(t["parent"] >= 0, t["parent"] + s, -1)
                for t, s in zip((self.model_.forest.table(k) for k in range(self.model_.n_trees)), start)
            ]
        )
        row = np.broadcast_to(np.arange(len(at))[:, None], at.shape).ravel()
        at = at.ravel()
        rows, columns = [], []
        while len(at):
            rows.append(row)
            columns.append(at)
            at = parent[at]
            row, at = row[at >= 0], at[at >= 0]
        row, column = np.concatenate(rows), np.concatenate(columns)
        shape = (leaf.shape[0], int(start[-1]))
        return sp.csr_matrix((np.ones(len(row), dtype=np.int64), (row, column)), shape=shape), start.copy()

    def estimate_cost(self, X: Any, y: Any, sample_weight: Any = None) -> CostEstimate:
        """Memory and a range of time of a fit, without doing it (ESTIMATE)."""
        inputs = self._begin(X, y, sample_weight)
        width = max(DesignEncoder().fit(inputs.table, inputs.weight).n_columns_, 1)
        return cost_of(self, inputs.table.n_rows, inputs.table.n_columns, width, inputs.n_classes)

    def _prepared(self, inputs: FitInputs) -> TrainingData:
        """What a fit reads, unless it would need more than `max_memory`."""
        if self.max_memory is not None:
            width = max(DesignEncoder().fit(inputs.table, inputs.weight).n_columns_, 1)
            shape = inputs.table.n_rows, inputs.table.n_columns
            parts, _ = memory_of(self, *shape, width, inputs.n_classes)
            refuse_beyond(self.max_memory, sum(parts.values()), "use fewer trees or fewer rows")
        return prepare(inputs, gram_limit(self.max_memory), self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
