"""`DeepCascadeSVMClassifier`: the cascade of SVMs that minimizes the bound exactly (theory.md §3.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from surewood.cascade.base import SvmCascadeBase
from surewood.cascade.gamma_path import PathPiece, gamma_path
from surewood.cascade.plan import (
    GAMMA_SCALE,
    SVM_RULES,
    SVM_SWITCHES,
    CascadePlan,
    plan_fit,
    read_settings,
    shared_budget,
)
from surewood.cascade.sample import Sample, make_sample
from surewood.cascade.training import plant, train
from surewood.estimators.declaring import parameters
from surewood.estimators.parameters import COMMON, Switch
from surewood.estimators.rules import Choice, Integer, Nullable, Number, Rule, check_value
from surewood.estimators.seeds import draw_seed
from surewood.tables import FitInputs

_RULES: Mapping[str, Rule] = {
    **SVM_RULES,
    "gamma_scale": COMMON["gamma_scale"],
    "n_leaves": Nullable(Integer(1)),
}


@parameters(_RULES)
class DeepCascadeSVMClassifier(SvmCascadeBase):
    r"""Cascade of support vector machines that minimizes the bound of *Learning with Deep Cascades* exactly.

    Points far from the first SVM's decision boundary leave there; the others go on to an SVM trained on them
    alone, and so on. The number of leaves, the degree of every SVM and the fraction of points that goes on
    are the exact minimizer, over all such cascades, of

    .. math:: \widehat R_S+\sum_k\min\Big(4\gamma\Big[\sum_{j\le d_k}\sqrt{\Lambda_j/m}
              +\sqrt{\Lambda_k/m}\Big],\frac{m_k^+}m\Big).

    The order of the columns matters: rows are dealt to folds by a hash of their values, which knows the
    position of each column.

    Parameters
    ----------
    max_leaves : int, default=4
        Largest number of leaves.
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
        Seconds for all searches of the fit together, after which the best cascade so far is taken; `search_`
        has the proven gap to the optimum.
    max_memory : int, float, str or None, default=None
        Memory that a fit may take beyond the table itself, in bytes or as text such as "4GB". Inner products
        are stored where they fit into half of it (by default 1 GiB), otherwise computed as needed; a fit that
        would need more is refused.
    calibrate : bool or {"auto", "temperature", "offset", "isotonic"}, default=True
        Method that calibrates `predict_proba` on out-of-fold scores; True is "auto", False is none.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list or mask, default="from_dtype"
    random_state : int, RandomState or None, default=None
        Deals the folds of C and of the calibration.
    n_jobs : int, optional
        Threads; the result is the same for any number.
    verbose : int, default=0
    remember_rows : bool, default=True
        Whether the model remembers fingerprints of its training rows.
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

    * ``C_selection`` ("validation"): how ``C="auto"`` is chosen, on one held-out part ("validation") or in
      cross-validation ("cv");
    * ``C_grid`` (0.001, 0.01, ..., 100): candidates for C;
    * ``C_folds`` (5): folds of ``C_selection="cv"``;
    * ``validation_fraction`` (0.25): held-out part of ``C_selection="validation"``;
    * ``growth`` ("capped"): form of the growth function Λ, "capped" or "sum";
    * ``max_svms`` (None): number of SVMs after which a search returns the best cascade so far, deterministic;
    * ``tol`` (0.001), ``max_iter`` (10000): of the SVM solver.

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
        "C_folds": Switch(5, Integer(2)),
        "validation_fraction": Switch(0.25, Number(above=0.0, below=1.0)),
        **SVM_SWITCHES,
    }

    gamma_scale: Any = GAMMA_SCALE
    n_leaves: int | None = None

    _train = staticmethod(train)

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
        _, sample, plan = self._plan(X, y, sample_weight)
        tasks = plant(plan, sample)
        budget = shared_budget(plan.settings, len(tasks)).budget
        return [gamma_path(task.tree, task.complexity, gamma_min=gamma_min, budget=budget) for task in tasks]

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> tuple[FitInputs, Sample, CascadePlan]:
        settings = read_settings(self)
        if self.n_leaves is not None and self.n_leaves > settings.max_leaves:
            raise ValueError(f"n_leaves={self.n_leaves} is more than max_leaves={settings.max_leaves}.")
        inputs = self._begin_fit(X, y, sample_weight)
        sample = make_sample(inputs, sample_weight)
        return inputs, sample, plan_fit(self, settings, sample, draw_seed(self.random_state))
