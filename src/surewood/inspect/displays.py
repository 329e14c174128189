"""Views of a fitted model, drawn with matplotlib, and the functions that give their data.

* `bound_terms`, `BoundDisplay`: where the value of a bound or criterion comes from. A leaf adds its errors
  (as a fraction of the sample) and the smaller of two terms: its complexity penalty, or the fraction of rows
  it classifies correctly (2.9), (3.8). With gamma_scale 1 the sum is what a bound is made of; below 1 it is a
  CRITERION, a selection score.
* `row_degrees`, `CapacityMapDisplay`: which region uses which degree.
* `cascade_flow`, `CascadeFlowDisplay`: how rows leave a cascade.
* `layer_table`, `LayerGrowthDisplay`: what each layer of a deep forest adds.
* `staged_margins`, `MarginDistributionDisplay`: the margin of a row is the score of its class minus the best
  other score (4.2), layer by layer. The margin ratio (4.6) is a HEURISTIC.

A plot asks a model for its data by name; a model that does not offer it is refused with one sentence:

=================== =====================================================================================
``leaf_terms``      ``(part) -> (DataFrame, gamma_scale)``: the leaf ledger of a tree or cascade
``leaf_degrees``    ``(X) -> ndarray (n, parts)``: degree of the leaf that classifies each row
``leaf_flow``       ``(X, y) -> dict of str to list of Exit``: rows that leave at each leaf
``layer_table``     ``(X, y, stages) -> DataFrame``: one row per layer
``staged_margins``  ``(X, codes) -> dict of str to ndarray``: margins after each layer
=================== =====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.base.base import class_codes
from surewood.base.describing import Exit
from surewood.bounds import margin_ratio, margins

LEAF, SKY, BARK, PLUM, PEER = "#2f7d4f", "#3b72b0", "#b0703a", "#8a4f8f", "#868c96"


def pyplot() -> Any:
    """matplotlib.pyplot, or a sentence that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "the displays of surewood.inspect draw with matplotlib, which is not installed; "
            "get it with: pip install 'surewood[plots]'"
        ) from error
    return plt


def new_axes(ax: Any, n: int = 1, **options: Any) -> tuple[Any, Any]:
    """Figure and axes: those given, else new ones (`n` side by side, an array where more than one)."""
    if ax is None:
        figure, made = pyplot().subplots(1, n, layout="constrained", **options)
        return figure, made
    first = ax if n == 1 else ax[0]
    return first.figure, ax


