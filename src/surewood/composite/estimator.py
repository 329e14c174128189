"""``RandomCompositeForestClassifier`` and ``CompositeTreeClassifier``: parameters, documentation, ``fit``."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

from surewood._arrays import Floats
from surewood.composite.base import CompositeClassifier
from surewood.composite.certifiable import refuse_unproved
from surewood.composite.parameters import (
    FOREST_SWITCHES,
    RULES,
    SELECTIONS,
    TREE_SWITCHES,
    is_auto,
)
from surewood.composite.plan import make_plan
from surewood.composite.training import train_certifiable, train_with_votes
from surewood.estimators.calibration import held_out_probabilities
from surewood.estimators.declaring import TimedRunParameters, parameters
from surewood.estimators.parameters import memory_bytes
from surewood.estimators.rules import Boolean, Choice
from surewood.estimators.seeds import draw_seed
from surewood.estimators.time_limit import TimeLimit
from surewood.svm import gram_limit

_PILOT_TIME = 1 / 3  # part of a time limit that the pilot may take


class _PlannedClassifier(CompositeClassifier):
    """An estimator whose parameters and data determine the plan of its forest."""

    @property
    def _time_limit(self) -> float | None:
        """Seconds that a fit may take."""
        return None

    @property
    def _is_certifiable(self) -> bool:
        """Whether trees must be functions of their in-bag rows alone."""
        return False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit to a table and its labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, sparse matrix, pandas or polars frame; categories and missing values as they come. Or a
            :class:`~surewood.tables.ParquetTable`, or the path of a Parquet file or folder, which are read
            batch by batch: only the rows of the leaves at work are in memory.
        y : array of shape (n_rows,)
            Labels. For a Parquet file: the name of their column.
        sample_weight : array of shape (n_rows,), optional
            Multiplies C and counts; rows of weight 0 are absent.
        """
        self._fit_held_out(X, y, sample_weight)
        return self

    def _fit_held_out(self, X: Any, y: Any, sample_weight: Any = None) -> Floats | None:
        """Fit; probabilities of the rows of `X` by trees that did not see them, NaN or None without any."""
        limit = TimeLimit(self._time_limit)
        with self._begin(X, y, sample_weight) as inputs:
            options, seed, given = self._options(), draw_seed(self.random_state), self._parameters()
            if self._is_certifiable:
                self._check_memory(inputs)
                memory = gram_limit(memory_bytes(self.max_memory))
                trained = train_certifiable(given, inputs, seed, options, memory)
            else:
                data = self._prepared(inputs)
                plan = make_plan(given, data, seed, options, limit.part(_PILOT_TIME))
                trained = train_with_votes(plan, inputs, data, options, limit)
            self._store(inputs, trained.model)
            if trained.votes is None:
                return None
            return inputs.expand(held_out_probabilities(trained.votes, trained.model.calibrator))


