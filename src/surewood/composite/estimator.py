"""``RandomCompositeForestClassifier`` and ``CompositeTreeClassifier``: parameters, documentation, ``fit``.

:class:`CompositeClassifier` is what both share with the search of
:mod:`~surewood.composite.model_selection`: input, predictions, ledgers, evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Floats
from surewood.base import rules
from surewood.base.base import ClassifierBase, Fitted
from surewood.base.calibration import held_out_probabilities
from surewood.base.folds import draw_seed
from surewood.base.parameters import (
    COMMON,
    GramParameter,
    RunParameters,
    StudyParameter,
    Switch,
    TimedRunParameters,
    checked_parameters,
    parameters,
)
from surewood.composite.data import prepare
from surewood.composite.growing import MAX_DEPTH, Setting
from surewood.composite.model import CompositeModel
from surewood.composite.plan import (
    NOT_OFFERED,
    Parameters,
    draw_bags,
    make_plan,
    products_read,
    solver_options,
)
from surewood.composite.report_facts import explanation_steps, report_facts
from surewood.composite.training import train
from surewood.families import FAMILIES
from surewood.tables import TrainingTable, begin_predict, by_batches

SELECTIONS = ("exact", "theorem", "random_sequences", "common_degree", "random_degree")
LEAF_SCORES = ("one_hot", "ovo_votes")
KERNELS = ("poly", "homogeneous", "normalized_poly")
DEPTH = rules.Integer(0, MAX_DEPTH)
GAMMA = rules.Number(above=0.0)
_PLAIN_WEIGHT = rules.Rule(
    "a weight of at least 0 and below 1", rules.Number().is_kind, lambda value: 0.0 <= float(value) < 1.0
)

#: Rules of the tree and the forest; each takes those of its own parameters.
RULES: Mapping[str, rules.Rule] = {
    **COMMON,
    "max_depth": rules.Either(rules.AUTO, DEPTH),
    "gamma_scale": rules.Either(rules.AUTO, GAMMA),
    "plain_weight": rules.Either(rules.AUTO, _PLAIN_WEIGHT),
}

#: Study switches of the forest.
FOREST_SWITCHES: Mapping[str, Switch] = {
    "C_per_leaf": Switch(False, rules.Boolean()),
    "constant_leaves": Switch("auto", rules.Either(rules.AUTO, rules.Boolean())),
    "leaf_scores": Switch("one_hot", rules.Choice(*LEAF_SCORES)),
    "kernel": Switch("poly", rules.Choice(*KERNELS)),
    "leaves": Switch(None, rules.Nullable(FAMILIES)),
    "max_leaf_size": Switch("auto", rules.Nullable(rules.AUTO, rules.Integer(2))),
    "min_weight_fraction_leaf": Switch(0.0, COMMON["min_weight_fraction_leaf"]),
    "tol": Switch("auto", rules.Either(rules.AUTO, COMMON["tol"])),
    "max_iter": Switch(10_000, COMMON["max_iter"]),
    "n_plain_trees": Switch("auto", rules.Either(rules.AUTO, rules.Integer(1))),
    "bootstrap": Switch(False, COMMON["bootstrap"]),
    "max_samples": Switch("auto", COMMON["max_samples"]),
}

_FOREST_ONLY = ("min_weight_fraction_leaf", "n_plain_trees", "bootstrap", "max_samples")

#: Study switches of the tree.
TREE_SWITCHES: Mapping[str, Switch] = {
    name: switch for name, switch in FOREST_SWITCHES.items() if name not in _FOREST_ONLY
}


class CompositeClassifier(ClassifierBase[CompositeModel], GramParameter, RunParameters, StudyParameter):
    """Shared methods. A subclass has the parameters."""

    __report_facts__ = report_facts
    __explanation_steps__ = explanation_steps
    _kind = "composite"

    model_: CompositeModel

    # --- fit -----------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: ArrayLike | None = None) -> Any:
        """Fit to a table and its labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, sparse matrix, pandas or polars frame; categories and missing values as they come. Or a
            :class:`~surewood.ParquetTable`, or the path of a Parquet file or folder, which are read
            batch by batch: only the rows of the leaves being trained are in memory.
        y : array of shape (n_rows,)
            Labels. For a Parquet file: the name of their column.
        sample_weight : array of shape (n_rows,), optional
            Multiplies C, counts and held-out errors; rows of weight 0 are ignored.
        groups : array of shape (n_rows,), optional
            Group of each row (a patient, a device). Whole groups are held out.
        """
        parameters = self._parameters()
        with self._begin_fit(X, y, sample_weight, groups) as data:
            self._fit_table(parameters, data)
        return self

    def _fit_table(self, parameters: Parameters, data: TrainingTable) -> Floats | None:
        seed = draw_seed(self.random_state)
        drawn = draw_bags(parameters, data, seed)
        options, n_products = solver_options(parameters), products_read(parameters, data.table.n_rows)
        prepared = prepare(data, options, n_products, drawn)
        model = train(make_plan(parameters, prepared, seed), prepared)
        return self._store(data, model)

    def _store(self, data: TrainingTable, model: CompositeModel | None) -> Floats | None:
        """Write on the estimator, once everything has succeeded; the held-out probabilities.

        No model: that of a search without refit.
        """
        self._store_fit(data)
        if model is None:
            return None
        self.model_ = replace(model, held_out=None)
        return None if model.held_out is None else held_out_probabilities(model.held_out, model.calibrator)

    def _parameters(self) -> Parameters:
        return {**NOT_OFFERED, **checked_parameters(self)}

    # --- predictions ---------------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities: the trees' mean score, calibrated by default.

        The largest probability of a row is that of the class with the largest mean score.
        """
        return super().predict_proba(X)

    def tree_predictions(self, X: Any) -> NDArray[Any]:
        """The label that each composite tree gives to each row, shape (n_rows, n_trees)."""
        model, table = self._fitted(), begin_predict(self, X)
        codes = by_batches(table, lambda rows: model.tree_labels(rows, self.n_jobs))
        return np.asarray(model.classes[codes])

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Number of the leaf (within its tree, as in :meth:`ledger`) of each row, shape (n_rows, n_trees)."""
        model = self._fitted()
        return model.leaf_numbers(begin_predict(self, X), self.n_jobs)

    def decision_path(self, X: Any) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
        """Nodes that each row passes in the composite trees, as in scikit-learn's forests."""
        model = self._fitted()
        return model.decision_path(begin_predict(self, X), self.n_jobs)

    # --- what the model knows of itself --------------------------------------------------------------------

    def ledger(self, tree: int | None = None) -> pd.DataFrame:
        """One row per leaf: depth, path, counts, degree, complexity, and whether the penalty is active.

        Parameters
        ----------
        tree : int, optional
            One tree only. Plain trees have no ledger: every leaf of theirs is a constant.
        """
        if tree is not None:
            rules.check_value("tree", tree, rules.Integer(0))
        return self._fitted().ledger(tree)

    def nodes(self, tree: int = 0) -> pd.DataFrame:
        """A composite tree, one row per node, parents first.

        Returns
        -------
        DataFrame
            ``node``, ``parent`` (-1 at the root), ``depth``, ``condition`` (the side of the split that leads
            here, in words), ``points``, ``errors`` and ``complexity_term`` (sums over the leaves below),
            ``leaf`` (its number in :meth:`ledger`, -1 at inner nodes), ``degree`` (-1 there) and ``side``.
        """
        rules.check_value("tree", tree, rules.Integer(0))
        return self._fitted().nodes(tree)

    def leaf_terms(self, part: int = 0) -> tuple[pd.DataFrame, float]:
        """Ledger of one tree, and its gamma_scale; for the plots of :mod:`surewood.inspect`."""
        return self.ledger(part), float(self._fitted().setting_of(part).gamma_scale)

    def leaf_degrees(self, X: Any) -> Floats:
        """Degree of the leaf of each row, one column per tree; for the plots of :mod:`surewood.inspect`."""
        model = self._fitted()
        return np.asarray(model.trees.leaves.degree[self.apply(X) + model.first_leaf], dtype=np.float64)

    settings_ = Fitted[tuple[Setting, ...]]("settings", "What the parts of the forest were grown with.")
    plain_weight_ = Fitted[float]("trees.plain_weight", "Weight of the plain trees in the vote.")
    held_out_error_ = Fitted[float](
        "held_out_error", "ESTIMATE: error of out-of-bag (or out-of-fold) votes; NaN where there were none."
    )
    criterion_ = Fitted[Floats](
        "criterion",
        "CRITERION (2.9) of each composite tree with its gamma_scale: a selection score, not a bound.",
    )
    active_leaves_ = Fitted[float](
        "active_leaves", "Fraction of leaves with an active complexity penalty (§2.9)."
    )
    degrees_histogram_ = Fitted[dict[int, int]](
        "degrees_histogram", "Number of leaves of each degree, over all composite trees."
    )
    feature_importances_ = Fitted[Floats](
        "feature_importances", "Impurity importances of the splits, summing to 1; all 0 where no tree splits."
    )
    n_iter_ = Fitted[int]("n_iter", "Most iterations of an SVM, summed over its pairs of classes.")


