"""The public classes: cascades of SVMs, and of any families of classifiers.

`CascadeBase` is what all cascades share: ``fit`` and the predictions. `SvmCascadeBase` adds what a fitted
cascade of SVMs tells its user; :class:`DeepCascadeSVMClassifier` minimizes the bound exactly (theory.md
§3.6). :class:`DeepCascadeClassifier` is the generic algorithm (theory.md §3.5). The class with
cross-validation is in :mod:`~surewood.cascade.model_selection`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from surewood._arrays import AnyArray, Codes, Counts, Floats
from surewood.base.base import Fitted, ScoreClassifier, class_codes, is_calibrated
from surewood.base.counted_rows import count_rows
from surewood.base.describing import Exit
from surewood.base.family import Scored
from surewood.base.folds import draw_seed
from surewood.base.parameters import (
    COMMON,
    GramParameter,
    StudyParameter,
    Switch,
    TimedRunParameters,
    parameters,
)
from surewood.base.rules import Choice, Integer, Nullable, Number, Rule, check_value
from surewood.bounds import LeafLedger
from surewood.cascade import report_facts
from surewood.cascade.chain import Cascade
from surewood.cascade.data import CascadeData, prepare
from surewood.cascade.gamma_path import PathPiece, gamma_path
from surewood.cascade.generic_cascade import (
    GenericCascade,
    GenericModel,
    GenericResult,
    make_generic_plan,
    train_generic,
)
from surewood.cascade.model import SCALES, CascadeModel, OutOfFold
from surewood.cascade.plan import (
    DEGREES,
    FRACTION_LIST,
    FRACTIONS,
    GAMMA_SCALE,
    MAX_TRAINING_ROWS,
    SVM_RULES,
    SVM_SWITCHES,
    make_plan,
    settings_for,
)
from surewood.cascade.reject import LeafRecord, RejectOption, group_table
from surewood.cascade.search import SearchResult
from surewood.cascade.svm_trainer import KernelChoice
from surewood.cascade.training import LEAST_SVMS, in_time, prepare_all, train
from surewood.families import FAMILIES, Families
from surewood.tables import TrainingTable, begin_predict


class CascadeBase(ScoreClassifier[Scored]):
    """What cascades of SVMs and of any families have in common."""

    _kind = "cascade"
    __report_facts__ = report_facts.report_facts
    __explanation_steps__ = report_facts.explanation_steps

    #: What a page says of the model.
    _description: ClassVar[str]

    gamma_scale_ = Fitted[float | None]("gamma_scale", "γ that selected the cascade.")

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Find and train the best cascade.

        Parameters
        ----------
        X : table of shape (n, n_features)
            Numbers or categories, missing values allowed.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Whole weights count as equal rows; others are rescaled to mean 1.
        groups : array of shape (n_rows,), optional
            Group of each row (a patient, a device). Whole groups are held out.

        Returns
        -------
        self
        """
        parameters = self._parameters()
        with self._begin_fit(X, y, sample_weight, groups) as inputs:
            rows, data = self._sample(inputs, sample_weight)
            fitted = self._train(parameters, data, draw_seed(self.random_state))
            self._store_fit(rows)
        self.__dict__.update(fitted)
        return self

    def _sample(self, inputs: TrainingTable, sample_weight: Any) -> tuple[TrainingTable, CascadeData]:
        """The rows of the fit, equal ones merged, and the sample made of them."""
        return inputs, prepare(inputs, sample_weight)

    @abstractmethod
    def _train(self, parameters: Mapping[str, Any], data: CascadeData, seed: int) -> dict[str, Any]:
        """The model and other fitted attributes, by name."""

    @abstractmethod
    def _class_scores(self, X: Any) -> Floats:
        """One score per row and class."""

    def predict(self, X: Any) -> AnyArray:
        """Class labels: the class of the largest score, which also has the largest probability."""
        best = self._class_scores(X).argmax(axis=1)
        labels: AnyArray = np.asarray(self.classes_)[best]
        return labels

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


