"""`PredictionSets`: the labels that may be true, with a guaranteed coverage (theory.md §11.5).

A conformity score says how well a label suits a row; a larger one means better. ``"threshold"``: the label's
probability. ``"adaptive"``: one minus the sum of all larger probabilities and a uniform fraction of the
label's own, so that labels are taken from the most probable one on until the sum is large enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from surewood._arrays import Floats, Mask, check_values
from surewood.base.counted_rows import count_rows
from surewood.base.remembered import RememberedRows
from surewood.base.wording import plural
from surewood.bounds import (
    Condition,
    Entry,
    Method,
    Status,
    clopper_pearson_lower,
    issue_guarantee,
    set_threshold,
)
from surewood.bounds import _arguments as check
from surewood.bounds.statements import AT_LEAST, CALLER
from surewood.tables import content_hashes
from surewood.tables.mixing import splitmix64

from .holdout import group_labels, probabilities_of, reaches, read_labels
from .model_parts import FittedState, counted_rows, training_digest
from .wording import confidence_text

__all__ = [
    "UNKNOWN",
    "PredictionSets",
    "SetCoverage",
    "label_codes",
    "label_scores",
    "tie_breakers",
    "true_scores",
]

SCORES = ("threshold", "adaptive")
UNKNOWN = -1.0  # score of a label that the model does not know: below every other one
_ROWS_AT_ONCE = 1024  # they stay in the cache
_TIE_SALT = np.uint64(0x5E75)  # keys the uniform numbers of adaptive sets
_BY = (None, "class", "group")
_GUARANTEES = ("pac", "marginal")
_MARGINAL = "over holdout and row together; of many rows predicted with this holdout fewer may be covered"
_ANOTHER = -1  # digest of the training rows of no model
_NOT_SAVED = ("_found_for", "_found")


def label_scores(probabilities: Floats, score: str, uniforms: Floats | None = None) -> Floats:
    """Score of every label of every row, shape (n_rows, n_classes).

    Parameters
    ----------
    probabilities : array of shape (n_rows, n_classes)
    score : {"threshold", "adaptive"}
    uniforms : array of shape (n_rows,)
        For ``"adaptive"``: a number in [0, 1) per row.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[0.5, 0.25, 0.25]])
    >>> label_scores(p, "adaptive", np.array([0.0])).tolist()
    [[1.0, 0.5, 0.25]]
    """
    if score == "threshold":
        return probabilities
    assert uniforms is not None
    scores = np.empty_like(probabilities)
    for start in range(0, len(probabilities), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        _adaptive(probabilities[rows], uniforms[rows, None], scores[rows])
    return scores


def _adaptive(probabilities: Floats, uniforms: Floats, out: Floats) -> None:
    """Adaptive scores of a block of rows, into `out`."""
    order = np.argsort(-probabilities, axis=1, kind="stable")
    ordered = np.take_along_axis(probabilities, order, axis=1)
    before = np.cumsum(ordered, axis=1)
    before -= ordered
    np.put_along_axis(out, order, 1.0 - before - uniforms * ordered, axis=1)


def true_scores(
    probabilities: Floats, codes: NDArray[np.intp], score: str, uniforms: Floats | None = None
) -> Floats:
    """Score of each row's true label; -1 where the model does not know it (code -1).

    Examples
    --------
    >>> import numpy as np
    >>> true_scores(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([1, -1]), "threshold").tolist()
    [0.5, -1.0]
    """
    found = np.full(codes.size, UNKNOWN)
    known = np.flatnonzero(codes >= 0)
    if score == "threshold":
        found[known] = probabilities[known, codes[known]]
        return found
    assert uniforms is not None
    for start in range(0, known.size, _ROWS_AT_ONCE):
        rows = known[start : start + _ROWS_AT_ONCE]
        scores = label_scores(probabilities[rows], score, uniforms[rows])
        found[rows] = scores[np.arange(rows.size), codes[rows]]
    return found


def tie_breakers(X: Any, score: str) -> Floats | None:
    """A number in [0, 1) for each row, keyed by its content; None where the score needs none."""
    if score != "adaptive":
        return None
    return np.asarray(splitmix64(content_hashes(X) ^ _TIE_SALT) / 2.0**64)


def label_codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Positions of labels among the classes; -1 for those that are not.

    Examples
    --------
    >>> import numpy as np
    >>> label_codes(np.array(["b", "x"]), np.array(["a", "b"])).tolist()
    [1, -1]
    """
    place = {label: k for k, label in enumerate(classes.tolist())}
    return np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)