@parameters({**RULES, "selection": rules.Choice("auto", *SELECTIONS), "certifiable": rules.Boolean()})
class RandomCompositeForestClassifier(CompositeClassifier, TimedRunParameters):
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
    selection : {"auto", "exact", "theorem", "random_sequences", "common_degree", "random_degree"}
        "exact" is the minimum of the criterion over all sequences of degrees; "theorem" that of the whole
        bound (2.2), L-term and C included, with all complexities times `gamma_scale`; "random_sequences" the
        best of ten random ones; "common_degree" and "random_degree" do without the criterion (RF-SVM).
        "auto", the default, runs a pilot on subsamples and takes the three best of all (depth, degree, C) and
        of the criterion at every depth, by out-of-bag error, together with plain trees. Candidates that
        can no longer win are dropped after a third of the pilot's trees.
    plain_weight : "auto" or float, default="auto"
        Weight in the vote of plain trees (no depth limit, class frequencies at the leaves, bootstrap), below
        1. "auto": chosen on the training rows; 0 with another `selection`. Rows that occur once are predicted
        by the trees that did not see them, repeated rows by all trees, as new rows that equal them will be.
    certifiable : bool, default=False
        Grow the forest so that :func:`surewood.certify.certify` guarantees its error on all rows, without a
        holdout (theory.md §11.9): bins, scaling and the pilot use a tenth of the rows (50 to 2,000) that
        every tree sees, each tree sees half of the others, and trees vote as they are, without plain trees
        and without calibration. It costs accuracy. With category columns nothing is guaranteed.
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
        Bytes (or text such as "4GB") that the matrix of inner products may take, by default 1 GiB. A larger
        one is not stored: its entries are computed as needed, with the same result.
    remember_rows : bool, default=True
        Keep a hash of every training row (8 bytes each) in ``remembered_rows_``, so that a certificate can
        tell new rows from copies of training rows.
    n_jobs : int or None, default=None
        Threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows the progress of a fit.
    study : dict or None, default=None
        Switches for experiments, see below.

    Attributes
    ----------
    classes_ : ndarray
    model_ : CompositeModel
        Everything that was fitted, as one frozen object.
    settings_ : tuple of Setting
        What the parts of the forest were grown with.
    plain_weight_ : float
    held_out_error_ : float
        ESTIMATE: error of out-of-bag (or out-of-fold) votes, on rows that do not equal a training row; NaN
        where there were none.
    criterion_ : ndarray
        CRITERION (2.9) of each composite tree.
    active_leaves_ : float
        Fraction of leaves with an active complexity penalty; at 0 the tie rule chose the degrees.
    degrees_histogram_ : dict
    n_iter_ : int
        Largest number of iterations of an SVM, summed over its pairs of classes.
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
    C_per_leaf               False       the criterion chooses C as well, leaf by leaf, among those of
                                         `C` (a list), or 1e-3 to 1e2
    constant_leaves          "auto"      offer degree 0, the majority class, at every leaf; leaves of
                                         one class have it anyway
    leaf_scores              "one_hot"   what a leaf contributes: the class its SVM predicts, or with
                                         "ovo_votes" the fraction of pairs each class wins
    kernel                   "poly"      (⟨x, x'⟩ / n + 1)^degree; "homogeneous" without the 1,
                                         "normalized_poly" divided by the norms of both rows [D-02]
    leaves                   None        a list of families, or their names, that leaves choose from in
                                         the place of SVMs of several degrees; see below
    n_plain_trees            "auto"      plain trees, where their weight is positive; "auto" is 5 per
                                         composite tree
    bootstrap                False       draw the rows of a tree with replacement
    max_samples              "auto"      rows per tree (a fraction: of all); "auto" is 0.8 with
                                         ``selection="auto"``, else all
    max_leaf_size            "auto"      leaves with more rows are split further, beyond `max_depth`;
                                         "auto" is 2000, or, with ``selection="auto"``, 1000 and less
                                         where the fit would cost too much
    min_weight_fraction_leaf 0.0         minimum weight of a leaf, as a fraction of what a tree sees
    tol                      "auto"      stopping tolerance of the SVMs; "auto" is 1e-2 with
                                         ``selection="auto"``, else 1e-3, as in libsvm
    max_iter                 10000       iterations per pair of classes; SVMs that need more are kept
                                         and flagged in the ledger
    ======================== =========== =============================================================

    With `leaves` the criterion charges each family its complexity on the whole sample; ties go to the earlier
    one. Families and names are those of :class:`~surewood.DeepCascadeClassifier`; `EstimatorFamily`
    wraps any scikit-learn classifier. There is no pilot (``selection="auto"`` is "exact"), and in ledgers
    `degree` is the number of the family, 0 where a leaf has one class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomCompositeForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> forest.predict(X[:2]).tolist(), forest.predict_proba(X).shape
    ([0, 0], (150, 3))
    """

    _study_switches: ClassVar[Any] = FOREST_SWITCHES

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
        """The published algorithm: the best of 10 random sequences of degrees 1 to 9 per tree, no bags.

        Parameters
        ----------
        **changes
            Any parameter, over these: ``selection="random_sequences"``, ``degrees=1..9``,
            ``gamma_scale=1e-3``, ``max_depth=4``, C of each degree by cross-validation over 1e-3 to 1e2, no
            plain trees, votes as probabilities, no limit on the size of leaves. The paper chooses r, the
            depth, the number of trees and gamma on a validation part:
            :meth:`RandomCompositeForestClassifierCV.paper`. Keys of `study` are changed one by one.

        See Also
        --------
        exact : The same with the exact minimum over all sequences ([D-10]).

        Examples
        --------
        >>> RandomCompositeForestClassifier.paper(max_depth=3).selection
        'random_sequences'
        """
        return cls.exact(**({"selection": "random_sequences"} | changes))

    @classmethod
    def exact(cls, **changes: Any) -> RandomCompositeForestClassifier:
        """The published algorithm with the exact minimum of its criterion over all degree sequences ([D-10]).

        Parameters
        ----------
        **changes
            As in :meth:`paper`.

        Examples
        --------
        >>> RandomCompositeForestClassifier.exact(max_depth=3).selection
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


@parameters({**RULES, "selection": rules.Choice(*SELECTIONS)})
class CompositeTreeClassifier(CompositeClassifier):
    """One tree whose leaves hold polynomial SVMs, their degrees chosen by a data-dependent criterion.

    The order of the columns matters: ties between splits go to the first column, and rows are
    assigned to folds by a hash that depends on the position of each column.

    Parameters
    ----------
    max_depth : "auto" or int, default="auto"
        Splits above a leaf. "auto": 4, less where leaves would have fewer than 20 rows.
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default=None
        Features tried at a node; None: all, and the tree is not random.
    selection : {"exact", "theorem", "random_sequences", "common_degree", "random_degree"}, default="exact"
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight of a leaf, as a fraction of the weight of all rows.
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