@parameters()
class SvmCascadeBase(CascadeBase[CascadeModel], GramParameter, TimedRunParameters, StudyParameter):
    """Predictions and reports of a fitted :class:`~surewood.cascade.model.CascadeModel`."""

    _description = (
        "A chain of support vector machines: rows that the first one classifies with a clear margin leave "
        "there, the others go on to the next."
    )
    settings_for = staticmethod(settings_for)
    max_training_rows = MAX_TRAINING_ROWS

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
        "out_of_fold", "Scores of training rows by cascades of the same structure that did not see them."
    )
    kernels_ = Fitted[KernelChoice]("kernels", "Kernel and all degrees that were offered.")
    C_ = Fitted[Floats]("C", "C of each cascade and degree on the whole sample.")

    @property
    def n_iter_(self) -> Counts:
        """Iterations of the solver per cascade."""
        return np.array([cascade.n_iter for cascade in self.cascades_])

    # --- predictions ---------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """Decision values: shape (n,), positive for the second class, or one score per class."""
        evaluations = self._fitted().evaluate(self._design(X), n_jobs=self.n_jobs)
        return evaluations[0].scores if len(evaluations) == 1 else self.model_.scores(evaluations)

    def _class_scores(self, X: Any) -> Floats:
        return self._fitted().scores(self._fitted().evaluate(self._design(X), n_jobs=self.n_jobs))

    @available_if(is_calibrated)  # type: ignore[untyped-decorator]
    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Probabilities if cascades ended after 1, 2, ... SVMs; the last are :meth:`predict_proba`."""
        model, design = self._fitted(), self._design(X)
        for k in range(1, max(cascade.n_leaves for cascade in model.cascades) + 1):
            yield model.calibrated(model.evaluate(design, n_leaves=k, n_jobs=self.n_jobs))

    def decision_path(self, X: Any) -> Counts:
        evaluations = self._fitted().evaluate(self._design(X), n_jobs=self.n_jobs)
        leaves = np.column_stack([evaluation.leaf for evaluation in evaluations])
        return leaves[:, 0] if len(evaluations) == 1 else leaves

    # --- where rows leave ----------------------------------------------------------------------------------

    def exits(self, X: Any, y: Any = None) -> pd.DataFrame:
        """Rows that leave at each leaf: how many, at what cost, and with `y` the accuracy among them.

        Returns
        -------
        DataFrame
            One row per leaf: ``cascade`` (the class set against the rest, or "all"), ``leaf``, ``degree``,
            ``points``, ``fraction``, ``kernel_values`` (computed for a row that leaves here), ``accuracy``.
        """
        rows = [
            {
                "cascade": name,
                "leaf": leaf.leaf,
                "degree": leaf.degree,
                "points": leaf.points,
                "fraction": leaf.points / leaves[0].arrive,
                "kernel_values": leaf.kernel_values,
                "accuracy": np.nan if leaf.accuracy is None else leaf.accuracy,
            }
            for name, leaves in zip(self._cascade_names(), self._exits(X, y))
            for leaf in leaves
        ]
        return pd.DataFrame(rows).drop(columns="accuracy" if y is None else [])

    def leaf_flow(self, X: Any, y: Any = None) -> dict[str, list[Exit]]:
        """Leaves of every cascade with the rows that leave there; for the plots of inspect."""
        return dict(zip(map(str, self._cascade_names()), self._exits(X, y)))

    def leaf_terms(self, part: int = 0) -> tuple[pd.DataFrame, float]:
        """Ledger of one cascade, and its gamma_scale; for the plots of inspect."""
        n_cascades = len(self.cascades_)
        if not 0 <= part < n_cascades:
            raise ValueError(f"part must be below {n_cascades}, the number of cascades; got {part}.")
        ledger = self.model_.ledger(part)
        return ledger.to_frame().reset_index(), float(ledger.gamma_scale)

    def leaf_degrees(self, X: Any) -> Floats:
        """Degree of the leaf that classifies each row, one column per cascade; for the plots of inspect."""
        leaf = self.decision_path(X).reshape(-1, len(self.cascades_))
        columns = [cascade.degrees[leaf[:, t]] for t, cascade in enumerate(self.cascades_)]
        return np.column_stack(columns).astype(np.float64)

    def margins(self, X: Any, y: Any) -> Floats:
        """Score of the true class minus the best other one; positive where the prediction is correct."""
        scores = self._class_scores(X)
        rows, codes = np.arange(len(scores)), self._codes(y, len(scores))
        true = scores[rows, codes]
        others = scores.copy()
        others[rows, codes] = -np.inf
        return np.asarray(true - others.max(axis=1))

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
        model, design = self._fitted(), self._design(X)
        codes = self._codes(y, len(design))
        return model.latency_curve(design, codes, SCALES if scales is None else scales, self.n_jobs)

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
        check_value("max_error", max_error, Number(0.0, 1.0))
        check_value("delta", delta, Number(above=0.0, below=1.0))
        model = self._fitted()
        held_out = model.out_of_fold
        record = LeafRecord.of(held_out.scores, held_out.leaf, held_out.distance)
        edges = record.band_edges([cascade.n_leaves for cascade in model.cascades], bands)
        codes, weight, counted = held_out.codes, held_out.weight, None
        if X is not None:
            record = self._leaf_record(X)
            codes = self._codes(y, len(record.predicted))
            memory = self.remembered_rows_
            counted = count_rows(X, [] if memory is None else [(memory, X)])  # [D-33]
            weight = np.bincount(counted.rows, minlength=len(codes)).astype(np.float64)
        groups = group_table(record, edges, codes, weight)
        return RejectOption.of(self, edges, groups, max_error, delta, counted)

    def ledger(self) -> LeafLedger | dict[Any, LeafLedger]:
        """One row per leaf, with the terms of the criterion (3.8); a dictionary by class for one-vs-rest."""
        model = self._fitted()
        ledgers = [model.ledger(t) for t in range(len(model.cascades))]
        return ledgers[0] if len(ledgers) == 1 else dict(zip(self.classes_, ledgers))

    # --- helpers -------------------------------------------------------------------------------------------

    def _design(self, X: Any) -> Floats:
        return self._fitted().encode(begin_predict(self, X))

    def _exits(self, X: Any, y: Any) -> list[list[Exit]]:
        design = self._design(X)
        codes = None if y is None else self._codes(y, len(design))
        return self.model_.exits(design, codes, self.n_jobs)

    def _cascade_names(self) -> list[Any]:
        """The class that each cascade sets against the rest, or "all"."""
        return ["all"] if len(self.cascades_) == 1 else list(self.classes_)

    def _leaf_record(self, X: Any) -> LeafRecord:
        return self._fitted().record(self._design(X), self.n_jobs)

    def _codes(self, y: Any, n: int) -> Codes:
        codes = class_codes(self.classes_, y)
        if len(codes) != n:
            raise ValueError(f"X has {n} rows, but y has {len(codes)} labels.")
        return codes.astype(np.int32)


_SVM_CASCADE_RULES: Mapping[str, Rule] = {
    **SVM_RULES,
    "gamma_scale": COMMON["gamma_scale"],
    "n_leaves": Nullable(Integer(1)),
}


@parameters(_SVM_CASCADE_RULES)
class DeepCascadeSVMClassifier(SvmCascadeBase):
    r"""Cascade of support vector machines that minimizes the bound of *Learning with Deep Cascades* exactly.

    Points far from the first SVM's decision boundary leave there; the others go on to an SVM trained on them
    alone, and so on. The number of leaves, the degree of every SVM and the fraction of points that goes on
    are the exact minimizer, over all such cascades, of

    .. math:: \widehat R_S+\sum_k\min\Big(4\gamma\Big[\sum_{j\le d_k}\sqrt{\Lambda_j/m}
              +\sqrt{\Lambda_k/m}\Big],\frac{m_k^+}m\Big).

    The order of the columns matters: rows are assigned to folds by a hash that depends on the
    position of each column.

    Parameters
    ----------
    max_leaves : int, default=4
        Maximum number of leaves.
    fractions : list of float, default=(0.1, 0.2, ..., 0.9)
        Fractions of a node's points that may go on; 1 is allowed and never better than leaving the node out.
    degrees : "auto", int or list of int, default=(1, 2, 3, 4)
        Degrees of the kernel that a node may use; "auto" is the default.
    gamma_scale : "auto" or float, default=0.01
        Multiplier γ of the complexity; below 1 the criterion is a selection score, not a bound. "auto" is the
        default.
    n_leaves : int, optional
        Take the best cascade with exactly this number of leaves.
    C : "auto", float or list of float, default="auto"
        C of each degree on the whole sample: the value of smallest held-out error of a single SVM of that
        degree, or given. A node with a fraction p of the sample uses √p times it.
    kernel : {"poly", "homogeneous", "rbf"}, default="poly"
        ``(<x,x'>/n + 1)^δ``, the same without 1, or ``exp(-2^(δ-1)|x - x'|²/n)``, on standardized features.
    multiclass : {"one_vs_rest", "native"}, default="one_vs_rest"
        With more than two classes: an exact cascade for each class against the rest, or one cascade of
        one-vs-one SVMs, whose distance is the gap between the two best class scores.
    time_limit : float, optional
        Seconds for the fit. A search that has to end early takes the best cascade so far, and `search_` has
        the proven gap to the optimum; fewer values of C and folds may be tried. If the limit is too short
        for a few SVMs on all rows, a random sample of the rows is used, see `out_of_fold_`.
    max_memory : int, float, str or None, default=None
        Bytes (or text such as "4GB") that the matrix of inner products may take, by default 1 GiB. A larger
        one is not stored: its entries are computed as needed, with the same result.
    calibrate : bool or {"auto", "temperature", "offset", "isotonic"}, default=True
        Method that calibrates `predict_proba` on out-of-fold scores; True is "auto", False is none.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list or mask, default="from_dtype"
    random_state : int, RandomState or None, default=None
        Seed of the folds for C and for the calibration.
    n_jobs : int, optional
        Threads; the result is the same for any number.
    verbose : int, default=0
    remember_rows : bool, default=True
        Whether the model remembers hashes of its training rows.
    study : dict, optional
        Study switches, see below.

    Attributes
    ----------
    classes_ : ndarray
    model_ : CascadeModel
        The fitted state.
    cascades_ : tuple of Cascade
        One, or one per class for one-vs-rest.
    search_ : tuple of SearchResult
        For each cascade: SVMs trained, prefixes pruned, proven gap to the optimum.
    C_ : ndarray, shape (n_cascades, n_degrees)
    gamma_scale_ : float
    n_iter_ : ndarray, shape (n_cascades,)
        Iterations of the solver, all SVMs of a cascade together.
    out_of_fold_ : OutOfFold
        Scores of the training rows by cascades of the same structure that did not see them.

    See Also
    --------
    DeepCascadeSVMClassifierCV : chooses γ and the number of leaves on held-out data.

    Notes
    -----
    Study switches, all optional keys of `study`:

    * ``C_selection`` ("validation"): how ``C="auto"`` is chosen, on a held-out quarter ("validation") or in
      cross-validation with five folds ("cv");
    * ``C_grid`` (0.001, 0.01, ..., 100): candidates for C;
    * ``growth`` ("capped"): form of the growth function Λ, "capped", "sum" or "raw", as printed [D-01];
    * ``max_svms`` (None): number of SVMs after which a search returns the best cascade so far, deterministic.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(120, noise=0.2, random_state=0)
    >>> model = DeepCascadeSVMClassifier(gamma_scale=1e-3, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> model.search_[0].proven
    True
    >>> int(model.exits(X)["points"].sum())
    120
    """

    _study_switches: ClassVar[dict[str, Switch]] = {
        "C_selection": Switch("validation", Choice("validation", "cv")),
        **SVM_SWITCHES,
    }

    gamma_scale: Any = GAMMA_SCALE
    n_leaves: int | None = None

    def _train(self, parameters: Mapping[str, Any], data: CascadeData, seed: int) -> dict[str, Any]:
        return {"model_": train(*in_time(make_plan, parameters, data, seed, LEAST_SVMS))}

    def gamma_path(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, gamma_min: float = 0.0
    ) -> list[list[PathPiece]]:
        """Every γ at which the best cascade changes, from infinity to `gamma_min`, for each cascade.

        The estimator is not changed. `time_limit` holds for all paths together, ``study["max_svms"]`` for
        each.

        Returns
        -------
        list of lists of PathPiece
            By decreasing γ; one list per cascade, as in `cascades_`.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> X, y = make_moons(60, noise=0.3, random_state=0)
        >>> pieces = DeepCascadeSVMClassifier(max_leaves=2, random_state=0).gamma_path(X, y)[0]
        >>> pieces[0].high, pieces[0].path.n_leaves, pieces[-1].low
        (inf, 1, 0.0)
        """
        check_value("gamma_min", gamma_min, Number(0.0))
        parameters = self._parameters()
        with self._begin_fit(X, y, sample_weight) as inputs:
            data = prepare(inputs, sample_weight)
        plan = make_plan(parameters, data, draw_seed(self.random_state))
        paths: list[list[PathPiece]] = []
        tasks = prepare_all(plan, data)
        for task in tasks:
            limit = plan.time_limit.divided(len(tasks) - len(paths))
            paths.append(gamma_path(task.tree, task.complexity, gamma_min=gamma_min,
                                    limit=limit, max_svms=plan.max_svms))  # fmt: skip
        return paths


_GENERIC_RULES: Mapping[str, Rule] = {
    **COMMON,
    "leaves": FAMILIES,
    "splits": FAMILIES,
    "max_leaves": Integer(1),
    "fractions": FRACTION_LIST,
}


@parameters(_GENERIC_RULES)
class DeepCascadeClassifier(CascadeBase[GenericModel]):
    r"""Cascade of any families of classifiers and splits, by the exact minimum of a learning bound.

    A split sends a fraction μ of its points on; the others stay and are classified by the leaf. The number of
    leaves, μ, leaf families and split families are the exact minimizer of

    .. math:: \widehat R_S+\sum_k\min\Big(4\gamma\Big[\sum_{j\le d_k}\widehat{\mathfrak R}_S(Q_j)
              +\widehat{\mathfrak R}_S(H_k)\Big],\frac{m_k^+}m\Big)

    (with 8c in place of 4 for c > 2 classes).

    The order of the columns matters: rows are assigned to folds by a hash that depends on the
    position of each column.

    Parameters
    ----------
    leaves : list of family or name, default=("constant", "stump", "tree", "linear_svm", "quadratic")
        Families that leaves choose from; ties go to the earlier one. Names: constant, threshold, stump, tree,
        gaussian, logistic, linear_svm, quadratic, cubic, rbf. `EstimatorFamily` wraps any scikit-learn
        classifier, `BinaryTreeFamily` has trees of other families.
    splits : list of family or name, default=("linear_svm",)
        Families that splits choose from; they must order points.
    max_leaves : int, default=3
    fractions : list of float, default=(0.25, 0.5, 0.75)
        Fractions μ, the same for all nodes of a cascade.
    gamma_scale : "auto" or float, default=0.01
        Multiplier γ of the complexity; below 1 the criterion is a selection score, not a bound. "auto" is the
        default.
    calibrate : bool or {"auto", "temperature", "offset", "isotonic"}, default=True
        Method that calibrates `predict_proba`, leaf by leaf, on out-of-fold scores; True is "auto", False is
        none.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list or mask, default="from_dtype"
    random_state : int, RandomState or None, default=None
        Seed of the folds for the calibration.
    remember_rows : bool, default=True
        Whether the model remembers hashes of its training rows.

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

    _description = "A chain of classifiers: a decision rule sends the harder rows on, the others stay."
    n_jobs = None  # families decide

    model_: GenericModel = field(init=False)

    leaves: Any = field(default=("constant", "stump", "tree", "linear_svm", "quadratic"), kw_only=False)
    splits: Any = field(default=("linear_svm",), kw_only=False)
    max_leaves: int = 3
    fractions: Any = (0.25, 0.5, 0.75)
    gamma_scale: Any = GAMMA_SCALE
    random_state: Any = None

    @classmethod
    def paper(cls, **changes: Any) -> DeepCascadeClassifier:
        """The published generic algorithm: the minimum of the bound itself (γ = 1), up to 4 leaves.

        Leaves are polynomial SVMs of degree 1 to 3, splits send on what is nearest to a linear SVM, fractions
        are 0.1 to 0.9; no calibration. The paper leaves the families open.

        Parameters
        ----------
        **changes
            Any parameter.

        Examples
        --------
        >>> DeepCascadeClassifier.paper().gamma_scale
        1.0
        """
        published: dict[str, Any] = {
            "leaves": ("linear_svm", "quadratic", "cubic"),
            "max_leaves": 4,
            "fractions": FRACTIONS,
            "gamma_scale": 1.0,
            "calibrate": False,
        }
        return cls(**(published | changes))

    def _train(self, parameters: Mapping[str, Any], data: CascadeData, seed: int) -> dict[str, Any]:
        return {"model_": train_generic(make_generic_plan(parameters, data, seed), data)}

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
        scores = self._class_scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if len(self.classes_) == 2 else scores

    def _class_scores(self, X: Any) -> Floats:
        return self._fitted().evaluate(begin_predict(self, X))[0]

    def decision_path(self, X: Any) -> Counts:
        return self._fitted().evaluate(begin_predict(self, X))[1]

    def ledger(self) -> pd.DataFrame:
        """One row per leaf: family, counts, complexity, and whether the penalty is active."""
        return self._fitted().ledger()

    def leaf_terms(self, part: int = 0) -> tuple[pd.DataFrame, float]:
        """Ledger of the cascade, and its gamma_scale; for the plots of inspect."""
        if part != 0:
            raise ValueError(f"part must be 0, this model is one cascade; got {part}.")
        frame = self.ledger().rename_axis("leaf").reset_index()
        frame["points"] = frame["correct"] + frame["errors"]
        frame["term"] = np.minimum(frame["complexity_term"], frame["sample_term"])
        frame["degree"] = frame["family"]
        return frame, self.model_.gamma_scale

    def leaf_flow(self, X: Any, y: Any = None) -> dict[str, list[Exit]]:
        """Leaves of the cascade with the rows that stay there; for the plots of inspect."""
        correct = None if y is None else np.asarray(self.predict(X)) == np.asarray(y)
        families = [self.model_.family_of_leaf(k) for k in range(len(self.cascade_.leaves))]
        names = [type(family).__name__.removesuffix("Family").lower() for family in families]
        thresholds = [*(float(rule.threshold) for rule in self.cascade_.splits), -np.inf]
        leaf = self.decision_path(X)
        return {"all": report_facts.exits_of(leaf, correct, names, thresholds, [None] * len(names))}
