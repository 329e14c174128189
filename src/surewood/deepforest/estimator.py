"""The public margin deep forest (theory.md §4) and the cascade of gcForest (theory.md §5).

First what their parameters and study switches may be, then :class:`DeepForestBase`, whose ``fit`` both share:
prepare the data, plan, train, store. :class:`MarginForestBase` adds what the margin forest shares with its
CV twin (:mod:`.model_selection`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import get_scorer_names

from surewood._arrays import Codes, Floats
from surewood.base import rules
from surewood.base.base import ClassifierBase, Fitted
from surewood.base.calibration import held_out_probabilities
from surewood.base.folds import draw_seed
from surewood.base.parameters import (
    COMMON,
    StudyParameter,
    Switch,
    TimedRunParameters,
    parameters,
)
from surewood.deepforest import report_facts
from surewood.deepforest.data import DeepForestData, prepare
from surewood.deepforest.forests import LIST_OF_FORESTS, PUBLISHED, Schedule
from surewood.deepforest.margins import REWEIGHTING
from surewood.deepforest.model import CascadeForestModel, DeepForestModel, MarginForestModel
from surewood.deepforest.plan import DeepForestPlan, make_plan
from surewood.deepforest.stopping import LayerRecord
from surewood.deepforest.training import train
from surewood.tables import TrainingTable, begin_predict

_Model = TypeVar("_Model", bound=DeepForestModel)


def _is_splitter(value: Any) -> bool:
    has_split = callable(getattr(value, "split", None)) and not isinstance(value, str | bytes)
    return isinstance(value, list | tuple) or has_split


def _is_scorer_name(value: Any) -> bool:
    return value in ("accuracy", "margin_ratio") or value in get_scorer_names()


#: Every training row needs a held-out class vector, so a validation fraction is no choice here.
CV: rules.Rule = rules.Either(
    rules.Integer(2), rules.Rule("a scikit-learn splitter or a list of (train, test) pairs", _is_splitter)
)
THETA = rules.Number(above=0.0, below=1.0)
MU_LOSS = rules.Number(above=0.0, most=1.0)
DEPTH_SCHEDULE: rules.Rule = rules.Nullable(
    rules.AUTO,
    rules.Integer(1),
    rules.ListOf(rules.Nullable(rules.Integer(1)), "integers of at least 1 or None, one per forest"),
)
MONITOR: rules.Rule = rules.Either(
    rules.Rule(
        "'accuracy', 'margin_ratio', the name of a scikit-learn scorer",
        lambda value: isinstance(value, str),
        _is_scorer_name,
    ),
    rules.Rule("a scorer", callable),
)

#: Rules of the parameters of all cascades, of margin forests and of the cascade forest.
SHARED_RULES: Mapping[str, rules.Rule] = {
    **COMMON,
    "forests": LIST_OF_FORESTS,
    "cv": CV,
    "max_layers": rules.Integer(1),
}
MARGIN_RULES: Mapping[str, rules.Rule] = {
    **SHARED_RULES,
    "forests": rules.Either(rules.AUTO, LIST_OF_FORESTS),
    "theta": THETA,
    "mu_loss": MU_LOSS,
    "depth_schedule": DEPTH_SCHEDULE,
}
CASCADE_RULES: Mapping[str, rules.Rule] = {
    **SHARED_RULES,
    "screening": rules.Nullable(rules.AUTO, rules.Number(0.0, 1.0)),
}

#: Study switches of all cascades, of margin forests and of the cascade forest.
SHARED_SWITCHES: Mapping[str, Switch] = {
    "cross_fit": Switch("kfold", rules.Choice("kfold", "in_fold")),
    "monitor": Switch("accuracy", MONITOR),
    "weighting": Switch("reweight", rules.Choice("reweight", "resample")),
    "keep_held_out": Switch(False, rules.Boolean()),
    "keep_in_memory": Switch(True, rules.Boolean()),
}
MARGIN_SWITCHES: Mapping[str, Switch] = {
    "step": Switch("simplex", rules.Choice("simplex", "literal", "capped")),
    "margins": Switch("layer", rules.Choice("layer", "of_sum")),
    "reweighting": Switch("sample_size", rules.Choice(*REWEIGHTING)),
    "layer_inputs": Switch("both", rules.Choice("both", "scores", "features")),
    "patience": Switch("auto", rules.Either(rules.AUTO, rules.Integer(1))),
    "min_improvement": Switch(
        "auto", rules.Either(rules.AUTO, rules.Choice("noise"), rules.Number(0.0, 1.0))
    ),
    "pilot_trees": Switch("auto", rules.Nullable(rules.AUTO, rules.Integer(2))),
    **SHARED_SWITCHES,
}
CASCADE_SWITCHES: Mapping[str, Switch] = {
    "patience": Switch(4, rules.Integer(1)),
    "min_improvement": Switch(0.0, rules.Number(0.0, 1.0)),
    **SHARED_SWITCHES,
}


@parameters()
class DeepForestBase(ClassifierBase[_Model], TimedRunParameters, StudyParameter):
    """Base of the cascades; not an estimator by itself."""

    __report_facts__ = report_facts.report_facts
    __explanation_steps__ = report_facts.explanation_steps
    layer_table = report_facts.layer_table
    staged_margins = report_facts.staged_margins

    _counts_copies = True
    #: What a page says of the model.
    _description: ClassVar[str]

    model_: _Model = field(init=False)
    n_estimators: int = field(default=100, kw_only=False)
    forests: Any = "auto"
    cv: Any = 5
    max_features: Any = "sqrt"
    min_weight_fraction_leaf: float = 0.0
    max_layers: int = 10

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | str | None = None,
        groups: ArrayLike | None = None,
    ) -> Any:
        """Grow the cascade.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, sparse matrix, pandas or polars frame; NaN and None are missing values. Or a
            :class:`~surewood.ParquetTable`, or the path of a Parquet file or folder, which are read
            batch by batch: the table may be larger than memory.
        y : array of shape (n_rows,)
            Labels. For a Parquet file: the name of their column.
        sample_weight : array of shape (n_rows,), optional
            Rows of weight 0 are ignored; whole numbers are counts: weight 2 is the row twice.
        groups : array of shape (n_rows,), optional
            Group of each row (a patient, a device). Whole groups are held out.

        Returns
        -------
        self
        """
        parameters = self._parameters()
        # Not merged: trees and margins count each of equal rows, see data.py.
        with self._begin_fit(X, y, sample_weight, groups, merge=False) as inputs:
            self._fit_rows(parameters, inputs)
        return self

    def _fit_rows(self, parameters: Any, inputs: TrainingTable) -> Floats | None:
        """Fit; the scores that rows like those of `inputs` would have, where rows were held out."""
        data = prepare(inputs, parameters)
        plan = make_plan(parameters, data, draw_seed(self.random_state))
        attributes, population = self._trained(plan, data), None
        if "model_" in attributes:  # a search without refit has none
            population = attributes["model_"].population
            attributes["model_"] = replace(attributes["model_"], population=None)
        self._store_fit(inputs)
        self.__dict__.pop("model_", None)  # of an earlier fit
        self.__dict__.update(attributes)
        return population

    def _trained(self, plan: DeepForestPlan[Any], data: DeepForestData) -> dict[str, Any]:
        """The fitted attributes beside those of every classifier."""
        return {"model_": train(plan, data)}

    def _fit_table(self, parameters: Any, data: TrainingTable) -> Floats | None:
        population = self._fit_rows(parameters, data.as_given())
        assert population is not None
        self.model_ = replace(self.model_, held_out=None, labels=None, staged_held_out=())
        return data.merge(held_out_probabilities(population, self.model_.calibrator))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Probabilities after 1, 2, ... layers; the last ones are those of ``predict_proba``.

        The calibration is that of the last layer, so stages differ in their scores only.
        """
        model = self._fitted()
        for scores in model.staged_scores(begin_predict(self, X), self.n_jobs):
            yield model.calibrated(scores)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predictions after 1, 2, ... layers."""
        for proba in self.staged_predict_proba(X):
            yield np.asarray(self.classes_)[proba.argmax(axis=1)]

    n_layers_ = Fitted[int]("n_layers", "Layers that predict.")
    stop_reason_ = Fitted[str](
        "stop_reason", 'Why growing ended: "no gain", "perfect", "max_layers" or "time_limit".'
    )
    held_out_scores_ = Fitted[Floats](
        "held_out", "Scores of the training rows from models that did not see them."
    )
    held_out_labels_ = Fitted[Codes]("labels", "Class codes of the training rows.")
    feature_importances_ = Fitted[Floats](
        "importances",
        "Impurity importances of the table's columns, summing to 1; what a layer gains from class vectors of "
        "earlier layers is passed on to the columns those were made from.",
    )

    @property
    def layers_(self) -> list[LayerRecord]:
        """One record per layer, kept or not."""
        return list(self._fitted().records)

    @property
    def forests_(self) -> list[tuple[str, int]]:
        """Kind and number of trees of each forest of a layer."""
        return list(self._fitted().forests)

    @property
    def staged_held_out_scores_(self) -> list[Floats]:
        """Held-out scores after each layer, where they were kept."""
        return list(self._fitted().staged_held_out)


class MarginForestBase(DeepForestBase[MarginForestModel]):
    """What the margin forest and its CV twin share."""

    _description = "Layers of forests; each layer focuses on rows that the layers before found difficult."
    _kind = "margin_forest"

    alphas_ = Fitted[Floats]("alphas", "Weight of each kept layer in the final score.")
    depth_schedule_ = Fitted[Schedule]("schedule", "Growth rate of the depth, one per forest.")


@parameters(MARGIN_RULES)
class MarginDeepForestClassifier(MarginForestBase):
    """Margin distribution deep forest (mdDF).

    Layers of cross-fitted forests. Each layer sees the table and the weighted sum of the class vectors of all
    layers before it, is trained with weights that emphasize points of small margin, and joins the sum with
    the step that minimizes the margin loss exactly. Growing stops when held-out accuracy no longer improves,
    and the best layer is kept, so a fit never ends below its own first layer.

    With the default ``forests="auto"`` the table decides how many trees and layers are worth their time: the
    first ten trees of each forest choose block and depth, trees are added until more could not lower the
    held-out loss by a fifth of its standard error, and growing ends at the first layer whose gain is within
    noise. :meth:`paper` and given `forests` use all trees and the published stop rule.

    The order of the columns matters: features are drawn by position, and ties go to the first column.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of each forest (in each fold); with ``forests="auto"`` the largest number, see above.
    forests : list or "auto", default="auto"
        The forests of a layer. "auto" takes the block with the least held-out loss at the first layer:
        the published one (two "random", two "completely_random"), two "extra" with two "completely_random"
        or two "random", or four "extra"; for tables of at least 100 columns, all numeric without missing
        values, also a contrast classifier with one "extra" (docs/margin-forest.md).
        "random" is a random forest, "extra" draws one threshold for each of the tried features,
        "completely_random" draws feature and threshold; a pair such as ``("extra", 50)`` sets the number of
        trees. "contrast" is a softmax regression on thousands of folded contrasts of rows.
        Any scikit-learn classifier with ``predict_proba`` can replace a forest: it is cloned and seeded for
        each fold and gets standardized, one-hot encoded, imputed columns, or the raw values if it accepts
        NaN. Four times "random" is the variant mdDF-SF.
    cv : int, splitter or list of (train, test) pairs, default=5
        Folds of the cross-fitting. A number is lowered, with a warning, where a class has fewer rows. A
        splitter or list has to hold out every row exactly once; all layers then use these folds.
    theta : float, default=0.8
        Margin target, in (0, 1).
    mu_loss : float, default=0.05
        Slope of the loss beyond the target, in (0, 1].
    depth_schedule : int, list of int, "auto" or None, default="auto"
        Trees of layer t have depth at most ``a * (t + 1)``. "auto" takes the better of 8 and 16 by the
        held-out loss of the first layer; a list has one rate per forest; None is no limit.
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default="sqrt"
        Inputs tried at a node.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in a leaf; a float is a fraction of the training rows.
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight of a leaf, as a fraction of the weight a tree sees.
    max_layers : int, default=10
    calibrate : bool or {"auto", "temperature", "offset", "isotonic"}, default=True
        Calibrate probabilities on the held-out scores. Never changes a prediction.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list of names, positions, mask or None, default="from_dtype"
    time_limit : float or None, default=None
        Seconds after which growing stops, at the end of the batch of trees or layer in progress; the first
        layer has at least a few trees of every forest. ``stop_reason_`` then is "time_limit", and which trees
        were grown depends on the computer. Without a limit the same data and seed give the same model.
    remember_rows : bool, default=True
        Keep a hash of every training row (8 bytes each) in ``remembered_rows_``, so that a certificate can
        tell new rows from copies of training rows.
    n_jobs : int or None, default=None
        Threads (or workers of the active joblib backend). Results do not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
    study : dict or None, default=None
        Switches for experiments, see below.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    model_ : MarginForestModel
        The fitted model: everything below is read from it.
    layers_ : list of LayerRecord
        One record per layer, kept or not; ``pandas.DataFrame(model.layers_)`` is a table.
    n_layers_ : int
        Layers that predict.
    stop_reason_ : str
        Why growing ended: "no gain", "perfect" (no held-out error left), "max_layers" or "time_limit".
    alphas_ : ndarray, one entry per layer
        Weight of each layer in the final score.
    held_out_scores_ : ndarray, shape (n_rows, n_classes)
        Scores of the training rows from models that did not see them (NaN for rows of weight 0).
    held_out_labels_ : ndarray of int32, shape (n_rows,)
        Class codes of those rows.
    staged_held_out_scores_ : list of ndarray
        The same for every layer, with the switch `keep_held_out`.
    forests_ : list of (str, int)
        Kind and number of trees of each forest of a layer.
    depth_schedule_ : tuple
        The growth rate of each forest.
    feature_importances_ : ndarray, shape (n_features,)
    n_features_in_, feature_names_in_, schema_
        What the training table looked like.

    Notes
    -----
    Accuracies and margin ratios of held-out points choose the layer; they are ESTIMATES and HEURISTICS and no
    guarantee. The order of the training rows does not matter.

    **Study switches** (keys of `study`, with their defaults):

    cross_fit : {"kfold", "in_fold"}, "kfold"
        Held-out folds; "in_fold" averages the models that trained on a point, as the prose of the paper has
        it [D-26]: it leaks labels, so that such a model has neither held-out scores nor calibration.
    step : {"simplex", "literal", "capped"}, "simplex"
        How layers are added: mixed so that weights sum to 1; with the published unbounded step; with steps
        of at most 1.
    margins : {"layer", "of_sum"}, "layer"
        Margins that the loss sees: the sum of the layers' margins (published), or the margin of the sum.
    reweighting : {"sample_size", "literal", "none"}, "sample_size"
        Weights of later layers: "literal" (proportional to the loss, as published), "sample_size" (loss to
        the largest power up to 1 that leaves an effective sample size of 0.8 times the number of points),
        "none".
    weighting : {"reweight", "resample"}, "reweight"
        Whether trees weigh their rows, or draw them by weight.
    layer_inputs : {"both", "scores", "features"}, "both"
        What later layers see: table and scores, scores only (mdDF-ST), table only (mdDF-NP).
    patience : int or "auto", "auto"
        Layers in a row without improvement before growing stops; "auto" is 1 for ``forests="auto"``, else 3.
    min_improvement : float, "noise" or "auto", "auto"
        Smallest gain that counts as an improvement. "noise" is the standard error of the gain in held-out
        accuracy, paired by row (1e-4 for other monitors); "auto" is "noise" for ``forests="auto"``, else
        1e-4.
    pilot_trees : int, "auto" or None, "auto"
        Trees of each forest that compare blocks and depths by held-out Brier loss after calibration, and
        begin every layer. "auto" is 10 for ``forests="auto"``, else None: every comparison and every layer
        has all trees, and blocks are compared by `monitor`.
    monitor : str or callable, "accuracy"
        What stops growing and picks the layer: "accuracy", "margin_ratio", or any scikit-learn scorer, on
        held-out predictions.
    keep_held_out : bool, False
        Keep ``staged_held_out_scores_``, which the figures need.
    keep_in_memory : bool, True
        False: finished layers are written to a temporary folder and mapped back.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MarginDeepForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> model.predict(X[:2]).tolist(), model.layers_[0].n_trees
    ([0, 0], 200)
    """

    _study_switches = MARGIN_SWITCHES

    theta: float = 0.8
    mu_loss: float = 0.05
    depth_schedule: Any = "auto"
    min_samples_leaf: int | float = 1

    @classmethod
    def paper(cls, **parameters: Any) -> MarginDeepForestClassifier:
        """The published mdDF: its block, one depth schedule, weights in proportion to the loss, greedy steps.

        Two random and two completely random forests of 100 trees, five folds, ``depth_schedule=8``,
        ``reweighting="literal"`` and the greedy step of the algorithm, ``step="literal"``. Its theory needs
        weights that sum to 1: ``study={"step": "simplex"}`` has them ([D-29]).

        Parameters
        ----------
        **parameters
            Changes; a `study` adds to the published switches.

        Examples
        --------
        >>> MarginDeepForestClassifier.paper(random_state=0).study
        {'reweighting': 'literal', 'step': 'literal'}
        """
        study = {"reweighting": "literal", "step": "literal", **(parameters.pop("study", None) or {})}
        return cls(**{"forests": PUBLISHED, "depth_schedule": 8, "study": study, **parameters})


@parameters(CASCADE_RULES)
class CascadeForestClassifier(DeepForestBase[CascadeForestModel]):
    """Cascade forest (gcForest's cascade), optionally with confidence screening.

    Every layer is a set of cross-fitted forests. Layer t + 1 sees the table and the class vectors of all
    forests of layer t; the mean vector of the layer with the best held-out accuracy is the prediction.

    The order of the columns matters: features are drawn by position, and ties go to the first column.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of each forest (in each fold).
    forests : list, default=("random", "random", "completely_random", "completely_random")
        The forests of a layer, as in :class:`MarginDeepForestClassifier`.
    cv : int, splitter or list of (train, test) pairs, default=5
        Folds of the cross-fitting, as in :class:`MarginDeepForestClassifier`.
    screening : None, "auto" or float, default=None
        Rows whose highest class probability reaches the gate stop at the layer. "auto" finds the gate of
        each layer: the smallest confidence above which the held-out error is at most a third of that of all
        rows that reach the layer; a number is a fixed gate.
    max_depth : int or None, default=None
    max_layers : int, default=20
    max_features, min_samples_leaf, min_weight_fraction_leaf, calibrate, class_weight, \
categorical_features, time_limit, remember_rows, n_jobs, random_state, verbose
        As in :class:`MarginDeepForestClassifier`.
    study : dict or None, default=None
        Switches for experiments, see below.

    Attributes
    ----------
    model_ : CascadeForestModel
        The fitted model.
    gates_ : ndarray, one entry per layer
        Confidence from which points stop at each layer; infinite without screening.
    classes_, layers_, n_layers_, forests_, held_out_scores_, held_out_labels_, staged_held_out_scores_, \
feature_importances_, n_features_in_, feature_names_in_, schema_
        As in :class:`MarginDeepForestClassifier`.

    Notes
    -----
    **Study switches** (keys of `study`, with their defaults):

    patience : int, 4
        Layers in a row without improvement before growing stops.
    min_improvement : float, 0.0
        Smallest gain that counts as an improvement.
    cross_fit, monitor, weighting, keep_held_out, keep_in_memory
        As in :class:`MarginDeepForestClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CascadeForestClassifier(n_estimators=10, screening="auto", random_state=0).fit(X, y)
    >>> model.predict(X[:2]).tolist(), model.predict_proba(X).shape
    ([0, 0], (150, 3))
    """

    _study_switches = CASCADE_SWITCHES
    _description = "Layers of forests; each layer reads the table and the class vectors of the layer before."
    _kind = "cascade_forest"

    forests: Any = PUBLISHED
    screening: float | str | None = None
    max_depth: int | None = None
    min_samples_leaf: int | float = 1
    max_layers: int = 20

    gates_ = Fitted[Floats]("gates", "Confidence from which points stop at each kept layer.")

    @classmethod
    def paper(cls, **parameters: Any) -> CascadeForestClassifier:
        """The published cascade of gcForest: four random and four completely random forests of 500 trees.

        Three folds, no limit of depth, four layers without improvement end the growth.

        Parameters
        ----------
        **parameters
            Changes.

        Examples
        --------
        >>> CascadeForestClassifier.paper(max_layers=5).n_estimators
        500
        """
        forests = ("random",) * 4 + ("completely_random",) * 4
        return cls(**{"n_estimators": 500, "forests": forests, "cv": 3, **parameters})