@parameters({**RULES, "selection": Choice("auto", *SELECTIONS), "certifiable": Boolean()})
class RandomCompositeForestClassifier(_PlannedClassifier, TimedRunParameters):
    """A forest whose leaves hold polynomial SVMs of chosen degrees.

    Shallow random trees route rows to leaves; a leaf holds a one-vs-one SVM with a polynomial kernel, and its
    degree is chosen leaf by leaf by a data-dependent criterion, for the whole forest by out-of-bag votes, or
    both.

    The order of the columns matters: features are drawn by position, and ties go to the first column.

    Parameters
    ----------
    n_estimators : int, default=100
        Composite trees.
    max_depth : "auto" or int, default="auto"
        Splits above a leaf (0: one SVM for all rows). "auto": chosen by the pilot, or, with another
        `selection`, 4, less where leaves would have fewer than 20 rows.
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default="sqrt"
        Features tried at a node; None: all.
    degrees : "auto", int or list of int, default="auto"
        Degrees offered to leaves. "auto" is 1, 2, 3.
    C : "auto", float or list of float, default="auto"
        Regularization, one value or one per degree; a leaf with the fraction s of the rows uses
        ``sqrt(s) * C``. "auto": by the pilot, or, with another `selection`, by 5-fold cross-validation of
        one SVM per degree.
    gamma_scale : "auto" or float, default="auto"
        Multiplier of the complexity in the criterion. "auto" is 1e-4.
    selection : {"auto", "exact", "random_sequences", "common_degree", "random_degree"}, default="auto"
        "exact" is the minimum of the criterion over all sequences of degrees; "random_sequences" the best of
        some random ones; "common_degree" and "random_degree" do without the criterion (RF-SVM). "auto" runs
        a pilot on subsamples and takes the three best of all (depth, degree, C) and of the criterion at every
        depth, by out-of-bag error, together with plain trees. Candidates that cannot win any more are
        dropped after a third of the pilot's trees.
    plain_weight : "auto" or float, default="auto"
        Weight in the vote of plain trees (no depth limit, class frequencies at the leaves, bootstrap), below
        1. "auto": by the votes of the fitted trees on training rows; 0 with another `selection`. A content
        that occurs once is voted on by the trees that did not see it, a content with copies by all trees:
        the choice is made for rows as they come, copies included, while `held_out_error_` is about new ones.
    certifiable : bool, default=False
        Grow the forest so that :func:`surewood.certify.certify` guarantees its error on all rows, without a
        holdout (theory.md §11.9): bins, scaling and the pilot use a tenth of the rows (50 to 2,000) that
        every tree sees, each tree sees half of the others, and trees vote as they are, without plain trees
        and without calibration. It costs accuracy. Columns with categories earn no guarantee.
    calibrate : bool or {"auto", "temperature", "offset", "isotonic"}, default=True
        Calibration of ``predict_proba`` on out-of-bag (or out-of-fold) votes; True is "auto", False gives
        the mean scores.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list of names, positions, mask or None, default="from_dtype"
    time_limit : float or None, default=None
        Seconds that a fit may take. The pilot, which gets a third of them, then compares less, and the trees
        that are fitted when the time is up vote alone; ``model_.notes`` says what was left out. At least one
        step of each is done, whatever the limit. Without a limit results are deterministic.
    max_memory : int, text such as "4GB" or None, default=None
        Memory a fit may use. Above half of it inner products are formed leaf by leaf, with the same result.
    remember_rows : bool, default=True
        Keep a hash of every training row (8 bytes each) in ``remembered_rows_``, so that a certificate can
        tell new rows from copies of training rows.
    n_jobs : int or None, default=None
        Threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows the progress of a fit.
    study : dict or None, default=None
        Switches that only a study needs, see below.

    Attributes
    ----------
    classes_ : ndarray
    model_ : CompositeModel
        Everything that was fitted, as one frozen object.
    settings_ : tuple of Setting
        What the parts of the forest were grown with.
    plain_weight_ : float
    held_out_error_ : float
        ESTIMATE: error of out-of-bag (or out-of-fold) votes, for contents that are not in the training table;
        NaN where there were none.
    criterion_ : ndarray
        CRITERION (2.9) of each composite tree.
    active_leaves_ : float
        Fraction of leaves with an active complexity penalty; at 0 the tie rule chose the degrees.
    degrees_histogram_ : dict
    n_iter_ : int
        Most iterations of an SVM, summed over its pairs of classes.
    feature_importances_ : ndarray
        All 0 where no tree splits.
    n_features_in_, feature_names_in_, schema_

    See Also
    --------
    RandomCompositeForestClassifierCV : The whole grid of the paper in one pass.
    CompositeTreeClassifier : One tree.

    Notes
    -----
    **Study switches** (keys of `study`):

    ======================== =========== =============================================================
    key                      default     meaning
    ======================== =========== =============================================================
    n_sequences              10          sequences drawn with ``selection="random_sequences"``
    constant_leaves          "auto"      offer degree 0, the majority class, at every leaf; leaves of
                                         one class have it anyway
    leaf_scores              "one_hot"   what a leaf contributes: the class its SVM predicts, with
                                         "ovo_votes" the fraction of pairs each class wins, with
                                         "calibrated" its label with its out-of-bag accuracy
    n_plain_trees            "auto"      plain trees, where their weight is positive; "auto" is 5 per
                                         composite tree
    bootstrap                False       draw the rows of a tree with replacement
    max_samples              "auto"      rows per tree (a fraction: of all); "auto" is 0.8 with
                                         ``selection="auto"``, else all
    max_leaf_size            "auto"      leaves with more rows are split further, beyond `max_depth`;
                                         "auto" is 2000, less where the fit would cost too much
    min_weight_fraction_leaf 0.0         least weight of a leaf, as a fraction of what a tree sees
    tol                      "auto"      stopping tolerance of the SVMs; "auto" is 1e-2 with
                                         ``selection="auto"``, else 1e-3, as in libsvm
    max_iter                 10000       iterations per pair of classes; SVMs that need more are kept
                                         and flagged in the ledger
    ======================== =========== =============================================================

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomCompositeForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> forest.predict(X[:2]).tolist(), forest.predict_proba(X).shape
    ([0, 0], (150, 3))
    """

    _study_switches: ClassVar[Any] = FOREST_SWITCHES
    _renamed_parameters: ClassVar[Any] = {"plain_share": "plain_weight"}

    n_estimators: int = field(default=100, kw_only=False)
    max_depth: int | str = "auto"
    max_features: str | int | float | None = "sqrt"
    degrees: Any = "auto"
    C: Any = "auto"
    gamma_scale: float | str = "auto"
    selection: str = "auto"
    plain_weight: float | str = "auto"
    certifiable: bool = False

    @classmethod
    def paper(cls, **changes: Any) -> RandomCompositeForestClassifier:
        """The algorithm of the paper: degrees 1 to 9 by the exact minimum of the criterion, no bags.

        Parameters
        ----------
        **changes
            Any parameter, over these: ``selection="exact"``, ``degrees=1..9``, ``gamma_scale=1e-3``,
            ``max_depth=4``, no plain trees, votes as probabilities, no limit on the size of leaves. Keys of
            `study` are changed one by one.

        Examples
        --------
        >>> RandomCompositeForestClassifier.paper(max_depth=3).selection
        'exact'
        """
        setting: dict[str, Any] = {
            "selection": "exact",
            "degrees": tuple(range(1, 10)),
            "gamma_scale": 1e-3,
            "max_depth": 4,
            "plain_weight": 0.0,
            "calibrate": False,
        }
        study = {"max_samples": None, "max_leaf_size": None} | (changes.pop("study", None) or {})
        return cls(**(setting | changes), study=study)

    @property
    def _time_limit(self) -> float | None:
        return self.time_limit

    @property
    def _is_certifiable(self) -> bool:
        if self.certifiable:
            given = self._parameters()
            weighted_plain = not is_auto(given.plain_weight) and float(given.plain_weight) > 0.0
            refuse_unproved(given, self.time_limit, weighted_plain)
        return bool(self.certifiable)