def tidy(ax: Any) -> None:
    """No frame above and on the right, a quiet grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.25)
    ax.set_axisbelow(True)


def method_of(model: Any, name: str, needed: str) -> Callable[..., Any]:
    """A method of the model; `needed` says in words what is missing where there is none.

    Examples
    --------
    >>> method_of(object(), "layer_table", "layers")
    Traceback (most recent call last):
    ValueError: object has no layers to show.
    """
    method = getattr(model, name, None)
    if not callable(method):
        raise ValueError(f"{type(model).__name__} has no {needed} to show.")
    view: Callable[..., Any] = method
    return view


def bound_terms(model: Any, part: int = 0) -> tuple[pd.DataFrame, float]:
    """Terms of one composite tree or one cascade, and its gamma_scale.

    Parameters
    ----------
    model : fitted composite tree or forest, or cascade
        Any classifier with a method ``leaf_terms``.
    part : int, default=0
        Number of the tree, or of the cascade where each class has one.

    Returns
    -------
    terms : DataFrame
        One row per leaf: ``leaf``, ``degree``, ``error_term``, ``term``, ``side``.
    gamma_scale : float

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import CompositeTreeClassifier
    >>> from surewood.inspect import bound_terms
    >>> tree = CompositeTreeClassifier(max_depth=1, random_state=0).fit(*load_iris(return_X_y=True))
    >>> terms, gamma_scale = bound_terms(tree)
    >>> len(terms), gamma_scale
    (2, 0.0001)
    """
    ledger, gamma_scale = method_of(model, "leaf_terms", "leaf ledger")(part)
    return _terms(ledger), float(gamma_scale)


def _terms(ledger: pd.DataFrame) -> pd.DataFrame:
    total = float(ledger["points"].sum())
    return pd.DataFrame(
        {
            "leaf": ledger["leaf"],
            "degree": ledger["degree"],
            "error_term": ledger["errors"] / total,
            "term": ledger["term"],
            "side": ledger["side"],
        }
    )


class BoundDisplay:
    """Bars per leaf: its errors, and its complexity penalty (or its correct rows, where these are fewer).

    Parameters
    ----------
    terms : DataFrame
        Of :func:`bound_terms`.
    gamma_scale : float

    Attributes
    ----------
    value : float
        Sum of all terms.
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import CompositeTreeClassifier
    >>> tree = CompositeTreeClassifier(max_depth=1, C=1.0, random_state=0).fit(*load_iris(return_X_y=True))
    >>> display = BoundDisplay(*bound_terms(tree))
    >>> float(abs(display.value - tree.criterion_[0])) < 1e-12
    True
    """

    def __init__(self, terms: pd.DataFrame, gamma_scale: float) -> None:
        self.terms = terms
        self.gamma_scale = gamma_scale

    @property
    def value(self) -> float:
        """Value of the criterion: errors and complexity penalties of all leaves."""
        return float(self.terms["error_term"].sum() + self.terms["term"].sum())

    @classmethod
    def from_estimator(cls, estimator: Any, *, part: int = 0, ax: Any = None) -> BoundDisplay:
        """Draw the terms of a fitted model; `part` is the number of the tree or cascade."""
        pyplot()
        return cls(*bound_terms(estimator, part)).plot(ax=ax)

    def plot(self, ax: Any = None, *, max_leaves: int = 30) -> BoundDisplay:
        """Draw the leaves with the largest terms, the others as one bar; returns itself."""
        terms = self.terms.copy()
        terms["name"] = [f"leaf {k}, degree {d}" for k, d in zip(terms["leaf"], terms["degree"])]
        order = (terms["error_term"] + terms["term"]).sort_values(ascending=False, kind="stable").index
        shown = terms.loc[order[:max_leaves]]
        rest = terms.loc[order[max_leaves:]]
        self.figure_, self.ax_ = new_axes(ax, figsize=(6.4, 1.4 + 0.28 * (len(shown) + bool(len(rest)))))
        y = np.arange(len(shown))
        colors = np.where(shown["side"] == "complexity", LEAF, BARK)
        self.ax_.barh(y, shown["error_term"], color=PEER, label="errors")
        self.ax_.barh(y, shown["term"], left=shown["error_term"], color=colors)
        names = shown["name"].tolist()
        if len(rest):
            self.ax_.barh(len(shown), rest["error_term"].sum(), color=PEER)
            self.ax_.barh(
                len(shown), rest["term"].sum(), left=rest["error_term"].sum(), color=LEAF, alpha=0.5
            )
            names.append(f"{len(rest)} other leaves")
        for color, words in (
            (LEAF, "complexity penalty"),
            (BARK, "correct rows (penalty inactive)"),
        ):
            self.ax_.barh([0], [0], color=color, label=words)
        self.ax_.set_yticks(range(len(names)), names)
        self.ax_.invert_yaxis()
        word = "terms of the bound" if self.gamma_scale == 1 else f"CRITERION, γ = {self.gamma_scale:g}"
        self.ax_.set(xlabel=f"fraction of the sample; sum {self.value:.4g} ({word})")
        tidy(self.ax_)
        self.ax_.grid(axis="y", visible=False)
        self.ax_.legend(frameon=False, fontsize="small")
        return self


def row_degrees(model: Any, X: Any, part: int | None = None) -> NDArray[np.float64]:
    """Degree of the leaf that decides each row.

    Parameters
    ----------
    model : fitted composite tree, composite forest or SVM cascade
        Any classifier with a method ``leaf_degrees``.
    X : table
    part : int, optional
        One tree of a forest, or one of the cascades; by default the mean over all.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import CompositeTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CompositeTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    >>> from surewood.inspect import row_degrees
    >>> row_degrees(tree, X).shape
    (150,)
    """
    degrees = method_of(model, "leaf_degrees", "degrees")(X)
    if part is None:
        return np.asarray(degrees.mean(axis=1), dtype=np.float64)
    if not 0 <= part < degrees.shape[1]:
        raise ValueError(f"part must be between 0 and {degrees.shape[1] - 1}, got {part}.")
    return np.asarray(degrees[:, part], dtype=np.float64)


class CapacityMapDisplay:
    """A map of two columns, colored by the degree of the leaf that decides there.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (k, k)
        The grid.
    degree : ndarray of shape (k, k)
    names : tuple of str
        The two columns.
    points : ndarray of shape (n, 2), optional
        Rows to draw on the map.

    Attributes
    ----------
    ax_, figure_, surface_ : matplotlib Axes, Figure and mesh

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import CompositeTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CompositeTreeClassifier(max_depth=1, C=1.0, random_state=0).fit(X, y)
    >>> row_degrees(tree, X[[0, 149]]).tolist()
    [0.0, 2.0]
    """

    def __init__(
        self,
        xx0: NDArray[np.float64],
        xx1: NDArray[np.float64],
        degree: NDArray[np.float64],
        *,
        names: tuple[str, str],
        points: NDArray[np.float64] | None = None,
    ) -> None:
        self.xx0, self.xx1, self.degree = xx0, xx1, degree
        self.names, self.points = names, points

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        features: tuple[Any, Any] = (0, 1),
        part: int | None = None,
        grid_resolution: int = 80,
        ax: Any = None,
    ) -> CapacityMapDisplay:
        """Draw the map of a fitted model.

        Parameters
        ----------
        estimator : fitted composite tree, composite forest or SVM cascade
        X : table
            Its range is drawn; all other columns are set to their median or most frequent value.
        features : pair of positions or names, default=(0, 1)
            Two numeric columns.
        part : int, optional
            One tree of a forest, or one of the cascades; by default the mean over all.
        grid_resolution : int, default=80
        ax : matplotlib Axes, optional
        """
        pyplot()
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
        columns = [_position(frame, feature) for feature in features]
        if len(columns) != 2:
            raise ValueError(f"features must be two columns, got {len(columns)}.")
        axes = [_span(frame, j, grid_resolution) for j in columns]
        xx0, xx1 = np.meshgrid(*axes)
        typical = pd.DataFrame({i: _typical(frame.iloc[:, i], xx0.size) for i in range(frame.shape[1])})
        typical.columns = frame.columns
        for j, values in zip(columns, (xx0, xx1)):
            typical.isetitem(j, values.ravel())
        grid = typical if isinstance(X, pd.DataFrame) else typical.to_numpy()
        degree = row_degrees(estimator, grid, part).reshape(xx0.shape)
        names = tuple(str(frame.columns[j]) if isinstance(X, pd.DataFrame) else f"x{j}" for j in columns)
        points = frame.iloc[:, columns].to_numpy(dtype=np.float64)
        return cls(xx0, xx1, degree, names=(names[0], names[1]), points=points).plot(ax=ax)

    def plot(self, ax: Any = None, *, cmap: str = "YlGn", **mesh: Any) -> CapacityMapDisplay:
        """Draw; returns itself."""
        self.figure_, self.ax_ = new_axes(ax)
        options = {"cmap": cmap, "shading": "auto", "vmin": 0, "vmax": self.degree.max() + 1.5, **mesh}
        self.surface_ = self.ax_.pcolormesh(self.xx0, self.xx1, self.degree, **options)
        if self.points is not None:
            self.ax_.scatter(*self.points.T, s=6, color="0.15", alpha=0.5, linewidths=0)
        bar = self.figure_.colorbar(self.surface_, ax=self.ax_, label="degree of the deciding leaf")
        bar.ax.set_ylim(0, max(1.0, self.degree.max()))
        self.ax_.set_xlabel(self.names[0], parse_math=False)
        self.ax_.set_ylabel(self.names[1], parse_math=False)
        return self


def _position(frame: pd.DataFrame, feature: Any) -> int:
    if isinstance(feature, int | np.integer) and 0 <= feature < frame.shape[1]:
        return int(feature)
    positions = [j for j, name in enumerate(frame.columns) if name == feature]
    if not positions:
        raise ValueError(f"features has {feature!r}, which is not a column of X.")
    return positions[0]


def _span(frame: pd.DataFrame, j: int, k: int) -> NDArray[np.float64]:
    column = frame.iloc[:, j]
    if not pd.api.types.is_numeric_dtype(column.dtype):
        raise ValueError(f"features must be numeric columns; {frame.columns[j]!r} is not.")
    low, high = float(column.min()), float(column.max())
    pad = 0.03 * (high - low or 1.0)
    return np.linspace(low - pad, high + pad, k)


def _typical(column: pd.Series, n: int) -> pd.Series:
    """The median of numbers, else the most frequent value, `n` times and of the same type."""
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        return pd.Series(np.full(n, float(column.median())))
    mode = column.mode()
    row = column.index[0] if mode.empty else column.index[(column == mode.iloc[0]).to_numpy().argmax()]
    return column.loc[[row] * n].iloc[:n].reset_index(drop=True)


def cascade_flow(model: Any, X: Any, y: Any = None) -> dict[str, list[Exit]]:
    """Leaves of every cascade of a model with the rows that leave there.

    Parameters
    ----------
    model : fitted cascade
        Any classifier with a method ``leaf_flow``.
    X, y : table, and labels if known

    Returns
    -------
    dict of str to list of Exit
        By class where each has a cascade of its own, else a single entry "all".

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from surewood import DeepCascadeSVMClassifier
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> cascade = DeepCascadeSVMClassifier(n_leaves=2, gamma_scale=1e-4, random_state=0).fit(X, y)
    >>> from surewood.inspect import cascade_flow
    >>> {name: len(exits) for name, exits in cascade_flow(cascade, X, y).items()}
    {'all': 2}
    """
    flows: dict[str, list[Exit]] = method_of(model, "leaf_flow", "flow of rows")(X, y)
    return flows


class CascadeFlowDisplay:
    """Bars per leaf: rows that arrive, that leave there, and the fraction of those classified correctly.

    Parameters
    ----------
    exits : list of Exit
        Of one cascade.
    name : str
        The class that the cascade sets against the rest, or "all".

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from surewood import DeepCascadeSVMClassifier
    >>> X, y = make_moons(120, noise=0.2, random_state=0)
    >>> model = DeepCascadeSVMClassifier(gamma_scale=1e-3, random_state=0).fit(X, y)
    >>> sum(leaf.points for leaf in cascade_flow(model, X, y)["all"])
    120
    """

    def __init__(self, exits: list[Exit], name: str = "all") -> None:
        self.exits = exits
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, part: Any = None, ax: Any = None
    ) -> CascadeFlowDisplay:
        """Draw the flow of points through a fitted cascade.

        Parameters
        ----------
        estimator : fitted cascade
        X, y : table, and labels if known
        part : label, optional
            The class whose cascade is drawn, where each has one; by default the first.
        ax : matplotlib Axes, optional
        """
        pyplot()
        flows = cascade_flow(estimator, X, y)
        name = next(iter(flows)) if part is None else str(part)
        if name not in flows:
            raise ValueError(f"part must be one of {', '.join(flows)}; got {name}.")
        return cls(flows[name], name).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, leaf: Any, *, degrees: Any = None, ax: Any = None
    ) -> CascadeFlowDisplay:
        """Draw the flow of rows whose leaf (0, 1, ...) and predicted label are known."""
        pyplot()
        where = np.asarray(leaf).astype(np.int64).ravel()
        right = np.asarray(y_true).ravel() == np.asarray(y_pred).ravel()
        if len(where) != len(right) or not len(where):
            raise ValueError(f"leaf must have one entry per row ({len(right)}), got {len(where)}.")
        exits, left = [], len(where)
        for k in range(int(where.max()) + 1):
            here = where == k
            accuracy = float(right[here].mean()) if here.any() else None
            degree = "" if degrees is None else degrees[k]
            exits.append(Exit(k, degree, left, int(here.sum()), accuracy, None, None))
            left -= int(here.sum())
        return cls(exits).plot(ax=ax)

    def plot(self, ax: Any = None) -> CascadeFlowDisplay:
        """Draw; returns itself."""
        self.figure_, self.ax_ = new_axes(ax)
        x = np.arange(len(self.exits))
        arrive = np.array([leaf.arrive for leaf in self.exits])
        points = np.array([leaf.points for leaf in self.exits])
        self.ax_.bar(x, arrive, color=PEER, alpha=0.35, width=0.62, label="arrive")
        self.ax_.bar(x, points, color=LEAF, width=0.62, label="leave here")
        for leaf, height in zip(self.exits, arrive):
            words = [f"{leaf.points / max(1, arrive[0]):.0%} leave"]
            if leaf.accuracy is not None:
                words.append(f"{leaf.accuracy:.1%} correct")
            if leaf.threshold is not None:
                words.append(f"|f| ≤ {leaf.threshold:.3g} go on")
            options = {"ha": "center", "va": "bottom", "fontsize": "small"}
            self.ax_.annotate(
                "\n".join(words), (leaf.leaf, height), (0, 4), textcoords="offset points", **options
            )
        degrees = [f"\ndegree {leaf.degree}" if leaf.degree != "" else "" for leaf in self.exits]
        named = [f"leaf {leaf.leaf}{degree}" for leaf, degree in zip(self.exits, degrees)]
        self.ax_.set_xticks(x, named)
        self.ax_.set(ylabel="rows", ylim=(0, 1.3 * max(1, arrive[0])))
        if self.name != "all":
            self.ax_.set_title(f"{self.name} against the rest", fontsize="medium", parse_math=False)
        tidy(self.ax_)
        self.ax_.legend(frameon=False, fontsize="small")
        return self


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
    table: pd.DataFrame = method_of(model, "layer_table", "layers")(X, y, stages)
    return table


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
            for column, name, color in lines:
                if column in table and table[column].notna().any():
                    values = table[column].replace([np.inf, -np.inf], np.nan)
                    ax.plot(table["layer"], values, "o-", color=color, label=name, markersize=4)
            ax.axvline(last, color="0.5", linestyle=":", linewidth=1)
            ax.set_title(title, fontsize="medium")
            ax.set_xlabel("layer")
            ax.set_xticks(table["layer"])
            tidy(ax)
        self.axes_[0].legend(frameon=False, fontsize="small")
        return self


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
        by_layer = staged_margins(estimator, X, y)
        if layers is not None:
            wanted = [f"layer {int(t)}" for t in layers]
            absent = [name for name in wanted if name not in by_layer]
            if absent:
                raise ValueError(f"layers has {absent[0][6:]}; the model has {', '.join(by_layer)}.")
            by_layer = {name: by_layer[name] for name in wanted}
        return cls(by_layer).plot(ax=ax, **line)

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
        colors = pyplot().get_cmap("viridis")(np.linspace(0.75, 0.1, len(self.margins)))
        for color, (name, values) in zip(colors, self.margins.items()):
            share = np.histogram(values, edges)[0] / len(values)
            words = f"{name}: ratio {margin_ratio(values):.3f}, {np.mean(values <= 0):.1%} not above 0"
            self.ax_.stairs(share, edges, **{"color": color, "linewidth": 1.8, "label": words, **line})
        self.ax_.axvline(0.0, color="0.5", linestyle=":", linewidth=1)
        self.ax_.set(xlabel="margin", ylabel="fraction of the rows")
        self.ax_.legend(frameon=False, fontsize="small", title="margin ratio: HEURISTIC")
        tidy(self.ax_)
        return self
