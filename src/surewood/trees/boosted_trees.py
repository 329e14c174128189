"""Boosted trees as an estimator."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from numpy.typing import ArrayLike

from surewood._arrays import Floats
from surewood.base.base import ClassifierBase, Fitted, normalized
from surewood.base.calibration import held_out_probabilities
from surewood.base.folds import draw_seed
from surewood.base.parameters import COMMON, TimedRunParameters, parameters
from surewood.base.rules import AUTO, Choice, Either, Fraction, Integer, Number
from surewood.tables import TrainingTable
from surewood.trees import boosted_model
from surewood.trees.boosted_model import BoostedModel
from surewood.trees.boosting import SHAPES, make_plan, train
from surewood.trees.monotone import MONOTONE

_RULES = {
    **COMMON,
    "learning_rate": Either(AUTO, Number(above=0.0)),
    "tree_shape": Choice(*SHAPES),
    "max_leaf_nodes": Either(AUTO, Integer(2)),
    "min_samples_leaf": Integer(1),
    "l2_regularization": Number(0.0),
    "max_samples": Fraction(),
    "gamma_scale": Number(0.0),
    "monotonic_cst": MONOTONE,
}


@parameters(_RULES)
class BoostedTreesClassifier(ClassifierBase[BoostedModel], TimedRunParameters):
    """Gradient boosting on histograms, cross-fitted.

    The rows are divided into eight folds. For each fold, trees are grown on the other rows while the log-loss
    of the fold falls; a round has one tree, whose leaves hold a value per class. The fitted model is the mean
    of the eight models' scores (fewer models on more than 6,250 rows). The held-out probabilities of the
    folds choose the number of rounds and calibrate the model.

    Symmetric trees have one split per level for all leaves, leaf-wise ones split the leaf that gains most;
    the models of a fit take shapes and sizes in turn. Categories are ordered by smoothed frequencies of the
    classes, counted on other rows; missing values follow the better side.

    The order of the columns matters: features are drawn by position, and ties go to the first column.

    Parameters
    ----------
    n_estimators : int, default=1000
        Maximum number of rounds.
    learning_rate : float or "auto", default="auto"
        By default 0.1; larger with fewer than 50 rounds.
    tree_shape : {"auto", "symmetric", "leaf-wise"}, default="auto"
    max_leaf_nodes : int or "auto", default="auto"
        By default 16, 64 or 256 leaves of a symmetric tree (64 without other shapes), 16 of a leaf-wise one.
        Symmetric trees have at most eight levels.
    min_samples_leaf : int, default=5
        Counted in rows. A leaf of a symmetric tree that would be smaller adds nothing to the gain of a split.
    min_weight_fraction_leaf : float, default=0.0
        Minimum number of rows in a leaf as a fraction of the rows, if that is more than `min_samples_leaf`.
    l2_regularization : float, default=0.3
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default="auto"
        Columns that a tree may split on, drawn at random. "auto" is half of them; of fewer than 16, up to
        eight, as many as there are hundreds of rows per output.
    max_samples : float, default=0.8
        Fraction of the rows that a tree is grown on. Its values are found on all training rows.
    gamma_scale : float, default=0.0
        Complexity penalty: a split must gain this many times what its leaves and its place among all
        splits cost in a bound of the complexity (theory.md §13.2). 0 is no penalty.
    monotonic_cst : mapping of column names, or list with an entry per column, default=None
        1: the probability of the second class may not fall with the column; -1: it may not rise; 0: no
        constraint. Two classes only, and no category columns.
    calibrate : bool or {"auto", "temperature", "offset", "isotonic"}, default=True
        Calibrate probabilities on the held-out rows; predictions stay the same.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list of names, positions, mask or None, default="from_dtype"
    remember_rows : bool, default=True
        Keep content hashes of the training rows, so that certificates recognize copies of them.
    n_jobs : int or None, default=None
        Number of models grown in parallel. Results do not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
    time_limit : float or None, default=None
        Seconds after which no new round begins; the rounds so far are used.

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

    __report_facts__ = boosted_model.report_facts
    __explanation_steps__ = boosted_model.explanation_steps
    _kind = "boosted_trees"

    n_estimators: int = field(default=1000, kw_only=False)
    learning_rate: float | str = "auto"
    tree_shape: str = "auto"
    max_leaf_nodes: int | str = "auto"
    min_samples_leaf: int = 5
    min_weight_fraction_leaf: float = 0.0
    l2_regularization: float = 0.3
    max_features: str | int | float | None = "auto"
    max_samples: float = 0.8
    gamma_scale: float = 0.0
    monotonic_cst: Any = None

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | str | None = None,
        groups: ArrayLike | None = None,
    ) -> BoostedTreesClassifier:
        """Grow the trees.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, sparse matrix, pandas or polars frame, with missing values as they come; or Parquet data,
            by a :class:`~surewood.ParquetTable` or a path, whose rows must fit into memory as numbers.
        y : array of shape (n_rows,)
            Labels; for Parquet data the name of their column.
        sample_weight : array of shape (n_rows,), optional
            Rows of weight 0 are ignored; weight 2 is the row twice.
        groups : array of shape (n_rows,), optional
            Group of each row (a patient, a device). Whole groups are held out.

        Returns
        -------
        self
        """
        parameters = self._parameters()
        with self._begin_fit(X, y, sample_weight, groups) as data:
            self._fit_table(parameters, data)
        return self

    def _fit_table(self, parameters: Any, data: TrainingTable) -> Floats | None:
        model = train(make_plan(parameters, data, draw_seed(self.random_state)), data)
        self._store_fit(data)
        self.model_ = replace(model, held_out=None)
        assert model.held_out is not None
        return held_out_probabilities(model.held_out, model.calibrator)

    @property
    def n_rounds_(self) -> list[int]:
        """Rounds of each model."""
        return [int(n) for n in self.model_.n_rounds]

    held_out_error_ = Fitted[float]("held_out_error", "ESTIMATE: error on held-out rows.")

    @property
    def feature_importances_(self) -> Floats:
        """Gain of the splits on each column, summing to 1 (all 0 when no tree has a split)."""
        return normalized(self._fitted().importances)