@parameters({**RULES, "selection": Choice(*SELECTIONS)})
class CompositeTreeClassifier(_PlannedClassifier):
    """One tree whose leaves hold polynomial SVMs, their degrees chosen by a data-dependent criterion.

    The order of the columns matters: ties between splits go to the first column, and rows are dealt to folds
    by a hash that knows the position of each column.

    Parameters
    ----------
    max_depth : "auto" or int, default="auto"
        Splits above a leaf. "auto": 4, less where leaves would have fewer than 20 rows.
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default=None
        Features tried at a node; None: all, and the tree is not random.
    selection : {"exact", "random_sequences", "common_degree", "random_degree"}, default="exact"
    min_weight_fraction_leaf : float, default=0.0
        Least weight of a leaf, as a fraction of the weight of all rows.
    degrees, C, gamma_scale, calibrate, class_weight, categorical_features, max_memory, remember_rows, \
n_jobs, random_state, verbose
        As in :class:`RandomCompositeForestClassifier`.
    study : dict or None, default=None
        The study switches of :class:`RandomCompositeForestClassifier`, except `n_plain_trees`, `bootstrap`
        and `max_samples` (the tree sees all rows) and `min_weight_fraction_leaf` (a parameter here).

    Attributes
    ----------
    classes_, model_, settings_, criterion_, active_leaves_, degrees_histogram_, feature_importances_, ...
        As in :class:`RandomCompositeForestClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CompositeTreeClassifier(max_depth=1, C=1.0, random_state=0).fit(X, y)
    >>> tree.ledger()[["path", "points", "degree"]].to_dict("list")
    {'path': ['x2 <= 2.45', 'x2 > 2.45'], 'points': [50, 100], 'degree': [0, 2]}
    """

    _study_switches: ClassVar[Any] = TREE_SWITCHES

    max_depth: int | str = "auto"
    max_features: str | int | float | None = None
    degrees: Any = "auto"
    C: Any = "auto"
    gamma_scale: float | str = "auto"
    selection: str = "exact"
    min_weight_fraction_leaf: float = 0.0
