"""The public cascade of gcForest, with confidence screening (theory.md §5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from surewood._arrays import Floats
from surewood.deepforest.base import DeepForestBase
from surewood.deepforest.members import PUBLISHED, parse_members
from surewood.deepforest.model import CascadeForestModel
from surewood.deepforest.parameters import CASCADE_SWITCHES, SHARED_RULES
from surewood.deepforest.plan import Blocks, Parameters, plan_cascade_forest
from surewood.deepforest.training import train_cascade_forest
from surewood.estimators.declaring import parameters
from surewood.estimators.parameters import COMMON
from surewood.estimators.rules import AUTO, Nullable, Number, Rule
from surewood.tables import Table

_RULES: Mapping[str, Rule] = {
    **SHARED_RULES,
    "screening": Nullable(AUTO, Number(0.0, 1.0)),
    "max_depth": COMMON["max_depth"],
}


@parameters(_RULES)
class CascadeForestClassifier(DeepForestBase):
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
        each layer from its held-out accuracy; a number is a fixed gate.
    max_depth : int or None, default=None
    max_layers : int, default=20
    max_features, min_samples_leaf, min_weight_fraction_leaf, calibrate, class_weight, \
categorical_features, max_memory, time_limit, remember_rows, n_jobs, random_state, verbose
        As in :class:`MarginDeepForestClassifier`.
    study : dict or None, default=None
        Switches that only a study needs, see below.

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

    screening_factor : float, 3.0
        ``screening="auto"``: points that stop must be wrong this many times less often than all points in
        play.
    screening_growth : bool, False
        Enlarge forests in inverse proportion to the fraction of points in play.
    patience : int, 4
        Layers in a row without improvement before growing stops.
    min_improvement : float, 0.0
        Least gain that counts as an improvement.
    cross_fit, monitor, validation_fraction, criterion, weighting, max_bins, keep_held_out, \
keep_in_memory, spill_folder
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
    _explained_kind = "cascade_forest"

    forests: Any = PUBLISHED
    screening: float | str | None = None
    max_depth: int | None = None
    min_samples_leaf: int | float = 1
    max_layers: int = 20

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

    @property
    def gates_(self) -> Floats:
        """Confidence from which points stop at each kept layer."""
        model: CascadeForestModel = self._model()
        return np.asarray(model.gates)

    def _blocks(self, parameters: Parameters, table: Table) -> Blocks:
        return [parse_members(parameters["forests"], parameters["n_estimators"])]

    _plan = staticmethod(plan_cascade_forest)
    _train = staticmethod(train_cascade_forest)
