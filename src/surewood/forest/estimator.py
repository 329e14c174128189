"""The engine's public estimator: random forests, extra-trees and completely random forests on bins."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surewood.bounds import EstimateEvidence, Evidence
from surewood.estimators.calibration import ScoreCalibrator
from surewood.estimators.cost import CostEstimate, refuse_beyond
from surewood.forest import report_facts
from surewood.forest.cost import forest_cost
from surewood.forest.parameters import check_forest_params, tree_params
from surewood.parallel.progress import stage
from surewood.tables import (
    ColumnReader,
    FitInputs,
    Table,
    begin_fit,
    begin_predict,
    by_batches,
    by_label,
    plain,
)
from surewood.trees.bag import Bag
from surewood.trees.binning import BinMapper, BinnedMatrix, bin_table, learn_bins
from surewood.trees.flat_tree import FlatForest
from surewood.trees.growing import Grown, grow_forest, out_of_bag
from surewood.trees.tracing import trace


class BinnedForestClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A forest of classification trees grown on at most 255 bins a column.

    Parameters have the names and the meaning of scikit-learn's ``RandomForestClassifier``. Tables are taken
    as they come: category columns are split by sets of categories, missing values follow the side that
    training found better.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    splitter : {"best", "random", "completely_random"}, default="best"
        "best" is a random forest; "random" draws one threshold a feature and takes the best of them
        (extra-trees); "completely_random" draws one feature and one threshold, both at random.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
    max_depth : int or None, default=None
    min_samples_split : int or float, default=2
    min_samples_leaf : int or float, default=1
        Counted in rows (a fraction: of the rows), as in scikit-learn.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of a leaf, as a fraction of the weight a tree sees.
    min_impurity_decrease : float, default=0.0
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default="auto"
        Features tried at a node. "auto" is "sqrt", or 1 for completely random trees, which take no other
        value.
    bootstrap : bool, default=True
        Draw rows with replacement for each tree.
    max_samples : int, float or None, default=None
        Rows drawn for each tree (a fraction: of the rows of positive weight). Without `bootstrap` they are
        drawn without replacement.
    oob_score : bool, default=False
        Compute ``oob_score_`` and ``oob_decision_function_``.
    calibrate : bool or {"auto", "temperature", "offset", "isotonic"}, default=False
        Calibrate probabilities on the out-of-bag votes (:mod:`surewood.estimators.calibration`);
        predictions stay the same. By default they are the vote fractions, as in scikit-learn's forests.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list of names, positions, mask or None, default="from_dtype"
    max_bins : int, default=255
        Most bins of a number column.
    max_memory : float or None, default=None
        Bytes that a fit may take beyond the table itself. A fit that would need more (:meth:`estimate_cost`
        tells beforehand) is refused.
    n_jobs : int or None, default=None
        Threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
    warm_start : bool, default=False
        Keep the trees of the last fit and grow only those that `n_estimators` asks for beyond them.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    forest_ : FlatForest
        The trees.
    mapper_ : BinMapper
        The bins of the columns.
    feature_importances_ : ndarray, shape (n_features,)
        Mean over trees of the normalised decreases of impurity.
    oob_score_ : float
        Accuracy of the out-of-bag predictions (ESTIMATE); with `oob_score` only.
    oob_decision_function_ : ndarray, shape (n_rows, n_classes)
        Out-of-bag class shares, NaN for rows that every tree saw; with `oob_score` only.
    n_features_in_, feature_names_in_, schema_
        What the training table looked like.

    Notes
    -----
    Probabilities are means of the leaves' class shares. Categories at a node are ordered by their share of
    the node's most frequent class (for two classes this finds the best of all subsets), and cut in two.
    Where a node saw no missing value, missing values and unseen categories follow its larger child.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = BinnedForestClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> forest.predict(X[:2]).tolist(), forest.predict_proba(X).shape
    ([0, 0], (150, 3))
    """

    __report_facts__ = report_facts.report_facts
    __explanation_steps__ = report_facts.explanation_steps

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        splitter: str = "best",
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: str | int | float | None = "auto",
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: bool = False,
        calibrate: bool | str = False,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        max_bins: int = 255,
        max_memory: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.splitter = splitter
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | str | None = None
    ) -> BinnedForestClassifier:
        """Grow the forest.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, sparse matrix, pandas or polars frame; NaN and None are missing values. Or a
            :class:`~surewood.tables.ParquetTable`, or the path of a Parquet file or folder, which are read
            batch by batch: the table may be larger than memory.
        y : array of shape (n_rows,)
            Labels. For a Parquet file: the name of their column.
        sample_weight : array of shape (n_rows,), optional
            Rows of weight 0 are absent; weight 2 is the row twice, in bootstrap samples too. Weights that
            are not whole numbers multiply what was drawn.
        """
        check_forest_params(self)
        with begin_fit(
            self,
            X,
            y,
            sample_weight,
            class_weight=self.class_weight,
            categorical_features=self.categorical_features,
            merge_streamed=False,  # bags treat equal rows as one row of their weight anyway
        ) as inputs:
            kept = self._kept_trees(inputs)
            if kept is None:
                mapper, seed = learn_bins(inputs.table, inputs.weight, self.max_bins), self._draw_seed()
            else:
                mapper, seed = self.mapper_, self.seed_
            matrix = BinnedMatrix.of(mapper.codes(inputs.table), mapper)
            if self.max_memory is not None:
                needed = self._cost(matrix, inputs, 0.0).memory_bytes
                refuse_beyond(self.max_memory, needed, "use fewer or smaller trees")
            grown = self._grow(matrix, inputs, seed, 0 if kept is None else kept.n_trees)
            self._store(inputs, matrix, grown, kept)
        return self

    def estimate_cost(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | str | None = None
    ) -> CostEstimate:
        """Memory and time of a fit before it starts, from a few probe trees (ESTIMATE)."""
        check_forest_params(self)
        started = time.perf_counter()
        with begin_fit(
            self,
            X,
            y,
            sample_weight,
            class_weight=self.class_weight,
            categorical_features=self.categorical_features,
            merge_streamed=False,
        ) as inputs:
            matrix = bin_table(inputs.table, inputs.weight, self.max_bins)
            return self._cost(matrix, inputs, time.perf_counter() - started)

    def _cost(self, matrix: BinnedMatrix, inputs: FitInputs, bin_seconds: float) -> CostEstimate:
        return forest_cost(
            matrix,
            inputs.y,
            inputs.n_classes,
            tree_params(self, inputs.n_counted, inputs.table.n_columns),
            self.n_estimators,
            weight=inputs.weight,
            out_of_bag=bool(self.oob_score or self.calibrate),
            n_jobs=self.n_jobs,
            bin_seconds=bin_seconds,
        )

    def _draw_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _kept_trees(self, inputs: FitInputs) -> FlatForest | None:
        """The trees of an earlier fit that a warm start goes on from."""
        if not self.warm_start or not hasattr(self, "forest_"):
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
        if self.n_estimators < self.forest_.n_trees:
            raise ValueError(
                f"n_estimators={self.n_estimators} is below the {self.forest_.n_trees} trees that "
                "warm_start=True keeps; raise it or use warm_start=False."
            )
        return self.forest_

    def _grow(self, matrix: BinnedMatrix, inputs: FitInputs, seed: int, first_tree: int) -> Grown:
        return grow_forest(
            matrix,
            inputs.y,
            inputs.n_classes,
            tree_params(self, inputs.n_counted, inputs.table.n_columns),
            n_trees=self.n_estimators - first_tree,
            seed=seed,
            weight=inputs.weight,
            first_tree=first_tree,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _store(self, inputs: FitInputs, matrix: BinnedMatrix, grown: Grown, kept: FlatForest | None) -> None:
        forest, importances = grown.forest, grown.importances
        if kept is not None:
            forest = kept.extend(grown.forest)
            new = grown.forest.n_trees / max(forest.n_trees, 1)
            importances = (1 - new) * self._mean_importances + new * importances
        oob = calibrator = None
        if self.oob_score or self.calibrate:
            shares = self._out_of_bag(forest, grown.bag, matrix, inputs)
            oob = inputs.expand(shares), self._oob_accuracy(shares, inputs)
            if self.calibrate:
                method = "auto" if self.calibrate is True else self.calibrate
                with stage(self.verbose, "calibrating", 1) as advance:
                    calibrator = ScoreCalibrator(method).fit(
                        shares, inputs.y, inputs.weight, advance, self.n_jobs
                    )
        inputs.store(self)
        self.calibrator_ = calibrator
        self.forest_ = forest
        self.mapper_: BinMapper = matrix.mapper
        self.seed_ = grown.bag.seed
        self._mean_importances: NDArray[np.float64] = importances
        for name in ("oob_score_", "oob_decision_function_"):
            self.__dict__.pop(name, None)
        if oob is not None and self.oob_score:
            self.oob_decision_function_, self.oob_score_ = oob

    def _out_of_bag(
        self, forest: FlatForest, bag: Bag, matrix: BinnedMatrix, inputs: FitInputs
    ) -> NDArray[np.float64]:
        """Class shares of every row of the table by trees that did not see it; NaN where all did."""
        sums, votes = out_of_bag(forest, bag, matrix, self.n_jobs)
        shares = np.full((inputs.table.n_rows, inputs.n_classes), np.nan)
        seen = votes > 0
        rows = bag.rows[seen]
        shares[rows] = sums[seen] / votes[seen, None]
        return shares

    @staticmethod
    def _oob_accuracy(shares: NDArray[np.float64], inputs: FitInputs) -> float:
        rows = np.flatnonzero(~np.isnan(shares[:, 0]))
        if len(rows) == 0:
            return float("nan")
        right = shares[rows].argmax(axis=1) == inputs.y[rows]
        weight = None if inputs.weight is None else inputs.weight[rows]
        return float(np.average(right, weights=weight))

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Impurity importances, summing to 1 (all 0 when no tree has a split)."""
        check_is_fitted(self, "forest_")
        total = self._mean_importances.sum()
        return self._mean_importances / total if total > 0 else self._mean_importances

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class shares, shape (n_rows, n_classes), columns in the order of ``classes_``.

        Calibrated with `calibrate`.
        """
        if self._takes_as_is(X):
            return self._calibrated(self.forest_.predict_proba_raw(X, self.mapper_, self.n_jobs))
        return self._calibrated(by_batches(begin_predict(self, X), self._table_proba))

    def _calibrated(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        return shares if self.calibrator_ is None else self.calibrator_.transform(shares)

    def _table_proba(self, table: Table) -> NDArray[np.float64]:
        if self.mapper_.is_category.any():
            return self.forest_.predict_proba(self._binned(table), self.n_jobs)
        return self.forest_.predict_proba_raw(table.matrix(), self.mapper_, self.n_jobs)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest share, the first on ties."""
        shares = self.predict_proba(X)
        labels: NDArray[Any] = np.asarray(self.classes_)[shares.argmax(axis=1)]
        return labels

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def apply(self, X: Any) -> NDArray[np.uint32]:
        """Node (within its tree) in which each row ends, shape (n_rows, n_trees)."""

        def nodes(table: Table) -> NDArray[np.uint32]:
            return self.forest_.apply(self._binned(table), n_jobs=self.n_jobs)

        return by_batches(begin_predict(self, X), nodes)

    def decision_path(self, X: Any) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
        """Nodes that each row passes, as in scikit-learn.

        Returns
        -------
        indicator : csr matrix, shape (n_rows, total number of nodes)
        n_nodes_ptr : ndarray, shape (n_trees + 1,)
            Columns ``n_nodes_ptr[t]`` to ``n_nodes_ptr[t + 1]`` belong to tree `t`.
        """
        leaves = self.apply(X).astype(np.int64)
        start = self.forest_.node_start
        rows, columns = [], []
        for tree in range(self.forest_.n_trees):
            parent = self.forest_.table(tree)["parent"]
            at, row = leaves[:, tree], np.arange(len(leaves))
            while len(at):
                rows.append(row)
                columns.append(at + start[tree])
                at = parent[at]
                row, at = row[at >= 0], at[at >= 0]
        row, column = np.concatenate(rows), np.concatenate(columns)
        values = np.ones(len(row), dtype=np.int64)
        indicator = sp.csr_matrix((values, (row, column)), shape=(len(leaves), int(start[-1])))
        return indicator, start.copy()

    def explain(self, X: Any) -> list[dict[str, Any]]:
        """How rows were classified: path, leaf and votes of every tree.

        Parameters
        ----------
        X : table of a few rows
            Every row gives as many paths as there are trees.

        Returns
        -------
        list of dict
            One a row, of values that JSON knows: ``kind`` ("forest"), ``prediction``, ``probabilities`` by
            label, ``features`` (questions met about each, most first), and ``trees``, one entry a tree
            with ``tree``, ``leaf`` (as in :meth:`apply`), ``path``, ``votes`` (class shares of the leaf) and
            ``vote``. A step of a path has ``feature``, ``operator`` (<=, >, in, not in, is missing, is not
            missing), ``value``, and the row's ``actual`` value, None where it is missing.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = BinnedForestClassifier(10, max_depth=2, random_state=0).fit(X, y)
        >>> told = forest.explain(X[:1])[0]
        >>> told["prediction"], len(told["trees"]), sorted(told["trees"][0]["path"][0])
        (0, 10, ['actual', 'feature', 'operator', 'value'])
        """
        table = begin_predict(self, X)
        proba = self.predict_proba(X)
        traces = trace(self.forest_, self._binned(table), self.mapper_)
        reader = ColumnReader(table, self.schema_)
        told = []
        for row, shares in enumerate(proba):
            trees = []
            for tree in range(self.forest_.n_trees):
                leaf = int(traces.leaf[row, tree] - self.forest_.node_start[tree])
                votes = self.forest_.class_vector(tree, leaf)
                trees.append(
                    {
                        "tree": tree,
                        "leaf": leaf,
                        "path": traces.path(row, tree, reader),
                        "votes": by_label(self.classes_, votes),
                        "vote": plain(self.classes_[votes.argmax()]),
                    }
                )
            told.append(
                {
                    "kind": "forest",
                    "prediction": plain(self.classes_[shares.argmax()]),
                    "probabilities": by_label(self.classes_, shares),
                    "features": traces.questions(row, reader),
                    "trees": trees,
                }
            )
        return told

    def __certificate_evidence__(self) -> Iterable[Evidence]:
        """The out-of-bag error (ESTIMATE), with `oob_score`.

        Bins are learned from all rows and leaves vote with shares, so the conditions of the PAC-Bayes bounds
        (theory.md §6.3) do not hold and no guarantee is offered.
        """
        check_is_fitted(self, "forest_")
        if hasattr(self, "oob_score_") and np.isfinite(self.oob_score_):
            known = int((~np.isnan(self.oob_decision_function_[:, 0])).sum())
            yield EstimateEvidence(
                name="out-of-bag error", value=1.0 - self.oob_score_, n=known, used_for_selection=False
            )

    def _takes_as_is(self, X: Any) -> bool:
        """Whether X is plainly what the engine reads: one row is then predicted in microseconds.

        Everything else, errors included, goes through the general checks.
        """
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype in (np.float32, np.float64)
            and hasattr(self, "forest_")
            and X.shape[1] == self.n_features_in_
            and len(X) > 0
            and X.flags.c_contiguous
            and not hasattr(self, "feature_names_in_")
            and not self.mapper_.is_category.any()
            and not np.isinf(X).any()
        )

    def _binned(self, table: Table) -> BinnedMatrix:
        return BinnedMatrix.of(self.mapper_.codes(table), self.mapper_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
