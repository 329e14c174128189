"""What happened at each layer: one :class:`LayerRecord` a layer, in ``layers_`` of every cascade.

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
