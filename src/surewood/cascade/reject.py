"""The reject option: answer only where the leaf's error is bounded well enough.

Rows fall into groups: the leaf at which the cascade of the predicted class lets them go, divided on wish into
bands of distance. Each group's error is bounded from above (Clopper-Pearson (6.1), delta shared by the
groups); groups above the wanted error are rejected. The bounds are guarantees for rows that took no part in
the fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.bounds import Condition, Entry, Method, clopper_pearson, issue_guarantee
from surewood.cascade.parameters import share, whole

Edges = dict[tuple[int, int], Floats]


@dataclass(frozen=True)
class LeafRecord:
    """Of every row: predicted code, cascade that decided, its leaf, and the distance there."""

    predicted: NDArray[np.int64]
    cascade: NDArray[np.int64]
    leaf: NDArray[np.int64]
    distance: Floats

    @classmethod
    def of(cls, scores: Floats, leaf: NDArray[np.int64], distance: Floats) -> LeafRecord:
        predicted = scores.argmax(axis=1)
        cascade = predicted if leaf.shape[1] > 1 else np.zeros(len(predicted), dtype=np.int64)
        rows = np.arange(len(predicted))
        return cls(predicted, cascade, leaf[rows, cascade], distance[rows, cascade])

    def band_edges(self, n_leaves: list[int], bands: int) -> Edges:
        """Inner edges of the bands of every leaf: quantiles of the distances that went there."""
        bands = whole("bands", bands, 1)
        edges: Edges = {}
        for cascade, leaves in enumerate(n_leaves):
            for leaf in range(leaves):
                own = self.distance[(self.cascade == cascade) & (self.leaf == leaf)]
                inner = np.linspace(0.0, 1.0, bands + 1)[1:-1]
                edges[cascade, leaf] = np.unique(np.quantile(own, inner)) if len(own) else np.zeros(0)
        return edges


def leaf_groups(record: LeafRecord, edges: Edges) -> NDArray[np.int64]:
    """Number of each row's group, in the order (cascade, leaf, band)."""
    groups, first = np.zeros(len(record.predicted), dtype=np.int64), 0
    for (cascade, leaf), inner in edges.items():
        here = (record.cascade == cascade) & (record.leaf == leaf)
        groups[here] = first + np.searchsorted(inner, record.distance[here], side="right")
        first += len(inner) + 1
    return groups


@dataclass(frozen=True)
class RejectOption:
    """A cascade that may say nothing.

    Attributes
    ----------
    groups : DataFrame
        One row a group: ``cascade``, ``leaf``, ``band``, ``points``, ``errors``, ``upper_bound``,
        ``accepted``.
    max_error, delta : float
    guarantees : tuple of Entry
        One guarantee per group with rows, when the bounds come from held-out rows; otherwise none.
    """

    model: Any
    edges: Edges
    groups: pd.DataFrame
    max_error: float
    delta: float
    guarantees: tuple[Entry, ...]

    @property
    def status(self) -> str:
        """What the bounds are: guaranteed on held-out rows, otherwise estimated."""
        return str(self.guarantees[0].status) if self.guarantees else "ESTIMATE"

    @classmethod
    def fit(
        cls,
        model: Any,
        edges: Edges,
        groups: NDArray[np.int64],
        right: NDArray[np.bool_],
        weight: Floats,
        max_error: float,
        delta: float,
        held_out: bool,
    ) -> RejectOption:
        """Bound the error of every group and accept those that promise enough."""
        share("delta", delta)
        if not 0 <= max_error <= 1:
            raise ValueError(f"max_error must lie between 0 and 1; got {max_error!r}.")
        names = [(c, leaf, band) for (c, leaf), inner in edges.items() for band in range(len(inner) + 1)]
        points = np.rint(np.bincount(groups, weights=weight, minlength=len(names))).astype(np.int64)
        wrong = np.bincount(groups, weights=weight * ~right, minlength=len(names))
        errors = np.minimum(np.ceil(wrong - 1e-9).astype(np.int64), points)
        bound = [
            clopper_pearson(int(k), int(n), delta=delta / len(names)) if n else 1.0
            for k, n in zip(errors, points)
        ]
        table = pd.DataFrame(names, columns=["cascade", "leaf", "band"])
        table["points"], table["errors"], table["upper_bound"] = points, errors, bound
        table["accepted"] = table["upper_bound"] <= max_error
        guarantees = _leaf_guarantees(table, delta / len(names)) if held_out else ()
        return cls(model, edges, table, float(max_error), float(delta), guarantees)

    @property
    def coverage(self) -> float:
        """Share of the rows behind the bounds that is accepted."""
        points = self.groups["points"]
        return float(points[self.groups["accepted"]].sum() / max(1, points.sum()))

    def curve(self) -> pd.DataFrame:
        """Coverage and error as groups are accepted one after the other, safest first."""
        order = self.groups.sort_values(["upper_bound", "cascade", "leaf", "band"], kind="stable")
        points, errors = order["points"].cumsum(), order["errors"].cumsum()
        return pd.DataFrame(
            {
                "max_error": order["upper_bound"].to_numpy(),
                "coverage": (points / max(1, int(self.groups["points"].sum()))).to_numpy(),
                "error": (errors / points.clip(lower=1)).to_numpy(),
            }
        )

    def accepts(self, X: Any) -> NDArray[np.bool_]:
        """Whether each row falls into an accepted group."""
        return self._accepted(self.model._record(X))

    def predict(self, X: Any, rejected: Any = None) -> NDArray[Any]:
        """Labels, and `rejected` for rows that fall into a group which cannot promise enough."""
        record = self.model._record(X)
        labels = self.model.classes_[record.predicted].astype(object)
        labels[~self._accepted(record)] = rejected
        return labels

    def _accepted(self, record: LeafRecord) -> NDArray[np.bool_]:
        return self.groups["accepted"].to_numpy()[leaf_groups(record, self.edges)]


def _leaf_guarantees(table: pd.DataFrame, delta: float) -> tuple[Entry, ...]:
    """The bound of every group with rows, issued like every other guarantee of the package."""
    independent = Condition("these rows were not used for training or tuning", True, "stated by the caller")
    return tuple(
        issue_guarantee(
            Method.HOLDOUT,
            value=row.upper_bound,
            delta=delta,
            n=int(row.points),
            sample="holdout",
            variant="exact",
            conditions=[independent],
            quantity=f"error in leaf {row.leaf}, band {row.band} of cascade {row.cascade}",
        )
        for row in table.itertuples()
        if row.points
    )
