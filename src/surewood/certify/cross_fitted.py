"""`CrossFittedClassifier`: the mean of fold models, its Brier score guaranteed without a holdout ([D-44])."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from surewood._arrays import Floats, check_number, check_values
from surewood.base.folds import shuffled_folds
from surewood.base.remembered import RememberedRows
from surewood.bounds import _arguments as check
from surewood.bounds.evidence import CrossFitEvidence
from surewood.tables import content_hashes

__all__ = ["CrossFittedClassifier"]

_SMALLEST_FOLD = 8  # of the bound
_QUANTILES = 201  # of the held-out losses: how they compare with a holdout's


class CrossFittedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Mean of the probabilities of models that were each trained without one fold.

    Every row is held out from one model, so :func:`certify` guarantees the Brier score of the mean without a
    holdout (theory.md §11.9). Whatever the estimator learns, scaling and calibration included, it learns
    within the folds, so any classifier or pipeline can be used.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        Not fitted; it is cloned for every fold.
    n_folds : int, default=5
        Fewer folds give a tighter guarantee, more folds better models. Each needs 8 rows.
    random_state : int, default=0
        Assigns rows to folds by their position, because the guarantee requires folds that do not depend on
        the values. So the order of the rows matters.

    Attributes
    ----------
    models_ : list
        The model of each fold.
    brier_score_ : float
        Mean over folds of the Brier score on the held-out rows (ESTIMATE).
    classes_ : ndarray

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surewood import BinnedForestClassifier
    >>> from surewood.certify import CrossFittedClassifier, certify
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CrossFittedClassifier(BinnedForestClassifier(20, random_state=0)).fit(X, y)
    >>> entry = certify(model).guarantees[0]
    >>> entry.quantity, round(model.brier_score_, 2), entry.value < 0.3
    ('Brier score', 0.07, True)
    """

    def __init__(self, estimator: Any, n_folds: int = 5, random_state: int = 0) -> None:
        self.estimator = estimator
        self.n_folds = n_folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> CrossFittedClassifier:
        """Train one model per fold.

        Parameters
        ----------
        X : table
        y : array of shape (n_rows,)
        """
        labels = np.asarray(column_or_1d(y))
        check_consistent_length(X, labels)
        n_folds = check.count(self.n_folds, "n_folds", 2)
        if labels.size < _SMALLEST_FOLD * n_folds:
            needed = _SMALLEST_FOLD * n_folds
            raise ValueError(f"{n_folds} folds need at least {needed} rows, got {labels.size}")
        _refuse_fitted_parts(self.estimator)
        classes, codes = np.unique(labels, return_inverse=True)
        rows = RememberedRows.from_table(X)
        # copies would be on both sides; nothing is guaranteed about them, but the estimate stays honest
        content = np.unique(content_hashes(X), return_inverse=True)[1] if rows.copied else None
        fold = shuffled_folds(labels.size, n_folds, int(self.random_state), content)
        models, scores, losses = [], [], np.empty(labels.size)
        for k in range(n_folds):
            outside, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            model = clone(self.estimator).fit(_safe_indexing(X, outside), labels[outside])
            p = _aligned(model, _safe_indexing(X, held), classes)
            p[np.arange(held.size), codes[held]] -= 1.0
            losses[held] = (p**2).sum(axis=1)
            scores.append(float(losses[held].mean()))
            models.append(model)
        self.classes_, self.models_ = classes, models
        self.brier_score_ = float(np.mean(scores))
        self.loss_quantiles_ = np.quantile(np.clip(losses / 2.0, 0.0, 1.0), np.linspace(0.0, 1.0, _QUANTILES))
        self.n_samples_, self.fold_size_ = int(labels.size), int(np.bincount(fold).min())
        self.majority_error_ = 1.0 - float(np.bincount(codes).max()) / labels.size
        self.remembered_rows_ = rows
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "models_" not in state:
            return
        count = check.count(self.n_folds, "n_folds", 2)
        if len(self.models_) != count:
            raise ValueError(f"models_ must have {count} models, one per fold, got {len(self.models_)}")
        check_number("n_samples", self.n_samples_, 1, 2**63 - 1, whole=True)
        check_number("fold_size", self.fold_size_, 1, self.n_samples_ // count, whole=True)
        check_number("brier_score", self.brier_score_, 0.0, 2.0)
        check_number("majority_error", self.majority_error_, 0.0, 1.0)
        known = np.unique(np.concatenate([np.asarray(model.classes_) for model in self.models_]))
        if not np.array_equal(self.classes_, known):
            raise ValueError("classes_ must be the classes of the fold models, in order")
        check_values("loss_quantiles", self.loss_quantiles_, "f", (_QUANTILES,), 0.0, 1.0)

    def predict_proba(self, X: Any) -> Floats:
        """Mean of the fold models' probabilities, columns in the order of ``classes_``."""
        check_is_fitted(self, "models_")
        return np.asarray(np.mean([_aligned(model, X, self.classes_) for model in self.models_], axis=0))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest probability, the first one on ties."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def __certificate_evidence__(self) -> Iterable[CrossFitEvidence]:
        """The held-out Brier score, in which every row counts once."""
        check_is_fitted(self, "models_")
        yield CrossFitEvidence(
            mean_brier=self.brier_score_,
            n_samples=self.n_samples_,
            fold_size=self.fold_size_,
            outside_only=True,
            averaged=True,
            unweighted=True,
            majority_error=self.majority_error_,
            losses=self.loss_quantiles_,
        )


def _refuse_fitted_parts(estimator: Any) -> None:
    """Refuse an estimator with a part that stays fitted when it is cloned: its folds would have seen it."""
    fresh = clone(estimator)
    parts = [fresh, *fresh.get_params(deep=True).values()]
    for part in parts:
        if hasattr(part, "fit") and not isinstance(part, type) and _is_fitted(part):
            raise ValueError(
                f"estimator must not have parts that are fitted already, got {type(part).__name__}: the rows "
                "of a fold may have taken part"
            )


def _is_fitted(part: Any) -> bool:
    """Whether a cloned estimator is fitted; one that learns nothing and says so is not meant."""
    try:
        if not get_tags(part).requires_fit:
            return False
        check_is_fitted(part)
    except (NotFittedError, TypeError, AttributeError):
        return False
    return True


def _aligned(model: Any, X: Any, classes: NDArray[Any]) -> Floats:
    """Probabilities in the order of `classes`; 0 for a class that a fold did not have."""
    found = np.asarray(model.predict_proba(X), dtype=np.float64)
    p = np.zeros((len(found), len(classes)))
    p[:, np.searchsorted(classes, model.classes_)] = found
    return p
