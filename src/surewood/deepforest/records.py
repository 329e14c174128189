"""What happened at each layer: one :class:`LayerRecord` per layer, in ``layers_`` of every cascade.

``pandas.DataFrame(model.layers_)`` gives a table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LayerRecord:
    """A layer of a cascade, as it was after growing it.

    Attributes
    ----------
    layer : int
        1, 2, ...
    score : float
        The monitored quantity of the cascade up to this layer (ESTIMATE, used for choosing the layer).
    accuracy : float
        Held-out accuracy of the cascade up to this layer (ESTIMATE).
    layer_accuracy : float
        Held-out accuracy of this layer's own class vectors (ESTIMATE).
    margin_ratio : float
        Standard deviation over mean of the held-out margins (4.6) (HEURISTIC).
    step : float
        Step size α, or mixing weight β in simplex mode; 1 for plain cascades.
    effective_sample_size : float
        1 / ΣD² of the weights this layer was trained with, as a fraction of the points in play.
    n_points : int
        Points in play at this layer.
    n_trees : int
    max_depth : int or None
        Deepest tree allowed (the largest over the forests).
    seconds : float
        Time of the layer.
    model_bytes : int
        Memory of its trees.
    kept : bool
        Whether the layer takes part in predictions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import MarginDeepForestClassifier
    >>> model = MarginDeepForestClassifier(5, max_layers=2, random_state=0).fit(*load_iris(return_X_y=True))
    >>> [record.layer for record in model.layers_]
    [1, 2]
    """

    layer: int
    score: float
    accuracy: float
    layer_accuracy: float
    margin_ratio: float
    step: float
    effective_sample_size: float
    n_points: int
    n_trees: int
    max_depth: int | None
    seconds: float
    model_bytes: int
    kept: bool = True


@dataclass(frozen=True)
class Comparisons:
    """What a fit compared before it kept what it kept ([D-37]).

    Examples
    --------
    >>> Comparisons(8, 1, 1, 4, False).n_compared
    12
    """

    #: First layers compared: blocks times depth schedules. Always by held-out scores.
    first_layers: int
    #: Settings of a grid that were compared.
    settings: int
    #: Weights of the second layer that were compared. Always by held-out scores.
    weight_rules: int
    #: Layers grown, of which the best was kept.
    layers: int
    #: Whether settings and layers were compared on rows apart, not on held-out scores.
    on_validation_rows: bool

    @property
    def n_compared(self) -> int:
        """First layers, settings, weights and layers that were scored, all together."""
        extra = (n if n > 1 else 0 for n in (self.first_layers, self.settings, self.weight_rules))
        return sum(extra) + self.layers

    @property
    def used_held_out_scores(self) -> bool:
        """Whether the held-out scores took part in a choice: then their error is biased."""
        if self.first_layers > 1 or self.weight_rules > 1:
            return True
        return not self.on_validation_rows and (self.settings > 1 or self.layers > 1)
