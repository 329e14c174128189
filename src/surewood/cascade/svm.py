"""`DeepCascadeSVMClassifier`: the cascade of SVMs that minimises the bound exactly (theory.md §3.6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from surewood.cascade.gamma_path import PathPiece, gamma_path
from surewood.cascade.insight import CascadeInsight
from surewood.cascade.leaf_calibration import LeafCalibrator
from surewood.cascade.parameters import SvmParameters, check_svm_parameters, real, whole
from surewood.cascade.sample import Sample, make_sample
from surewood.cascade.search import SearchResult
from surewood.cascade.svm_fit import (
    OutOfFold,
    Task,
    choose_C,
    out_of_fold,
    penalty_folds,
    prepare,
    search_task,
    tasks_of,
)
from surewood.estimators.cost import CostEstimate, check_max_memory, probe_seconds, refuse_beyond
from surewood.parallel import run_tasks, worker_count
from surewood.parallel.progress import ignore, stage
from surewood.svm import Gram, gram_limit, kernel_memory
from surewood.tables import begin_fit

PATHS_HELD = 200  # subsets, distances and answers that a search keeps at a time
_FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def _gives_probabilities(estimator: Any) -> bool:
    return bool(estimator.probability)


def _calibrated_leaf(leaves: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The leaf that a row's probabilities depend on: with a cascade for each class, none."""
    return leaves[0] if len(leaves) == 1 else np.zeros(len(leaves[0]), dtype=np.int64)


