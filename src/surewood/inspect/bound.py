"""Where the value of a bound or criterion comes from, leaf by leaf: `bound_terms` and `BoundDisplay`.

A leaf adds its errors (as a fraction of the sample) and the smaller of two terms: its complexity penalty, or
the fraction of rows it classifies correctly (2.9), (3.8). With gamma_scale 1 the sum is what a bound is made
of; below 1 it is a CRITERION, a selection score.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from surewood.inspect.drawing import BARK, LEAF, PEER, new_axes, pyplot, tidy
from surewood.inspect.model_data import method_of

__all__ = ["BoundDisplay", "bound_terms"]


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
        colours = np.where(shown["side"] == "complexity", LEAF, BARK)
        self.ax_.barh(y, shown["error_term"], color=PEER, label="errors")
        self.ax_.barh(y, shown["term"], left=shown["error_term"], color=colours)
        names = shown["name"].tolist()
        if len(rest):
            self.ax_.barh(len(shown), rest["error_term"].sum(), color=PEER)
            self.ax_.barh(
                len(shown), rest["term"].sum(), left=rest["error_term"].sum(), color=LEAF, alpha=0.5
            )
            names.append(f"{len(rest)} other leaves")
        for colour, words in (
            (LEAF, "complexity penalty"),
            (BARK, "correct rows (penalty inactive)"),
        ):
            self.ax_.barh([0], [0], color=colour, label=words)
        self.ax_.set_yticks(range(len(names)), names)
        self.ax_.invert_yaxis()
        word = "terms of the bound" if self.gamma_scale == 1 else f"CRITERION, γ = {self.gamma_scale:g}"
        self.ax_.set(xlabel=f"fraction of the sample; sum {self.value:.4g} ({word})")
        tidy(self.ax_)
        self.ax_.grid(axis="y", visible=False)
        self.ax_.legend(frameon=False, fontsize="small")
        return self
