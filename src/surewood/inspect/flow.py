"""How rows leave a cascade: `cascade_flow` and `CascadeFlowDisplay`."""

from __future__ import annotations

from typing import Any

import numpy as np

from surewood.estimators.describing import Exit
from surewood.inspect.drawing import LEAF, PEER, new_axes, pyplot, tidy
from surewood.inspect.model_data import method_of

__all__ = ["CascadeFlowDisplay", "Exit", "cascade_flow"]


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
    found: dict[str, list[Exit]] = method_of(model, "leaf_flow", "flow of rows")(X, y)
    return found


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
        arrive = np.array([one.arrive for one in self.exits])
        points = np.array([one.points for one in self.exits])
        self.ax_.bar(x, arrive, color=PEER, alpha=0.35, width=0.62, label="arrive")
        self.ax_.bar(x, points, color=LEAF, width=0.62, label="leave here")
        for one, height in zip(self.exits, arrive):
            words = [f"{one.points / max(1, arrive[0]):.0%} leave"]
            if one.accuracy is not None:
                words.append(f"{one.accuracy:.1%} correct")
            if one.threshold is not None:
                words.append(f"|f| ≤ {one.threshold:.3g} go on")
            options = {"ha": "center", "va": "bottom", "fontsize": "small"}
            self.ax_.annotate(
                "\n".join(words), (one.leaf, height), (0, 4), textcoords="offset points", **options
            )
        named = [f"leaf {one.leaf}\ndegree {one.degree}".removesuffix("\ndegree ") for one in self.exits]
        self.ax_.set_xticks(x, named)
        self.ax_.set(ylabel="rows", ylim=(0, 1.3 * max(1, arrive[0])))
        if self.name != "all":
            self.ax_.set_title(f"{self.name} against the rest", fontsize="medium", parse_math=False)
        tidy(self.ax_)
        self.ax_.legend(frameon=False, fontsize="small")
        return self
