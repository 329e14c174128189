"""`DeepCascadeSVMClassifierCV`: γ, number of leaves and C chosen on held-out rows, from one tree per fold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from numbers import Real
from typing import Any, ClassVar

from surewood.cascade.base import SvmCascadeBase
from surewood.cascade.cross_validation import Selection, select
from surewood.cascade.old_form import results_of_today
from surewood.cascade.penalty import Folds
from surewood.cascade.plan import (
    SVM_RULES,
    SVM_SWITCHES,
    SelectionPlan,
    plan_selection,
    read_settings,
)
from surewood.cascade.sample import Sample, make_sample
from surewood.cascade.user_folds import merge_within_folds
from surewood.estimators.declaring import parameters
from surewood.estimators.parameters import COMMON, Switch
from surewood.estimators.rules import Integer, Kind, ListOf, Nullable, Number, Rule
from surewood.estimators.seeds import draw_seed
from surewood.tables import FitInputs

_RULES: Mapping[str, Rule] = {
    **SVM_RULES,
    "gamma_min": Number(0.0),
    "leaf_gammas": Kind(
        "a list of numbers above 0, which may be empty",
        lambda value: ListOf(Number(), "").is_kind(value),
        lambda value: all(Number(above=0.0).holds(gamma) for gamma in value),
    ),
    "cv": COMMON["cv"],
    "refit": COMMON["refit"],
}


@parameters(_RULES)
class DeepCascadeSVMClassifierCV(SvmCascadeBase):
    """SVM cascade whose γ, number of leaves and C are chosen on held-out rows.

    In every fold the whole γ path is found from one tree of SVMs: every cascade that is the exact minimizer
    of the bound for some γ. Candidates are these cascades, the best cascades with exactly 2, 3, ... leaves,
    and a single SVM of each degree. A cascade is taken only if its held-out error is smaller than that of the
    best single SVM by more than two standard errors of the difference (``study["standard_errors"]``);
    otherwise the single SVM is taken, so that the model is not worse than an SVM by more than noise.

    The order of the columns matters: rows are dealt to folds by a hash of their values, which knows the
    position of each column.

    Parameters
    ----------
    max_leaves, fractions, degrees, kernel, multiclass
        As in :class:`DeepCascadeSVMClassifier`.
    gamma_min : float, default=0.001
        Where the γ path ends; 0 is possible and long.
    leaf_gammas : list of float, default=(0.1, 0.01)
        γ at which the minimizers with exactly l leaves are taken; an empty list means none.
    C : "auto", float or list of float, default="auto"
        C of each degree: the value of smallest error, on the same folds, of a single SVM of that degree, or
        given.
    cv : int, float, splitter or iterable of (training, held-out) rows, default=5
        An integer deals stratified folds; a number between 0 and 1 holds out about that fraction once.
    refit : bool, default=True
        Whether to search again on all rows. False keeps the model of the training part: for one split only.
    time_limit : float, optional
        Seconds for all searches of the fit together.
    max_memory, calibrate, class_weight, categorical_features, random_state, n_jobs, verbose, remember_rows
        As in :class:`DeepCascadeSVMClassifier`.
    study : dict, optional
        Study switches, see below.

    Attributes
    ----------
    cv_results_ : dict of ndarray, made for ``pandas.DataFrame(model.cv_results_)``
        One entry per candidate: ``kind``, ``degree``, ``gamma_scale``, mean number of leaves, held-out
        ``error``, ``gain`` over the best single SVM and its ``standard_error``, and as in scikit-learn
        ``params``, ``mean_test_score`` (accuracy) and ``rank_test_score``.
    best_index_ : int
        The chosen row.
    best_params_ : dict
        The chosen row as parameters of a :class:`DeepCascadeSVMClassifier`: ``gamma_scale`` and perhaps
        ``n_leaves``, or ``degrees`` and ``max_leaves=1`` for a single SVM.
    best_score_ : float
        Held-out accuracy of the chosen row; optimistic, since it was chosen by it.
    gamma_scale_ : float or None
        The chosen γ; None for a single SVM, which no γ selected.
    classes_, model_, cascades_, search_, C_, out_of_fold_
        As in :class:`DeepCascadeSVMClassifier`.

    Notes
    -----
    Study switches, all optional keys of `study`:

    * ``standard_errors`` (2): how clearly a cascade must beat the best single SVM. Dozens of candidates are
      compared, so that one of them gains a standard error by luck quite often; 0 takes every gain;
    * ``max_svms`` (2000): number of SVMs after which a search returns the best cascade so far, deterministic.
      What it cuts off is seen in ``search_[0].proven``; None is no limit;
    * ``C_grid``, ``growth``, ``tol``, ``max_iter``: as in :class:`DeepCascadeSVMClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.25, random_state=0)
    >>> model = DeepCascadeSVMClassifierCV(max_leaves=2, cv=3, random_state=0).fit(X, y)
    >>> model.best_score_ > 0.8
    True
    """

    _study_switches: ClassVar[dict[str, Switch]] = {
        **SVM_SWITCHES,
        "max_svms": Switch(2000, Nullable(Integer(1))),
        "standard_errors": Switch(2.0, Number(0.0, finite=False)),
    }

    cv_results_: dict[str, Any] = field(init=False)
    best_index_: int = field(init=False)

    gamma_min: float = 1e-3
    leaf_gammas: Any = (0.1, 0.01)
    cv: Any = 5
    refit: bool = True

    _train = staticmethod(select)

    def _store(self, fitted: Selection) -> None:
        self.model_ = fitted.model
        self.cv_results_ = {str(name): column.to_numpy(copy=True) for name, column in fitted.table.items()}
        self.best_index_ = fitted.best

    @property
    def best_params_(self) -> dict[str, Any]:
        """Parameters of a :class:`DeepCascadeSVMClassifier` that give the chosen candidate."""
        params: dict[str, Any] = self.cv_results_["params"][self.best_index_]
        return params

    @property
    def best_score_(self) -> float:
        """Held-out accuracy of the chosen candidate."""
        return float(self.cv_results_["mean_test_score"][self.best_index_])

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> tuple[FitInputs, Sample, SelectionPlan]:
        settings = read_settings(self)
        is_dealt = isinstance(self.cv, Real)
        if not self.refit and is_dealt:
            raise ValueError(_ONE_SPLIT)
        inputs = self._begin_fit(X, y, sample_weight, merge=is_dealt)
        seed = draw_seed(self.random_state)
        folds: Folds | None = None
        if not is_dealt:
            inputs, folds = merge_within_folds(inputs, self.cv)
            if not self.refit and len(folds) != 1:
                raise ValueError(_ONE_SPLIT)
        scaled_on = folds[0][0] if folds is not None and not self.refit else None
        sample = make_sample(inputs, sample_weight, scaled_on)
        return inputs, sample, plan_selection(self, settings, sample, folds, seed)

    @classmethod
    def _state_of_today(cls, state: dict[str, Any]) -> dict[str, Any]:
        if "cv_results_" in state:
            state["cv_results_"] = results_of_today(state["cv_results_"])
        return super()._state_of_today(state)


_ONE_SPLIT = (
    "refit=False keeps the model of the training part, so cv must be exactly one split, for instance "
    "[(training_rows, held_out_rows)] or a PredefinedSplit with one fold."
)
