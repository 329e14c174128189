"""Margins of rows, layer by layer: data (`staged_margins`) and drawing (`MarginDistributionDisplay`).

The margin of a row is the score of its class minus the best other score (4.2): positive where the model is
correct. The margin ratio (4.6) is their standard deviation over their mean, a HEURISTIC.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from surewood.bounds import margin_ratio, margins
from surewood.inspect.drawing import new_axes, pyplot, tidy
from surewood.inspect.labels import class_codes

__all__ = ["MarginDistributionDisplay", "staged_margins"]


def staged_margins(model: Any, X: Any, y: Any) -> dict[str, NDArray[np.float64]]:
    """Margins of rows after each layer of a deep forest; for any other classifier, margins of its scores.

    Returns
    -------
    dict of str to ndarray
        "layer 1", "layer 2", ... or "model".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import MarginDeepForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MarginDeepForestClassifier(5, max_layers=2, cv=2, random_state=0).fit(X, y)
    >>> from surewood.inspect import staged_margins
    >>> [values.shape for values in staged_margins(model, X, y).values()]
    [(150,)]
    """
    codes = class_codes(model.classes_, y)
    if len(model.classes_) < 2:
        raise ValueError("margins need at least two classes; this model knows one.")
    if isinstance(model, _HasStages):
        return model.staged_margins(X, codes)
    if isinstance(model, _HasMargins):
        return {"model": model.margins(X, y)}
    return {"model": margins(model.predict_proba(X), codes)}


@runtime_checkable
class _HasStages(Protocol):
    def staged_margins(self, X: Any, codes: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]: ...


@runtime_checkable
class _HasMargins(Protocol):
    def margins(self, X: Any, y: Any) -> NDArray[np.float64]: ...


class MarginDistributionDisplay:
    """Histograms of margins, one line per layer, with the margin ratio of each.

    Parameters
    ----------
    margins : dict of str to ndarray
        Name of the layer or model, and margins of the points.

    Attributes
    ----------
    margin_ratios : dict of str to float
        HEURISTIC (4.6): the smaller, the more even the margins.
    ax_, figure_ : matplotlib Axes and Figure
        After ``plot``.

    Examples
    --------
    >>> import numpy as np
    >>> display = MarginDistributionDisplay({"model": np.array([0.25, 0.75])})
    >>> display.margin_ratios
    {'model': 0.5}
    """

    def __init__(self, margins: dict[str, NDArray[np.float64]]) -> None:
        self.margins = margins

    @property
    def margin_ratios(self) -> dict[str, float]:
        """Margin ratio of each layer (HEURISTIC)."""
        return {name: margin_ratio(values) for name, values in self.margins.items()}

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, layers: Any = None, ax: Any = None, **line: Any
    ) -> MarginDistributionDisplay:
        """Draw the margins of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier
        X, y : table and labels
            Preferably rows that were held out from the fit.
        layers : list of int, optional
            Layers (1, 2, ...) of a deep forest to draw; all by default.
        ax : matplotlib Axes, optional
        **line
            For ``Axes.stairs``.
        """
        pyplot()
        found = staged_margins(estimator, X, y)
        if layers is not None:
            wanted = [f"layer {int(t)}" for t in layers]
            absent = [name for name in wanted if name not in found]
            if absent:
                raise ValueError(f"layers has {absent[0][6:]}; the model has {', '.join(found)}.")
            found = {name: found[name] for name in wanted}
        return cls(found).plot(ax=ax, **line)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        scores: Any,
        *,
        classes: Any = None,
        name: str = "model",
        ax: Any = None,
        **line: Any,
    ) -> MarginDistributionDisplay:
        """Draw the margins of scores, shape (n, n_classes) in the order of `classes` (sorted labels)."""
        pyplot()
        labels = np.unique(np.asarray(y_true)) if classes is None else classes
        return cls({name: margins(scores, class_codes(labels, y_true))}).plot(ax=ax, **line)

    def plot(self, ax: Any = None, *, bins: int = 40, **line: Any) -> MarginDistributionDisplay:
        """Draw; returns itself."""
        self.figure_, self.ax_ = new_axes(ax)
        every = np.concatenate(list(self.margins.values()))
        edges = np.linspace(min(float(every.min()), 0.0), max(float(every.max()), 1e-9), bins + 1)
        colours = pyplot().get_cmap("viridis")(np.linspace(0.75, 0.1, len(self.margins)))
        for colour, (name, values) in zip(colours, self.margins.items()):
            share = np.histogram(values, edges)[0] / len(values)
            words = f"{name}: ratio {margin_ratio(values):.3f}, {np.mean(values <= 0):.1%} not above 0"
            self.ax_.stairs(share, edges, **{"color": colour, "linewidth": 1.8, "label": words, **line})
        self.ax_.axvline(0.0, color="0.5", linestyle=":", linewidth=1)
        self.ax_.set(xlabel="margin", ylabel="fraction of the rows")
        self.ax_.legend(frameon=False, fontsize="small", title="margin ratio: HEURISTIC")
        tidy(self.ax_)
        return self