@dataclass(frozen=True)
class SetCoverage:
    """Prediction sets on labeled rows, measured.

    Attributes
    ----------
    coverage : float
        Fraction of rows whose set contains the true label (ESTIMATE).
    lower : float
        Lower limit of the coverage at `delta`, from these rows alone.
    mean_size, single : float
        Mean number of labels, and fraction of sets with exactly one (ESTIMATES).
    n : int
        Rows measured.
    """

    coverage: float
    lower: float
    mean_size: float
    single: float
    n: int
    delta: float

    @classmethod
    def measured(cls, inside: Mask, hit: Mask, delta: float) -> SetCoverage:
        """From the labels in each set, and whether the true one is among them, of independent new rows.

        Examples
        --------
        >>> import numpy as np
        >>> inside = np.array([[True, False], [True, True]])
        >>> SetCoverage.measured(inside, np.array([True, True]), 0.05).mean_size
        1.5
        """
        n, found, sizes = len(hit), int(hit.sum()), inside.sum(axis=1)
        lower = clopper_pearson_lower(found, n, delta=delta)
        return cls(found / n, lower, float(sizes.mean()), float((sizes == 1).mean()), n, delta)


class _Options(NamedTuple):
    """What sets were fitted with."""

    alpha: float
    guarantee: str
    by: str | None
    score: str
    delta: float