class _SvmCascade(CascadeInsight, ClassifierMixin, BaseEstimator):
    """Predictions of fitted SVM cascades, and the steps that both estimators share."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Decision values: shape (n,), positive for the second class, or one score a class."""
        parts = self._evaluate(X)
        return parts[0].scores if len(parts) == 1 else self._scores(parts)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class labels."""
        codes = self._scores(self._evaluate(X)).argmax(axis=1)
        return self.classes_[codes]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities calibrated on out-of-fold scores; the largest is that of the predicted class."""
        parts = self._evaluate(X)
        if self._calibrator is None:
            raise AttributeError("this cascade was fitted with probability=False.")
        scores = self._scores(parts)
        return self._calibrator.transform(scores, _calibrated_leaf([part.leaf for part in parts]))

    @available_if(_gives_probabilities)
    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Probabilities if cascades ended after 1, 2, ... machines; the last are :meth:`predict_proba`."""
        design = self._rows(X)
        if self._calibrator is None:
            raise AttributeError("this cascade was fitted with probability=False.")
        for k in range(1, max(cascade.n_leaves for cascade in self.cascades_) + 1):
            parts = [one.evaluate(design, n_leaves=k, n_jobs=self.n_jobs) for one in self.cascades_]
            leaf = _calibrated_leaf([part.leaf for part in parts])
            yield self._calibrator.transform(self._scores(parts), leaf)

    def estimate_cost(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> CostEstimate:
        """Memory and a range of time of a fit before it starts, from two small fits (ESTIMATE).

        How many cascades a search must look at depends on the data: the range is wide.
        """
        check_svm_parameters(self)
        inputs = begin_fit(self, X, y, sample_weight, class_weight=self.class_weight,
                           categorical_features=self.categorical_features)  # fmt: skip
        sample = make_sample(inputs, sample_weight)
        parts, notes = self._memory(sample)
        return CostEstimate.of(parts, probe_seconds(self, X, y), *notes)

    def _memory(self, sample: Sample) -> tuple[dict[str, float], tuple[str, ...]]:
        n, width = sample.design.shape
        limit = gram_limit(self.max_memory)
        parts, notes = kernel_memory(n, width, width, limit=limit, n_jobs=self.n_jobs)
        parts["machines"] = PATHS_HELD * n * 13.0 + n * sample.n_classes * 40.0
        return parts, notes

    def _gram(self, sample: Sample) -> Gram:
        """Inner products of the sample, unless the fit would need more than `max_memory`."""
        check_max_memory(self.max_memory)
        parts, _ = self._memory(sample)
        refuse_beyond(self.max_memory, sum(parts.values()), "use fewer rows")
        return Gram(sample.design, max_memory=gram_limit(self.max_memory), n_jobs=self.n_jobs)

    def _store(
        self,
        inputs: Any,
        sample: Sample,
        tasks: list[Task],
        results: list[SearchResult],
        gamma_scale: float | None,
        seed: int,
        held_out: OutOfFold | None = None,
    ) -> None:
        """Train the chosen cascades and write everything on the estimator, last of all steps."""
        cascades = [task.build(found.path) for task, found in zip(tasks, results)]
        if held_out is None:
            held_out = out_of_fold(sample, tasks, [found.path for found in results], seed, self.verbose)
        calibrator = None
        if self.probability:
            leaf = _calibrated_leaf([held_out.leaf[:, t] for t in range(held_out.leaf.shape[1])])
            calibrator = LeafCalibrator().fit(
                held_out.scores, held_out.codes, held_out.weight, leaf, self.verbose
            )
        inputs.store(self)
        self.cascades_, self.search_, self.out_of_fold_ = cascades, results, held_out
        self.gamma_scale_, self.kernels_ = gamma_scale, tasks[0].trainer.kernels
        self.n_iter_ = np.array([max(1, sum(node.n_iter for node in one.nodes)) for one in cascades])
        self.C_ = np.array([task.trainer.C for task in tasks])
        self._encoder, self._calibrator, self._origin = sample.encoder, calibrator, sample.origin
        self._is_affine, self._is_counted = sample.is_affine, sample.is_counted


class DeepCascadeSVMClassifier(_SvmCascade):
    r"""Cascade of support vector machines that minimises the bound of *Learning with Deep Cascades* exactly.

    The points far from the first machine's boundary leave there; the others go on to a machine trained on
    them alone, and so on. Number of leaves, degree of every machine and share of points that go on are the
    exact minimiser, over all such cascades, of

    .. math:: \widehat R_S+\sum_k\min\Big(4\gamma\Big[\sum_{j\le d_k}\sqrt{\Lambda_j/m}
              +\sqrt{\Lambda_k/m}\Big],\frac{m_k^+}m\Big).

    Parameters
    ----------
    max_leaves : int, default=4
        Largest number of leaves.
    fractions : list of float, default=0.1, 0.2, ..., 0.9
        Shares of a node's points that may go on; 1 is allowed and never better than leaving the node out.
    degrees : list of int, default=(1, 2, 3, 4)
        Degrees of the kernel that a node may use.
    gamma_scale : float, default=0.01
        Multiplier γ of the complexity; below 1 the criterion is a selection score, not a bound.
    n_leaves : int, optional
        Take the best cascade with exactly this many leaves.
    C : "validation", "cv", float or list of float, default="validation"
        C of each degree on the whole sample: of smallest error on a held-out part, or in cross-validation, of
        a single machine of that degree; or given. A node with a share p of the sample uses √p times it.
    C_grid : list of float, default=10^-3, ..., 10^2
    kernel : {"poly", "homogeneous", "rbf"}, default="poly"
        ``(<x,x'>/n + 1)^δ``, the same without 1, or ``exp(-2^(δ-1)|x - x'|²/n)``, on standardised features.
    growth : {"capped", "sum"}, default="capped"
        Form of the growth function Λ.
    multiclass : {"one_vs_rest", "native"}, default="one_vs_rest"
        With more than two classes: an exact cascade for each class against the rest, or one cascade of
        one-vs-one machines, whose distance is the gap between the two best class scores.
    C_folds : int, default=5
        Folds of ``C="cv"``.
    validation_fraction : float, default=0.25
        Held-out part of ``C="validation"``.
    time_budget : float, optional
        Seconds after which a search returns the best cascade so far; `search_` has the proven gap.
    max_machines : int, optional
        The same, by machines trained: deterministic.
    max_memory : float or None, default=None
        Bytes that a fit may take beyond the table itself. Inner products are stored where they fit into half
        of them (by default 1 GiB), otherwise formed as needed; a fit that would need more is refused.
    probability : bool, default=True
        Whether to calibrate `predict_proba`.
    tol, max_iter
        Of the SVM solver.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list or mask, default="from_dtype"
    random_state : int, RandomState or None, default=None
        Deals the folds of C and of the calibration.
    n_jobs : int, optional
        Threads; the result is the same for any number.
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray
    cascades_ : list of Cascade
        One; one a class for one-vs-rest.
    search_ : list of SearchResult
        Of each cascade: machines trained, prefixes pruned, proven gap to the optimum.
    C_ : ndarray, shape (n_cascades, n_degrees)
    gamma_scale_ : float
    n_iter_ : ndarray, shape (n_cascades,)
        Iterations of the solver, all machines of a cascade together.
    out_of_fold_ : OutOfFold
        Scores of the training rows by cascades of the same structure that did not see them.

    See Also
    --------
    DeepCascadeSVMClassifierCV : chooses γ and the number of leaves on held-out data.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(120, noise=0.2, random_state=0)
    >>> model = DeepCascadeSVMClassifier(gamma_scale=1e-3, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> model.search_[0].proven
    True
    >>> model.exits(X)["points"].sum()
    np.int64(120)
    """

    def __init__(
        self,
        max_leaves: int = 4,
        *,
        fractions: Any = _FRACTIONS,
        degrees: Any = (1, 2, 3, 4),
        gamma_scale: float = 0.01,
        n_leaves: int | None = None,
        C: Any = "validation",
        C_grid: Any = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0),
        kernel: str = "poly",
        growth: str = "capped",
        multiclass: str = "one_vs_rest",
        C_folds: int = 5,
        validation_fraction: float = 0.25,
        time_budget: float | None = None,
        max_machines: int | None = None,
        max_memory: float | None = None,
        probability: bool = True,
        tol: float = 1e-3,
        max_iter: int = 10_000,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_leaves = max_leaves
        self.fractions = fractions
        self.degrees = degrees
        self.gamma_scale = gamma_scale
        self.n_leaves = n_leaves
        self.C = C
        self.C_grid = C_grid
        self.kernel = kernel
        self.growth = growth
        self.multiclass = multiclass
        self.C_folds = C_folds
        self.validation_fraction = validation_fraction
        self.time_budget = time_budget
        self.max_machines = max_machines
        self.max_memory = max_memory
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> DeepCascadeSVMClassifier:
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
        DeepCascadeSVMClassifier
        """
        parameters = check_svm_parameters(self)
        gamma = real("gamma_scale", self.gamma_scale, 0.0)
        n_leaves = None if self.n_leaves is None else whole("n_leaves", self.n_leaves, 1)
        if n_leaves is not None and n_leaves > parameters.max_leaves:
            raise ValueError(f"n_leaves={n_leaves} is more than max_leaves={parameters.max_leaves}.")
        inputs, sample, tasks, seed = self._plant(X, y, sample_weight, parameters)
        with stage(self.verbose, "searching cascades", len(tasks)) as advance:
            n_jobs = self.n_jobs if len(tasks) > 1 else 1
            elsewhere = worker_count(n_jobs) > 0
            options = (gamma, n_leaves, parameters.budget, ignore if elsewhere else advance)
            todo = (delayed(search_task)(task, *options) for task in tasks)
            seconds = [task.search_seconds for task in tasks]
            found = run_tasks(todo, n_jobs, seconds=seconds)
            results = []
            for k, (task, result) in enumerate(found):
                tasks[k] = task  # another process grew a tree of its own
                results.append(result)
                advance(1 if elsewhere else 0)
        if any(result is None for result in results):
            raise ValueError(
                f"no cascade has exactly n_leaves={n_leaves} leaves on this sample: it is too small, or all "
                "points of some node lie at the same distance. Take fewer leaves."
            )
        self._store(inputs, sample, tasks, results, gamma, seed)
        return self

    def gamma_path(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, gamma_min: float = 0.0
    ) -> list[list[PathPiece]]:
        """Every γ at which the best cascade changes, from infinity to `gamma_min`, for each cascade.

        The estimator is not changed. `time_budget` and `max_machines` hold for each of the searches.

        Returns
        -------
        list of lists of PathPiece
            By decreasing γ; one list a cascade, as in `cascades_`.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> X, y = make_moons(60, noise=0.3, random_state=0)
        >>> pieces = DeepCascadeSVMClassifier(max_leaves=2, random_state=0).gamma_path(X, y)[0]
        >>> pieces[0].high, pieces[0].path.n_leaves, pieces[-1].low
        (inf, 1, 0.0)
        """
        parameters = check_svm_parameters(self)
        lowest = real("gamma_min", gamma_min, 0.0)
        _, _, tasks, _ = self._plant(X, y, sample_weight, parameters)
        return [
            gamma_path(task.tree, task.complexity, gamma_min=lowest, budget=parameters.budget)
            for task in tasks
        ]

    def _plant(
        self, X: Any, y: Any, sample_weight: Any, parameters: SvmParameters
    ) -> tuple[Any, Sample, list[Task], int]:
        """Validated inputs, the sample, and a prefix tree for each cascade."""
        inputs = begin_fit(self, X, y, sample_weight, class_weight=self.class_weight,
                           categorical_features=self.categorical_features)  # fmt: skip
        sample = make_sample(inputs, sample_weight)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        gram = self._gram(sample)
        folds = penalty_folds(sample, parameters, seed)
        problems, tasks = tasks_of(sample, parameters.multiclass), []
        with stage(self.verbose, "choosing C", len(problems)) as advance:
            for problem in problems:
                C = choose_C(sample, gram, problem[1], parameters, folds, advance)
                tasks.append(prepare(sample, gram, problem, parameters, C))
        return inputs, sample, tasks, seed
