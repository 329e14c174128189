"""The reject option: predict only where the leaf's error is bounded well enough.

Rows fall into groups: the leaf at which the cascade of the predicted class lets them leave, optionally
divided into bands of distance. `group_table` counts rows and errors per group; each group's error is bounded
from above (Clopper-Pearson (6.1), delta divided among the groups), and groups above the wanted error are
rejected. The bounds are guarantees for rows that were not used in the fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from surewood._arrays import AnyArray, Codes, Counts, Floats, Mask
from surewood.base.counted_rows import CountedRows
from surewood.base.rules import Integer, check_value
from surewood.bounds import Entry, Method, clopper_pearson, issue_guarantee

Edges = dict[tuple[int, int], Floats]


@dataclass(frozen=True)
class LeafRecord:
    """For every row: predicted code, the cascade that decided, its leaf, and the distance there."""

    predicted: Counts
    cascade: Counts
    leaf: Counts
    distance: Floats

    @classmethod
    def of(cls, scores: Floats, leaf: Counts, distance: Floats) -> LeafRecord:
        """From the scores per class, and leaf and distance per cascade."""
        predicted = scores.argmax(axis=1)
        cascade = predicted if leaf.shape[1] > 1 else np.zeros(len(predicted), dtype=np.int64)
        rows = np.arange(len(predicted))
        return cls(predicted, cascade, leaf[rows, cascade], distance[rows, cascade])

    def band_edges(self, n_leaves: Sequence[int], bands: int) -> Edges:
        """Inner edges of the bands of every leaf: quantiles of the distances found there."""
        check_value("bands", bands, Integer(1))
        edges: Edges = {}
        for cascade, leaves in enumerate(n_leaves):
            for leaf in range(leaves):
                distance = self.distance[(self.cascade == cascade) & (self.leaf == leaf)]
                inner = np.linspace(0.0, 1.0, bands + 1)[1:-1]
                edges[cascade, leaf] = (
                    np.unique(np.quantile(distance, inner)) if len(distance) else np.zeros(0)
                )
        return edges


def leaf_groups(record: LeafRecord, edges: Edges) -> Counts:
    """Number of each row's group, in the order (cascade, leaf, band)."""
    groups, first = np.zeros(len(record.predicted), dtype=np.int64), 0
    for (cascade, leaf), inner in edges.items():
        here = (record.cascade == cascade) & (record.leaf == leaf)
        groups[here] = first + np.searchsorted(inner, record.distance[here], side="right")
        first += len(inner) + 1
    return groups


def group_table(record: LeafRecord, edges: Edges, codes: Codes, weight: Floats) -> pd.DataFrame:
    """Rows and errors of every group; fractional sums round to the safe side."""
    names = [(c, leaf, band) for (c, leaf), inner in edges.items() for band in range(len(inner) + 1)]
    groups, is_wrong = leaf_groups(record, edges), record.predicted != codes
    points = np.rint(np.bincount(groups, weights=weight, minlength=len(names))).astype(np.int64)
    wrong = np.bincount(groups, weights=weight * is_wrong, minlength=len(names))
    table = pd.DataFrame(names, columns=["cascade", "leaf", "band"])
    table["points"], table["errors"] = points, np.minimum(np.ceil(wrong - 1e-9).astype(np.int64), points)
    return table


@dataclass(frozen=True)
class RejectOption:
    """A cascade that may abstain."""

    estimator: Any
    edges: Edges
    #: One row per group: ``cascade``, ``leaf``, ``band``, ``points``, ``errors``, ``upper_bound``,
    #: ``accepted``.
    groups: pd.DataFrame
    max_error: float
    delta: float
    #: One guarantee per group with rows, when the bounds come from held-out rows; otherwise none.
    guarantees: tuple[Entry, ...]

    @property
    def status(self) -> str:
        """What the bounds are: guaranteed on held-out rows, otherwise estimated."""
        return str(self.guarantees[0].status) if self.guarantees else "ESTIMATE"

    @classmethod
    def of(
        cls,
        estimator: Any,
        edges: Edges,
        groups: pd.DataFrame,
        max_error: float,
        delta: float,
        counted: CountedRows | None,
    ) -> RejectOption:
        """Bound the errors of all groups together and accept those whose bound is small enough.

        `groups` is a :func:`group_table`; bounds are guarantees where it counts these rows of a holdout.
        """
        level = delta / len(groups)  # what each group's bound may use
        errors, points = groups["errors"].tolist(), groups["points"].tolist()
        bounds = [clopper_pearson(k, n, delta=level) for k, n in zip(errors, points)]
        names = groups[["cascade", "leaf", "band"]].to_numpy().tolist()
        groups = groups.assign(upper_bound=np.array(bounds))
        groups["accepted"] = groups["upper_bound"] <= max_error
        guarantees = tuple(
            issue_guarantee(
                Method.HOLDOUT,
                value=float(bound),
                delta=level,
                n=n,
                sample="holdout",
                variant="exact",
                conditions=counted.conditions(),
                population=counted.population,
                quantity=f"error in leaf {leaf}, band {band} of cascade {cascade}",
            )
            for (cascade, leaf, band), n, bound in zip(names, points, bounds)
            if n and counted is not None
        )
        return cls(estimator, edges, groups, float(max_error), float(delta), guarantees)

    @property
    def coverage(self) -> float:
        """Fraction of the rows behind the bounds that is accepted."""
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

    def accepts(self, X: Any) -> Mask:
        """Whether each row falls into an accepted group."""
        return self._accepted(self.estimator._leaf_record(X))

    def predict(self, X: Any, rejected: Any = None) -> AnyArray:
        """Labels, and `rejected` for rows of groups that are not accepted."""
        record = self.estimator._leaf_record(X)
        labels: AnyArray = np.asarray(self.estimator.classes_)[record.predicted].astype(object)
        labels[~self._accepted(record)] = rejected
        return labels

    def _accepted(self, record: LeafRecord) -> Mask:
        return np.asarray(self.groups["accepted"].to_numpy()[leaf_groups(record, self.edges)], dtype=bool)
