"""The public margin deep forest (theory.md §4)."""

from __future__ import annotations

from typing import Any

from surewood.deepforest.base import MarginForestBase
from surewood.deepforest.depth_schedules import parse_schedules
from surewood.deepforest.members import PUBLISHED
from surewood.deepforest.parameters import (
    DEPTH_SCHEDULE,
    MARGIN_RULES,
    MARGIN_SWITCHES,
    MU_LOSS,
    THETA,
)
from surewood.deepforest.plan import (
    Blocks,
    Parameters,
    margin_blocks,
    plan_margin_forest,
)
from surewood.deepforest.training import train_margin_forest
from surewood.estimators.declaring import parameters
from surewood.tables import Table


@parameters({**MARGIN_RULES, "theta": THETA, "mu_loss": MU_LOSS, "depth_schedule": DEPTH_SCHEDULE})
class MarginDeepForestClassifier(MarginForestBase):
    """Margin distribution deep forest (mdDF).

    Layers of cross-fitted forests. Each layer sees the table and the weighted sum of the class vectors of all
    layers before it, is trained with weights that emphasize points of small margin, and joins the sum with
    the step that minimises the margin loss exactly. Growing stops when held-out accuracy no longer improves,
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
        or two "random", or four "extra"; for tables of at least 100 columns, all numbers without gaps, also
        a contrast classifier with one "extra" (docs/margin-forest.md).
        "random" is a random forest, "extra" draws one threshold for each of the tried features,
        "completely_random" draws feature and threshold; a pair such as ``("extra", 50)`` sets the number of
        trees. "contrast" is a softmax regression on thousands of folded contrasts of rows.
        Any scikit-learn classifier with ``predict_proba`` may stand in a forest's place: it is cloned
        and seeded for each fold and sees standardised, one-hot encoded, imputed numbers, or the table's own
        numbers if it takes NaN. Four times "random" is the variant mdDF-SF.
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
        Least number of rows in a leaf; a float is a fraction of the training rows.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of a leaf, as a fraction of the weight a tree sees.
    max_layers : int, default=10
    calibrate : bool or {"auto", "temperature", "offset", "isotonic"}, default=True
        Calibrate probabilities on the held-out scores. Never changes a prediction.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list of names, positions, mask or None, default="from_dtype"
    max_memory : float, str or None, default=None
        Bytes (or text such as "4GB") that a fit may take: beyond them finished layers go to disk, or the fit
        is refused with its estimate.
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
        Switches that only a study needs, see below.

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
    reweighting_ : WeightRule
        The rule in force ("chosen" resolved).
    feature_importances_ : ndarray, shape (n_features,)
    n_features_in_, feature_names_in_, schema_
        What the training table looked like.

    Notes
    -----
    Accuracies and margin ratios of held-out points choose the layer; they are ESTIMATES and HEURISTICS and no
    guarantee. Rows are put in an order of their own first, so the order of the training rows does not matter.

    **Study switches** (keys of `study`, with their defaults):

    cross_fit : {"kfold", "oob"}, "kfold"
        Held-out folds, or out-of-bag trees of forests grown once (`cv` times fewer trees; then all forests
        bootstrap).
    step : {"simplex", "literal", "capped"}, "simplex"
        How layers are added: mixed so that weights sum to 1; with the published unbounded step; with steps
        of at most 1.
    margins : {"layer", "of_sum"}, "layer"
        Margins that the loss sees: the sum of the layers' margins (published), or the margin of the sum.
    reweighting : str, "sample_size"
        Weights of later layers: "literal" (proportional to the loss, as published), "tempered" (loss to the
        power `strength`), "sample_size" (loss to the largest power up to 1 that leaves an effective sample
        size of `strength` times the number of points), "below_target" (points below the target only),
        "mixed" (a fraction `strength` of uniform weights), "chosen" (the power with the best held-out score
        at the second layer), "none".
    strength : float or None, None
        Parameter of `reweighting`; None is the rule's own default: 0.8 for "sample_size", 0.5 for "tempered"
        and "mixed".
    weighting : {"reweight", "resample"}, "reweight"
        Whether trees weigh their rows, or draw them by weight.
    layer_inputs : {"both", "scores", "features"}, "both"
        What later layers see: table and scores, scores only (mdDF-ST), table only (mdDF-NP).
    patience : int or "auto", "auto"
        Layers in a row without improvement before growing stops; "auto" is 1 for ``forests="auto"``, else 3.
    min_improvement : float, "noise" or "auto", "auto"
        Least gain that counts as an improvement. "noise" is the standard error of the gain in held-out
        accuracy, paired by row (1e-4 for other monitors); "auto" is "noise" for ``forests="auto"``, else
        1e-4.
    pilot_trees : int, "auto" or None, "auto"
        Trees of each forest that compare blocks and depths by held-out Brier loss after calibration, and
        begin every layer. "auto" is 10 for ``forests="auto"``, else None: every comparison and every layer
        has all trees, and blocks are compared by `monitor`.
    tree_rows : int, "auto" or None, "auto"
        Most rows that a tree is grown on, drawn for each tree anew; "auto" is 25,000 for ``forests="auto"``,
        else None: all rows of the fold.
    tolerance : float, 0.2
        With `pilot_trees`: differences in the held-out loss below this many of its standard errors do not
        count. Trees are added (at least three times `pilot_trees`) until more could gain no more than that;
        a layer whose first trees gain no more ends the growth.
    monitor : str or callable, "accuracy"
        What stops growing and picks the layer: "accuracy", "margin_ratio", or any scikit-learn scorer, on
        held-out predictions.
    validation_fraction : float or None, None
        Decide on this fraction of the rows, held out, instead of on the held-out predictions of all rows.
    criterion : {"gini", "entropy", "log_loss"}, "gini"
        Impurity that splits reduce.
    max_bins : int, 255
        Most bins of a number column.
    keep_held_out : bool, False
        Keep ``staged_held_out_scores_``, which the figures need.
    keep_in_memory : bool, True
        False: finished layers are written to a folder and mapped back.
    spill_folder : str, Path or None, None
        That folder; None is a temporary one that is removed with the estimator.

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
        """The published mdDF: its block, one depth schedule, weights proportional to the loss.

        Two random and two completely random forests of 100 trees, five folds, ``depth_schedule=8`` and
        ``reweighting="literal"``. The published step is unbounded (``study={"step": "literal"}``); its theory
        needs weights that sum to 1, which is the default here as well ([D-29]).

        Parameters
        ----------
        **parameters
            Changes; a `study` adds to the published switches.

        Examples
        --------
        >>> MarginDeepForestClassifier.paper(random_state=0).study
        {'reweighting': 'literal'}
        """
        study = {"reweighting": "literal", **(parameters.pop("study", None) or {})}
        return cls(**{"forests": PUBLISHED, "depth_schedule": 8, "study": study, **parameters})

    def _blocks(self, parameters: Parameters, table: Table) -> Blocks:
        blocks = margin_blocks(parameters, table)
        for members in blocks:
            parse_schedules(parameters["depth_schedule"], len(members))
        return blocks

    _plan = staticmethod(plan_margin_forest)
    _train = staticmethod(train_margin_forest)
