"""What each layer of a deep forest adds: `LayerGrowthDisplay`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from surewood.inspect.drawing import BARK, LEAF, PLUM, SKY, new_axes, pyplot, tidy
from surewood.inspect.model_data import method_of

__all__ = ["LayerGrowthDisplay", "layer_table"]


def layer_table(model: Any, X: Any = None, y: Any = None, stages: list[Any] | None = None) -> pd.DataFrame:
    """One row per layer that was grown, kept or not.

    Parameters
    ----------
    model : fitted margin or cascade forest
        Any classifier with a method ``layer_table``.
    X, y : table and labels, optional
    stages : list of ndarray, optional
        Scores of these points after 1, 2, ... layers, where they are known already.

    Returns
    -------
    DataFrame
        ``layer``, ``held_out_accuracy`` (ESTIMATE), ``held_out_margin_ratio`` (HEURISTIC), ``alpha`` (weight
        in the final score; NaN where not kept), ``effective_sample_size``, ``seconds``, ``kept``; with points
        also ``accuracy`` and ``margin_ratio`` on them (NaN where not kept).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import MarginDeepForestClassifier
    >>> from surewood.inspect import layer_table
    >>> model = MarginDeepForestClassifier(5, cv=2, random_state=0).fit(*load_iris(return_X_y=True))
    >>> len(layer_table(model)) == len(model.layers_)
    True
    """
    found: pd.DataFrame = method_of(model, "layer_table", "layers")(X, y, stages)
    return found


class LayerGrowthDisplay:
    """Four small charts over the layers: accuracy, margin ratio, α, effective sample size.

    Parameters
    ----------
    layers : DataFrame
        Of :func:`layer_table`.

    Attributes
    ----------
    axes_ : ndarray of four matplotlib Axes
    figure_ : Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import MarginDeepForestClassifier
    >>> model = MarginDeepForestClassifier(5, max_layers=2, random_state=0).fit(*load_iris(return_X_y=True))
    >>> layer_table(model)["layer"].tolist()
    [1, 2]
    """

    def __init__(self, layers: pd.DataFrame) -> None:
        self.layers = layers

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, axes: Any = None
    ) -> LayerGrowthDisplay:
        """Draw the layers of a fitted margin or cascade forest; with `X`, `y` also curves on these rows."""
        pyplot()
        return cls(layer_table(estimator, X, y)).plot(axes=axes)

    def plot(self, axes: Any = None) -> LayerGrowthDisplay:
        """Draw on four axes; returns itself."""
        self.figure_, self.axes_ = new_axes(axes, 4, figsize=(13, 2.9))
        if len(self.axes_) != 4:
            raise ValueError(f"axes must be four, got {len(self.axes_)}.")
        table, last = self.layers, int(self.layers["kept"].sum())
        panels = (
            (
                "accuracy (ESTIMATE)",
                (("held_out_accuracy", "held-out", SKY), ("accuracy", "given points", LEAF)),
            ),
            (
                "margin ratio (HEURISTIC)",
                (("held_out_margin_ratio", "held-out", SKY), ("margin_ratio", "given points", LEAF)),
            ),
            ("α, weight of the layer", (("alpha", "", PLUM),)),
            ("effective sample size", (("effective_sample_size", "", BARK),)),
        )
        for ax, (title, lines) in zip(self.axes_, panels):
            for column, name, colour in lines:
                if column in table and table[column].notna().any():
                    values = table[column].replace([np.inf, -np.inf], np.nan)
                    ax.plot(table["layer"], values, "o-", color=colour, label=name, markersize=4)
            ax.axvline(last, color="0.5", linestyle=":", linewidth=1)
            ax.set_title(title, fontsize="medium")
            ax.set_xlabel("layer")
            ax.set_xticks(table["layer"])
            tidy(ax)
        self.axes_[0].legend(frameon=False, fontsize="small")
        return self