@dataclass(eq=False, repr=False)
class PredictionSets(BaseEstimator):  # type: ignore[misc]
    """For each row the set of labels that may be true, with a guaranteed coverage.

    Parameters
    ----------
    model : fitted classifier with ``predict_proba``
    alpha : float, default=0.05
        Largest probability that a set misses the true label.
    guarantee : {"pac", "marginal"}
        ``"pac"``: with probability 1 - `delta` over the holdout, the coverage on new rows is at least
        1 - `alpha`. ``"marginal"``: the coverage is at least 1 - `alpha` on average over holdouts; smaller
        sets, and a single holdout may give less.
    by : {None, "class", "group"}
        Coverage on average, for each class, or for each group; the last two divide `delta`.
    score : {"threshold", "adaptive"}
        ``"threshold"``: labels whose probability is at least a threshold; the smallest sets on average.
        ``"adaptive"``: the most probable labels until their sum is large enough; larger sets for difficult
        rows. A keyed random number per row decides on the last label, so sets can be empty.
    delta : float, default=0.05
        For ``"pac"``.

    Attributes
    ----------
    thresholds_ : ndarray
        Smallest score of a label in a set: one, or one per class or group.
    guarantees_ : tuple of Entry
        ``"pac"``: the coverage, at `delta`. ``"marginal"``: that one new row's set has its label, at `alpha`.
    notes_ : list of str
        Classes or groups with too few rows, whose sets keep every label.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import BinnedForestClassifier
    >>> from surewood.certify import PredictionSets
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BinnedForestClassifier(50, random_state=0).fit(X[::2], y[::2])
    >>> sets = PredictionSets(model, alpha=0.1).fit(X[1::2], y[1::2])
    >>> sets.guarantees_[0].quantity, sets.guarantees_[0].value
    ('coverage of the prediction sets', 0.9)
    >>> sets.label_sets(X[:2])
    [(0,), (0,)]
    """

    model: Any
    alpha: float = 0.05
    guarantee: str = "pac"
    by: str | None = None
    score: str = "threshold"
    delta: float = 0.05

    def __getstate__(self) -> dict[str, Any]:
        """What is saved: that the model was fitted again since stays known."""
        state = {name: value for name, value in super().__getstate__().items() if name not in _NOT_SAVED}
        return {**state, "trained_on_": _ANOTHER} if "thresholds_" in state and self._given_up else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._check_options()
        if "thresholds_" not in state:
            return
        self._found_for, self._found = FittedState(self.model), np.array(self.thresholds_)
        if not isinstance(self.options_, dict) or set(self.options_) != set(_Options._fields):
            raise ValueError("options of prediction sets must be those of a fit.")
        PredictionSets(None, **self.options_)._check_options()
        n_parts = len(self.classes_) if self._options.by == "class" else max(1, len(self.groups_))
        if not isinstance(self.thresholds_, np.ndarray) or np.isnan(self.thresholds_).any():
            raise ValueError("thresholds of prediction sets must be numbers.")
        check_values("sizes", self.sizes_, "i", (n_parts,), 0)
        check_values("unknown", self.unknown_, "i", (n_parts,), 0)
        check_values("thresholds", np.maximum(self.thresholds_, -1.0), "f", (n_parts,), -1.0)

    @property
    def classes_(self) -> NDArray[Any]:
        """The model's classes, in the order of the columns of `predict_set`."""
        return np.asarray(self.model.classes_)

    def fit(
        self, X: Any, y: Any, *, groups: Any = None, X_train: Any = None, copies: str = "check"
    ) -> PredictionSets:
        """Find the thresholds on rows that were not used for training or tuning.

        Parameters
        ----------
        X, y : array-like
        groups : str, list of str or array, optional
            For ``by="group"``: column(s) of `X`, or one label per row.
        X_train : array-like, optional
            The training rows of a model from another library.
        copies : {"check", "count", "leave_out"}
            As in :func:`certify`.
        """
        self._check(groups)
        self._forget()
        self.options_ = {name: getattr(self, name) for name in _Options._fields}
        truth = read_labels(self.model, X, y)
        p = probabilities_of(self.model, X, truth.size)
        self.trained_on_, self._found_for = training_digest(self.model), FittedState(self.model)
        counted = counted_rows(self.model, X, X_train=X_train, copies=copies)
        codes = label_codes(truth, self.classes_)
        parts, self.groups_ = self._parts(codes, X, groups)
        self.group_columns_ = groups if isinstance(groups, str | list) else None
        ties = tie_breakers(X, self._options.score)
        scores = true_scores(p, codes, self._options.score, ties)
        self._find(scores[counted.rows], parts[counted.rows])
        unknown = truth[counted.rows][codes[counted.rows] < 0].tolist()
        self.unknown_classes_ = sorted({str(label) for label in unknown})
        sets = self.sets_from(p, ties, self._row_thresholds(X, groups, len(p)))[counted.rows]
        self.full_ = float(sets.all(axis=1).mean())
        self.population_, self.facts_ = counted.population, list(counted.facts)
        self.conditions_ = [[one.text, one.source] for one in counted.conditions()]
        self.choice_rows_ = RememberedRows.from_table(X)
        return self

    def fit_scores(
        self,
        scores: Floats,
        codes: NDArray[np.intp],
        *,
        unknown: list[str],
        population: str,
        conditions: list[list[str]],
    ) -> PredictionSets:
        """Find the thresholds from scores of holdout rows that were kept, where the rows are not at hand.

        Parameters
        ----------
        scores, codes : array of shape (n,)
            Score of the true label, and its position among the classes (-1: the model does not know it).
        unknown : list of str
            Classes of the holdout that the model does not know.
        population : str
        conditions : list of [text, source]
            What :meth:`fit` finds out about the rows.
        """
        self._check(None)
        self._forget()
        self.options_ = {name: getattr(self, name) for name in _Options._fields}
        self.trained_on_, self._found_for = training_digest(self.model), FittedState(self.model)
        self.groups_, self.group_columns_, self.facts_ = [], None, []
        self._find(scores, codes if self.by == "class" else np.zeros_like(codes))
        self.unknown_classes_ = unknown
        self.full_ = float((self.thresholds_ == -np.inf).all())
        self.population_, self.conditions_ = population, conditions
        return self

    def set_params(self, **params: Any) -> PredictionSets:
        """Set parameters for the next `fit`; sets that were found are kept as they are ([D-37]).

        With another model there are no sets any more.
        """
        if "model" in params and params["model"] is not self.model:
            self._forget()
        super().set_params(**params)
        return self

    def _forget(self) -> None:
        """Remove what was fitted: a fit that fails leaves no guarantee of an earlier one behind."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    @property
    def _options(self) -> _Options:
        """The parameters of the fit."""
        fitted: dict[str, Any] = vars(self).get("options_", {})
        return _Options(*(fitted.get(name, getattr(self, name)) for name in _Options._fields))

    def _check(self, groups: Any) -> None:
        self._check_options()
        if (self.by == "group") != (groups is not None):
            raise ValueError("groups must be given with by='group', and only then")

    def _check_options(self) -> None:
        check.open_unit(self.alpha, "alpha")
        check.confidence(self.delta)
        check.choice(self.guarantee, "guarantee", _GUARANTEES)
        check.choice(self.score, "score", SCORES)
        if self.by not in _BY:
            raise ValueError(f"by must be None, 'class' or 'group', got {self.by!r}")

    def _parts(self, codes: NDArray[np.intp], X: Any, groups: Any) -> tuple[NDArray[np.intp], list[str]]:
        """Which threshold each row belongs to, and the names of the groups."""
        if self._options.by == "class":
            return codes, []
        if self._options.by is None:
            return np.zeros(codes.size, dtype=np.intp), []
        labels, _ = group_labels(groups, X, codes.size)
        names = sorted(set(labels))
        place = {name: k for k, name in enumerate(names)}
        return np.array([place[label] for label in labels], dtype=np.intp), names

    def _find(self, scores: Floats, parts: NDArray[np.intp]) -> None:
        """Thresholds of all parts."""
        options = self._options
        n_parts = len(self.classes_) if options.by == "class" else max(1, len(self.groups_))
        self.thresholds_: NDArray[np.float64] = np.full(n_parts, -np.inf)
        self._found = self.thresholds_
        self.sizes_: NDArray[np.int64] = np.zeros(n_parts, dtype=np.int64)
        self.unknown_: NDArray[np.int64] = np.zeros(n_parts, dtype=np.int64)
        self.notes_: list[str] = []
        for k in range(n_parts):
            values = scores[parts == k]
            self.sizes_[k] = values.size
            if values.size:
                self.thresholds_[k] = set_threshold(
                    values, options.alpha, guarantee=options.guarantee, delta=options.delta / n_parts
                )
            self.unknown_[k] = np.count_nonzero(values <= UNKNOWN)
            if self._withheld(k):
                unknown = f"{self.unknown_[k]} of {values.size} rows"
                self.notes_.append(f"{self._name(k)}: {unknown} have a class that the model does not know.")
            if self.thresholds_[k] == -np.inf:
                kept = "is in every set" if options.by == "class" else "sets keep every label"
                self.notes_.append(f"{self._name(k)}: too few rows ({values.size}); {kept}.")
        self._found = self.thresholds_.copy()

    def _withheld(self, part: int) -> bool:
        """Whether sets may miss too often: something was changed, or the model does not know the classes."""
        if self._given_up:
            return True
        return bool(self.unknown_[part] > 0 and self.thresholds_[part] <= UNKNOWN)

    @property
    def _given_up(self) -> str:
        """Why what was found does not hold any more, or nothing."""
        then = vars(self).get("trained_on_")
        if then not in (None, training_digest(self.model)) or not self._found_for.is_of(self.model):
            return "the model was changed or fitted again after the sets were found"
        same = np.array_equal(self.thresholds_, self._found)
        return "" if same else "the thresholds were changed after they were found"

    def _conditions(self, part: int) -> list[Condition]:
        conditions = [Condition(text, True, source) for text, source in self.conditions_]
        if self.thresholds_[part] == -np.inf:
            conditions.insert(0, Condition("the label of a new row is a class of the model", True, CALLER))
        return conditions

    def _name(self, part: int) -> str:
        by = self._options.by
        if by is None:
            return "holdout"
        return f"class {self.classes_[part]}" if by == "class" else f"group {self.groups_[part]}"

    @property
    def guarantees_(self) -> tuple[Entry, ...]:
        """What the sets keep as GUARANTEES, one per class or group.

        "pac": the coverage, which fails with probability `delta` over the holdout. "marginal": that the set
        of one new row has its label, which fails with probability `alpha` over the holdout and the row. None
        where too many holdout rows have a class that the model does not know: no set has it.
        """
        n_parts, options = len(self.thresholds_), self._options
        pac = options.guarantee == "pac"
        about = "coverage of the prediction sets" if pac else "coverage of the set of one new row"
        return tuple(
            issue_guarantee(
                Method.HOLDOUT,
                value=1.0 - options.alpha if pac else 1.0,
                delta=options.delta / n_parts if pac else options.alpha,
                n=max(1, int(self.sizes_[k])),
                sample="holdout",
                variant="exact",
                quantity=about if options.by is None else f"{about}, {self._name(k)}",
                side=AT_LEAST,
                population=self.population_,
                conditions=self._conditions(k),
                note="" if pac else _MARGINAL,
            )
            for k in range(n_parts)
            if not self._withheld(k)
        )

    @property
    def statement_(self) -> str:
        """What the sets guarantee, in one sentence, after a note if most sets contain every label."""
        if self._given_up:
            return f"No guarantee: {self._given_up}."
        options, n = self._options, int(self.sizes_.sum())
        first = ""
        if (self.thresholds_ == -np.inf).all():
            rows = plural(n, "row guarantees", "rows guarantee")
            first = f"{rows} nothing: every label is returned. "
        elif self.full_ > 0.5:
            first = f"{100 * self.full_:.0f} % of the sets contain every label. "
        withheld = [self._name(k) for k in range(len(self.thresholds_)) if self._withheld(k)]
        if withheld:
            names = ", ".join(withheld)
            return f"{first}No guarantee ({names}): too many rows have a class that the model does not know."
        each = {"class": " of each class that the model knows", "group": " of each group of the holdout"}
        within = each.get(options.by or "", "")
        coverage = f"at least {confidence_text(options.alpha)}"
        if options.guarantee == "pac":
            sure = f"with probability at least {confidence_text(options.delta)} over the holdout"
            claim = f"{coverage} of {self.population_}{within} have their true label in the set, {sure}"
        else:
            row = "a new row" if self.population_ == "new rows" else f"one of the {self.population_}"
            claim = f"the set of {row}{within} has its true label with probability {coverage}, {_MARGINAL}"
        missing = ""
        if options.by == "class" and self.unknown_classes_:
            missing = f" Not guaranteed for {', '.join(self.unknown_classes_)}: unknown to the model."
        return f"{first}{Status.GUARANTEE}: {claim}.{missing}"

    def predict_set(self, X: Any, *, groups: Any = None) -> Mask:
        """Whether each label is in the set, shape (n_rows, n_classes), columns in the order of ``classes_``.

        Groups that the holdout did not have get every label.
        """
        p = probabilities_of(self.model, X)
        return self.sets_from(
            p, tie_breakers(X, self._options.score), self._row_thresholds(X, groups, len(p))
        )

    def sets_from(self, probabilities: Floats, uniforms: Floats | None, thresholds: Floats) -> Mask:
        """Sets from probabilities of the model."""
        return reaches(label_scores(probabilities, self._options.score, uniforms), thresholds)

    def _row_thresholds(self, X: Any, groups: Any, n: int) -> Floats:
        if self._options.by is None:
            return self.thresholds_[:1]
        if self._options.by == "class":
            return self.thresholds_[None, :]
        groups = self.group_columns_ if groups is None else groups
        if groups is None:
            raise ValueError(f"groups must have one label per row ({n}), got None")
        labels, _ = group_labels(groups, X, n)
        known = dict(zip(self.groups_, self.thresholds_.tolist()))
        return np.array([known.get(label, -np.inf) for label in labels])[:, None]

    def label_sets(self, X: Any, *, groups: Any = None) -> list[tuple[Any, ...]]:
        """The labels of each set."""
        classes = self.classes_.tolist()
        return [tuple(classes[k] for k in np.flatnonzero(row)) for row in self.predict_set(X, groups=groups)]

    def coverage(self, X: Any, y: Any, *, groups: Any = None) -> SetCoverage:
        """Measure the sets on labeled rows.

        Refused on rows that the sets were found on, or that the model was trained on.
        """
        truth = read_labels(self.model, X, y)
        inside = self.predict_set(X, groups=groups)
        count_rows(X, chosen_on=[(self.choice_rows_, X)])
        rows = counted_rows(self.model, X).rows
        codes = label_codes(truth, self.classes_)
        hit = np.zeros(truth.size, dtype=bool)
        known = codes >= 0
        hit[known] = inside[np.flatnonzero(known), codes[known]]
        return SetCoverage.measured(inside[rows], hit[rows], self._options.delta)
