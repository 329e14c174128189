"""`PolySVC`: a scikit-learn classifier on the SVM engine, with whole degree × C grids in one call."""

from __future__ import annotations

import warnings
from dataclasses import field
from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from surewood._arrays import Codes, Floats
from surewood.base.base import Fitted, ScoreClassifier
from surewood.base.parameters import GramParameter, parameters
from surewood.svm.model import SvmModel, explanation_steps, report_facts
from surewood.svm.path import DegreePath
from surewood.svm.plan import RULES, make_plan
from surewood.svm.training import train, train_path
from surewood.tables import begin_predict


@parameters(RULES)
class PolySVC(ScoreClassifier[SvmModel], GramParameter):
    """C-support vector classifier with polynomial, RBF or linear kernel.

    Names and meaning of the parameters are those of :class:`sklearn.svm.SVC` where both have them. The
    differences: features are standardized by default and tables may have categories and missing values,
    `coef0` is 1 by default (theory.md [D-02]), probabilities are calibrated and agree with `predict`, and
    equal rows are joined, so that a weight of 2 equals the row twice and the order of rows does not matter.

    The order of the columns matters: rows are assigned to folds by a hash that depends on the
    position of each column.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Positive; infinity asks for a separation without errors, which `max_iter` may cut short. "auto" takes
        the one of 0.001, 0.01, ..., 100 with the smallest error in five-fold cross-validation; a certificate
        then has no compression bound, which needs a C that was not chosen on the data.
    kernel : {"poly", "normalized_poly", "rbf", "linear"}, default="poly"
        "normalized_poly" divides the polynomial kernel k(x, x') by √(k(x, x) k(x', x')).
    degree : int, default=3
        Degree of the polynomial kernel, 0 to 100.
    gamma : {"scale", "auto"} or float, default="scale"
        "scale" is 1 / (d · variance of the design matrix), "auto" 1 / d, with d the number of its columns.
    coef0 : float, default=1.0
        The constant of the polynomial kernel; 0 gives the homogeneous kernel.
    tol : float, default=1e-3
        libsvm's stopping tolerance.
    class_weight : dict, "balanced" or None, default=None
    max_iter : int, default=-1
        Maximum number of solver iterations per pair of classes; -1: ten million.
    scale : bool, default=True
        Standardize numeric columns with training statistics. False gives the SVM of `SVC`.
    calibrate : bool or {"auto", "temperature", "offset", "isotonic"}, default=True
        Calibrate probabilities on decision values from five cross-fitted SVMs: True and "auto" fit a curve
        per pair of classes and couple them, the others are the methods of
        :doc:`/probabilities`. False saves that time; there is no ``predict_proba`` then.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
    categorical_features : as in the other estimators, default="from_dtype"
        Which columns are categories; they are one-hot encoded.
    max_memory : int, str or None, default=None
        Bytes (or text such as "4GB") that the matrix of inner products may take, by default 1 GiB. A larger
        one is not stored: its entries are computed as needed, with the same result.
    cache_size : float, default=200
        MB of kernel rows that a thread may hold.
    remember_rows : bool, default=True
        Keep a hash of every training row (8 bytes each) in ``remembered_rows_``, so that a certificate can
        tell new rows from copies of training rows.
    n_jobs : int or None, default=None
        Threads, as in joblib; the result is the same for any number.
    verbose : int, default=0
        1 shows the stages of a fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    model_ : SvmModel
        The fitted SVM; the following attributes read it.
    C_ : float
        The C that was used.
    support_ : ndarray of shape (n_SV,)
        Training rows that are support vectors (the first of equal rows), class by class.
    support_vectors_ : ndarray of shape (n_SV, d)
        These rows as the kernel sees them: encoded and scaled.
    n_support_ : ndarray of shape (n_classes,)
    dual_coef_, intercept_ : ndarray
        Layout and signs as in `SVC`; coefficients belong to the kernel divided by `kernel_scale_` ** degree.
    kernel_scale_ : float
        1, or what the kernel was divided by to keep a high degree finite.
    n_iter_ : ndarray of shape (n_pairs,)
    fit_status_ : int
        0 if the solver converged for every pair, 1 if one met `max_iter` (a warning says so, too).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PolySVC(degree=2).fit(X, y)
    >>> model.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> grid = PolySVC().path(X, y, degrees=[1, 2, 3], Cs=[0.1, 1, 10], cv=5)
    >>> grid.errors.shape
    (3, 3)
    """

    model_: SvmModel = field(init=False)

    _kind = "svm"
    __report_facts__ = report_facts
    __explanation_steps__ = explanation_steps

    C: Any = 1.0
    kernel: str = "poly"
    degree: int = 3
    gamma: str | float = "scale"
    coef0: float = 1.0
    tol: float = 1e-3
    max_iter: int = -1
    scale: bool = True
    decision_function_shape: str = "ovr"
    cache_size: float = 200
    n_jobs: int | None = None
    verbose: int = 0

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> PolySVC:
        """Train the SVM.

        Parameters
        ----------
        X : table of shape (n, n_features)
            Array, sparse matrix or frame; numbers or categories, missing values allowed.
        y : array-like of shape (n,)
            Class labels.
        sample_weight : array-like of shape (n,), optional
            Row i has the penalty C · sample_weight[i].
        groups : array of shape (n_rows,), optional
            Group of each row (a patient, a device). Whole groups are held out.

        Returns
        -------
        PolySVC
        """
        plan = make_plan(self._parameters())
        with self._begin_fit(X, y, sample_weight, groups) as inputs:
            model = train(plan, inputs)
            self._store_fit(inputs)
        self.model_ = model
        if not model.converged:
            warnings.warn(
                f"the solver met max_iter={plan.max_iter} before the tolerance; raise max_iter, lower C or "
                "scale the features",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def path(
        self,
        X: Any,
        y: Any,
        degrees: ArrayLike,
        Cs: ArrayLike,
        *,
        cv: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> DegreePath:
        """Fit every (degree, C) of a grid, sharing one Gram matrix; the estimator itself is not changed.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        degrees : array-like of int
        Cs : array-like of float
        cv : int, splitter or iterable of (train, test), optional
            Cross-validate the grid (an integer: stratified folds). ``[(train, test)]`` is one split, e.g. the
            training and the validation part.

        Returns
        -------
        DegreePath
            Errors and SVMs of the grid; `best`, and `best_C` for each degree.
        """
        plan = make_plan(self._parameters())
        with self._begin_fit(X, y, sample_weight, merge=False) as inputs:
            return train_path(plan, inputs, degrees, Cs, cv)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class labels: the class with the most pairwise votes, the first on ties."""
        table = begin_predict(self, X)  # first: it refuses estimators that are not fitted
        labels: NDArray[Any] = self.classes_[self.model_.winners(table, self.n_jobs)]
        return labels

    def decision_function(self, X: Any) -> Floats:
        """Decision values: shape (n,) for two classes, else (n, n_classes), or (n, n_pairs) for "ovo"."""
        table = begin_predict(self, X)
        return self.model_.decisions(table, self.decision_function_shape, self.n_jobs)

    C_ = Fitted[float]("C", "The C that was used.")
    support_ = Fitted[Codes]("support.rows", "Training rows that are support vectors.")
    support_vectors_ = Fitted[Floats]("support.vectors", "The support vectors, encoded and scaled.")
    n_support_ = Fitted[Codes]("support.per_class", "Support vectors per class.")
    dual_coef_ = Fitted[Floats]("support.dual_coef", "Dual coefficients, laid out as in `SVC`.")
    intercept_ = Fitted[Floats]("support.intercept", "Intercept of each pair of classes.")
    kernel_scale_ = Fitted[float]("support.kernel_scale", "What the kernel was divided by.")
    n_iter_ = Fitted[Codes]("n_iter", "Solver iterations per pair of classes.")

    @property
    def fit_status_(self) -> int:
        """0 if the solver converged for every pair, 1 if one met `max_iter`."""
        return int(not self.model_.converged)
