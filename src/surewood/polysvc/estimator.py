"""`PolySVC`: a scikit-learn classifier on the SVM engine, with whole degree × C grids in one call."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import Floats
from surewood.bounds import EstimateEvidence, Evidence
from surewood.estimators.calibration import lift
from surewood.estimators.cost import CostEstimate, probe_seconds, refuse_beyond
from surewood.parallel.progress import stage
from surewood.polysvc import report_facts
from surewood.polysvc.compression import compression_counts, compression_evidence, rebuilt_alike
from surewood.polysvc.coupling import PairCoupling
from surewood.polysvc.parameters import check_parameters
from surewood.svm.class_scores import class_scores, class_votes
from surewood.svm.cost import gram_limit, kernel_memory
from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram, KernelSpec
from surewood.svm.nearest import first_rows, nearest_support
from surewood.svm.one_vs_one import Machines
from surewood.svm.path import DegreePath, make_folds, solve_path
from surewood.tables import DesignEncoder, begin_fit, begin_predict, by_label, plain

__all__ = ["PolySVC"]

_CALIBRATION_FOLDS = 5
_NARROW = 32


def _gives_probabilities(estimator: PolySVC) -> bool:
    return bool(estimator.probability)


class PolySVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """C-support vector classifier with polynomial, RBF or linear kernel.

    Names and meaning of the parameters are those of :class:`sklearn.svm.SVC` where both have them. The
    differences: features are standardised by default and tables may have categories and missing values,
    `coef0` is 1 by default (theory.md [D-02]), probabilities are calibrated and agree with `predict`, and
    equal rows are joined, so that a weight of 2 equals the row twice and the order of rows does not matter.

    Parameters
    ----------
    C : float, default=1.0
        Positive; may be infinite (then separate or meet `max_iter`).
    kernel : {"poly", "rbf", "linear"}, default="poly"
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
        Most solver iterations a pair of classes; -1: ten million.
    scale : bool, default=True
        Standardise number columns with training statistics. False gives the machine of `SVC`.
    probability : bool, default=True
        Calibrate probabilities on scores from five cross-fitted machines. False saves that time.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
    categorical_features : as in the other estimators, default="from_dtype"
        Which columns are categories; they are one-hot encoded.
    max_memory : int or None, default=None
        Bytes that a fit may take beyond the table itself. Inner products are stored where they fit into half
        of them (by default 1 GiB), otherwise formed as needed, with the same result; a fit that would need
        more even so is refused.
    cache_size : float, default=200
        MB of kernel rows a thread may hold.
    n_jobs : int or None, default=None
        Threads, as in joblib; the result is the same for any number.
    verbose : int, default=0
        1 shows the stages of a fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_ : ndarray of shape (n_SV,)
        Training rows that are support points (the first of equal rows), class by class.
    support_vectors_ : ndarray of shape (n_SV, d)
        These rows as the kernel sees them: encoded and scaled.
    n_support_ : ndarray of shape (n_classes,)
    dual_coef_, intercept_ : ndarray
        Layout and signs as in `SVC`; coefficients belong to the kernel divided by `kernel_scale_` ** degree.
    kernel_scale_ : float
        1 unless the kernel was scaled down to keep a high degree finite (docs/svm-engine.md).
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

    __report_facts__ = report_facts.report_facts
    __explanation_steps__ = report_facts.explanation_steps

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str = "poly",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 1.0,
        tol: float = 1e-3,
        class_weight: Any = None,
        max_iter: int = -1,
        scale: bool = True,
        probability: bool = True,
        decision_function_shape: str = "ovr",
        categorical_features: Any = "from_dtype",
        max_memory: int | None = None,
        cache_size: float = 200,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.scale = scale
        self.probability = probability
        self.decision_function_shape = decision_function_shape
        self.categorical_features = categorical_features
        self.max_memory = max_memory
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> PolySVC:
        """Train the machine.

        Parameters
        ----------
        X : table of shape (n, n_features)
            Array, sparse matrix or frame; numbers or categories, missing values allowed.
        y : array-like of shape (n,)
            Class labels.
        sample_weight : array-like of shape (n,), optional
            Row i has the penalty C · sample_weight[i].

        Returns
        -------
        PolySVC
        """
        check_parameters(self)
        inputs = begin_fit(self, X, y, sample_weight, class_weight=self.class_weight,
                           categorical_features=self.categorical_features)  # fmt: skip
        table, codes, weight = inputs.table, inputs.y, inputs.weight
        encoder = DesignEncoder(scale=self.scale).fit(table, weight)
        design = encoder.transform(table)
        spec, center = self._kernel_spec(design, weight), self._center_of(design, weight)
        design -= center
        # A stored matrix pays when wide rows are multiplied many times; the numbers are the same without.
        parts, _ = self._memory(len(design), table.n_columns, design.shape[1], inputs.n_classes)
        refuse_beyond(self.max_memory, sum(parts.values()), "use fewer rows or a smaller cache_size")
        stored = self._stored_limit(design.shape[1])
        gram = Gram(design, max_memory=stored, n_jobs=self.n_jobs)
        calibration = None
        with stage(self.verbose, "training the machine", 1 + int(self.probability)) as advance:
            machines = self._solve(gram, [np.arange(gram.n_rows)], codes, spec, weight)
            advance(1)
            if self.probability:
                calibration = self._calibrate(gram, codes, spec, weight, inputs.n_classes)
                advance(1)
        inputs.store(self)
        self._encoder, self._center, self._calibration = encoder, center, calibration
        self._predictor = machines.predictor()
        assert inputs.inverse is not None  # equal rows were merged
        self._store_machine(machines, first_rows(inputs))
        self._compression = compression_counts(machines, codes)
        self._unweighted = weight is None
        # An encoder that only passes numbers through has learned nothing from the rows.
        plain_numbers = not (self.scale or table.is_category.any() or encoder.missing_.any())
        self._fixed_design = plain_numbers and (self.kernel == "linear" or self.gamma != "scale")
        return self

    def path(
        self,
        X: Any,
        y: Any,
        degrees: ArrayLike,
        Cs: ArrayLike,
        *,
        cv: Any = None,
        validation: tuple[ArrayLike, ArrayLike] | None = None,
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
            Cross-validate the grid (an integer: stratified folds).
        validation : pair of row lists (train, held-out), optional
            One split instead of folds, e.g. the training and the validation part.

        Returns
        -------
        DegreePath
            Errors and machines of the grid; `best`, and `best_C` for each degree.
        """
        check_parameters(self)
        inputs = begin_fit(self, X, y, sample_weight, class_weight=self.class_weight,
                           categorical_features=self.categorical_features, merge=False)  # fmt: skip
        kept = np.arange(len(inputs.y)) if inputs.weight is None else np.flatnonzero(inputs.weight > 0)
        weight = None if inputs.weight is None else inputs.weight[kept]
        table, codes = inputs.table.take(kept), np.ascontiguousarray(inputs.y[kept])
        design = DesignEncoder(scale=self.scale).fit(table, weight).transform(table)
        spec = self._kernel_spec(design, weight)
        design -= self._center_of(design, weight)
        gram = Gram(design, max_memory=gram_limit(self.max_memory), n_jobs=self.n_jobs)
        folds = make_folds(cv, validation, inputs.y, kept)
        return solve_path(
            gram, codes, degrees, Cs, kernel=spec, folds=folds, weights=weight, **self._options()
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Class labels: the class with the most pairwise votes, the first on ties."""
        design = self._design(X)
        labels: NDArray[Any] = self.classes_[self._predictor.predict(design, n_jobs=self.n_jobs)[:, 0]]
        return labels

    def decision_function(self, X: Any) -> Floats:
        """Decision values: shape (n,) for two classes, else (n, n_classes), or (n, n_pairs) for "ovo"."""
        design = self._design(X)
        decisions = self._predictor.decisions(design, n_jobs=self.n_jobs)
        known, total = self._predictor.classes, len(self.classes_)
        if total <= 2:
            constant = np.full(len(design), 1.0 if known[0] == 1 else -1.0)
            return -decisions[:, 0] if len(known) == 2 else constant
        if self.decision_function_shape == "ovo" and len(known) == total:
            return decisions
        return class_scores(decisions, known, total)

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probabilities; the largest is that of the predicted class."""
        design = self._design(X)
        if self._calibration is None:
            raise AttributeError("this PolySVC was fitted with probability=False")
        decisions = self._predictor.decisions(design, n_jobs=self.n_jobs)
        proba = self._calibration.probabilities(decisions, self._predictor.classes)
        winners = self._predictor.predict(design, n_jobs=self.n_jobs)[:, 0]
        return lift(proba, winners)

    def explain(self, X: Any) -> list[dict[str, Any]]:
        """How rows were classified: pairwise decisions, votes, and the nearest support points.

        Returns
        -------
        list of dict
            One a row, of values that JSON knows: ``kind`` ("svm"), ``prediction``, ``probabilities`` by label
            (None without `probability`), ``degree`` (None unless the kernel is polynomial), ``votes`` (pairs
            won by each class), ``pairs`` (``first``, ``second`` and ``decision``, positive for the first) and
            ``support``: the nearest support points with training ``row``, ``distance`` and ``label``.
        """
        design = self._design(X)
        known, total = self._predictor.classes, len(self.classes_)
        decisions = self._predictor.decisions(design, n_jobs=self.n_jobs)
        votes = np.zeros((len(design), total), dtype=np.int64)
        votes[:, known] = class_votes(decisions, len(known))
        winners = self._predictor.predict(design, n_jobs=self.n_jobs)[:, 0]
        proba = self.predict_proba(X) if self.probability else None
        labels = [plain(label) for label in self.classes_]
        pairs = [(labels[known[a]], labels[known[b]]) for a, b in zip(*np.triu_indices(len(known), 1))]
        return [
            {
                "kind": "svm",
                "prediction": labels[winners[row]],
                "probabilities": None if proba is None else by_label(labels, proba[row]),
                "degree": int(self.degree) if self.kernel == "poly" else None,
                "votes": by_label(labels, votes[row]),
                "pairs": [
                    {"first": first, "second": second, "decision": plain(value)}
                    for (first, second), value in zip(pairs, decisions[row])
                ],
                "support": nearest_support(self._predictor, design[row], labels, self._support_origin),
            }
            for row in range(len(design))
        ]

    def estimate_cost(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> CostEstimate:
        """Memory and a range of time of a fit before it starts, from two small fits (ESTIMATE)."""
        check_parameters(self)
        inputs = begin_fit(self, X, y, sample_weight, class_weight=self.class_weight,
                           categorical_features=self.categorical_features)  # fmt: skip
        width = DesignEncoder(scale=self.scale).fit(inputs.table, inputs.weight).n_columns_
        parts, notes = self._memory(inputs.table.n_rows, inputs.table.n_columns, width, inputs.n_classes)
        return CostEstimate.of(parts, probe_seconds(self, X, y), *notes)

    def __certificate_evidence__(self) -> Iterable[Evidence]:
        """What `surewood.certify` may use: sample compression (6.4), and the out-of-fold error.

        Compression is a guarantee only where the features were not scaled with the training rows:
        ``scale=False`` and a `gamma` that does not look at them, numbers only, no weights, no equal rows.
        """
        check_is_fitted(self)
        yield compression_evidence(
            self._compression,
            reproduces=rebuilt_alike(self._predictor, float(self.C), self._options()),
            scaling_fixed=self._fixed_design,
            unweighted=self._unweighted,
        )
        if self._calibration is not None and self._calibration.n_held_out:
            name = "out-of-fold error of machines with these parameters"
            value, n = self._calibration.held_out_error, self._calibration.n_held_out
            yield EstimateEvidence(name=name, value=value, n=n, used_for_selection=False)

    # --- preparation ---------------------------------------------------------------------------------------

    def _design(self, X: Any) -> Floats:
        check_is_fitted(self)
        table = begin_predict(self, X)
        return np.ascontiguousarray(self._encoder.transform(table) - self._center)

    def _stored_limit(self, width: int) -> int:
        """Bytes for inner products: storing pays when wide rows are multiplied many times."""
        return gram_limit(self.max_memory) if self.probability and width > _NARROW else 0

    def _memory(
        self, n_rows: int, n_columns: int, width: int, n_classes: int
    ) -> tuple[dict[str, float], tuple[str, ...]]:
        cache = int(self.cache_size * 2**20)
        limit = self._stored_limit(width)
        parts, notes = kernel_memory(
            n_rows, n_columns, width, limit=limit, cache_bytes=cache, n_jobs=self.n_jobs
        )
        folds = _CALIBRATION_FOLDS if self.probability else 0
        parts["machines"] = (1 + folds) * n_rows * (8.0 * max(n_classes - 1, 1) + 12.0)
        parts["machines"] += folds * n_rows / 5 * 8.0 * max(n_classes * (n_classes - 1) // 2, 1)
        return parts, notes if limit else ()

    def _center_of(self, design: Floats, weight: Floats | None) -> Floats:
        """The origin, moved into the data where the kernel does not mind: float32 then loses nothing."""
        if self.kernel == "poly":
            return np.zeros(design.shape[1])
        return np.asarray(np.average(design, axis=0, weights=weight))

    def _kernel_spec(self, design: Floats, weight: Floats | None) -> KernelSpec:
        if self.kernel == "linear":
            return KernelSpec("poly", 1.0, 0.0)
        gamma = self.gamma
        if gamma == "scale":
            mean = np.average(design, axis=0, weights=weight).mean()
            variance = np.average(((design - mean) ** 2).mean(axis=1), weights=weight)
            gamma = 1.0 / (design.shape[1] * variance) if variance > 0 else 1.0
        elif gamma == "auto":
            gamma = 1.0 / design.shape[1]
        return KernelSpec(self.kernel, float(gamma), float(self.coef0))

    def _solve(
        self, gram: Gram, groups: list[NDArray[Any]], codes: NDArray[np.int32], spec: KernelSpec, weight: Any
    ) -> Machines:
        degree = self.degree if self.kernel == "poly" else 1
        C = [float(self.C)]
        return solve_many(gram, groups, codes, [degree], C, kernel=spec, weights=weight, **self._options())

    def _cap(self) -> int:
        return 10_000_000 if self.max_iter == -1 else int(self.max_iter)

    def _options(self) -> dict[str, Any]:
        cache = int(self.cache_size * 2**20)
        return {"tol": self.tol, "max_iter": self._cap(), "cache_size": cache, "n_jobs": self.n_jobs}

    def _calibrate(
        self, gram: Gram, codes: NDArray[np.int32], spec: KernelSpec, weight: Any, n_classes: int
    ) -> PairCoupling:
        """Learn probabilities from points that the scoring machine did not see."""
        fold = np.empty(len(codes), dtype=np.int64)
        for c in range(n_classes):
            own = np.flatnonzero(codes == c)
            fold[own] = np.arange(len(own)) % _CALIBRATION_FOLDS
        folds = [f for f in range(_CALIBRATION_FOLDS) if (fold == f).any() and (fold != f).any()]
        machines = self._solve(gram, [np.flatnonzero(fold != f) for f in folds], codes, spec, weight)
        held_out = []  # (rows, classes the machine knows, its decisions)
        for k, f in enumerate(folds):
            known = machines.classes(k)
            held = np.flatnonzero((fold == f) & np.isin(codes, known))
            held_out.append((held, known, machines.predictor(k).decisions(gram.X[held], n_jobs=self.n_jobs)))
        weight = np.ones(len(codes)) if weight is None else weight
        return PairCoupling.fit(held_out, codes, weight, n_classes)

    def _store_machine(self, machines: Machines, rows: NDArray[np.intp]) -> None:
        known, total = machines.classes(0), len(self.classes_)
        support = rows[machines.support(0)]
        owner = np.repeat(known, machines.arrays["class_support"])
        order = np.lexsort((support, owner))  # by class, then by training row, as in SVC
        self.support_ = support[order].astype(np.int32)
        self._support_origin = rows[self._predictor.support_index]
        self.support_vectors_ = machines.gram.X[machines.support(0)][order] + self._center
        self.n_support_ = np.bincount(owner, minlength=total).astype(np.int32)
        sign = -1.0 if total == 2 else 1.0  # SVC turns the two-class machine around
        self.dual_coef_ = sign * np.ascontiguousarray(machines.coef(0)[order].T)
        bias = machines.pair("bias", 0)
        if self.kernel == "linear" and len(known) > 1:  # in the user's coordinates: the decision at zero
            bias = self._predictor.decisions(-self._center[None, :])[0]
        self.intercept_ = sign * bias
        self.kernel_scale_ = float(machines.scale.ravel()[0])
        self.n_iter_ = machines.pair("iterations", 0).astype(np.int32)
        self.fit_status_ = int(not machines.converged.all())
        if self.fit_status_:
            warnings.warn(
                f"the solver met max_iter={self._cap()} before the tolerance; raise max_iter, lower C or "
                "scale the features",
                ConvergenceWarning,
                stacklevel=3,
            )
