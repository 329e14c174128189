"""The fitted model of a cascade of any families."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from surewood._arrays import Counts, Floats, check_number
from surewood.bounds import EstimateEvidence, Evidence
from surewood.cascade.families import Families, Family, Member
from surewood.cascade.generic_search import GenericResult, SplitRule
from surewood.cascade.leaf_calibration import LeafCalibrator
from surewood.cascade.old_form import generic_state_of_today, renamed
from surewood.cascade.sample import encoded
from surewood.tables import DesignEncoder, Table


class GenericEvaluation(NamedTuple):
    """Rows after the cascade: one score per class, and the leaf."""

    scores: Floats
    leaf: Counts


@dataclass(frozen=True)
class GenericCascade:
    """A fitted chain: the split of every node but the last, and the leaves' classifiers."""

    splits: Sequence[SplitRule]
    leaves: Sequence[Member]
    n_classes: int

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(renamed(state, {"questions": "splits"}))
        check_number("n_classes", self.n_classes, 1, 65535, whole=True)

    def check_members(self, n_columns: int) -> None:
        """Refuse classifiers of other columns or classes, by trying each of them on a row."""
        row = np.zeros((1, n_columns))
        for member in (*self.leaves, *(split.member for split in self.splits)):
            scores = np.asarray(member.scores(row))
            features = np.asarray(getattr(member, "feature", 0))
            if scores.shape != (1, self.n_classes) or features.max(initial=0) >= max(n_columns, 1):
                raise ValueError("the classifiers of a cascade have other columns or classes.")

    def evaluate(self, design: Floats) -> GenericEvaluation:
        """Scores and leaf of every row."""
        scores = np.zeros((len(design), self.n_classes))
        leaf = np.zeros(len(design), dtype=np.int64)
        here = np.arange(len(design))
        for k, member in enumerate(self.leaves):
            stay = here
            if k < len(self.splits):
                goes_on = np.zeros(len(here), dtype=bool)
                if len(here):
                    split = self.splits[k]
                    goes_on = split.member.order(design[here]) <= split.threshold
                stay, here = here[~goes_on], here[goes_on]
            if len(stay):
                scores[stay], leaf[stay] = member.scores(design[stay]), k
        return GenericEvaluation(scores, leaf)


@dataclass(frozen=True)
class GenericModel:
    """A fitted cascade of any families. Everything here was recorded by ``fit`` [D-37]."""

    cascade: GenericCascade
    search: GenericResult
    #: The chosen ones, node by node.
    leaf_families: Families
    split_families: Families
    gamma_scale: float
    #: Out-of-fold error of cascades with the chosen families.
    held_out_error: float
    n_rows: int
    n_classes: int
    encoder: DesignEncoder
    calibrator: LeafCalibrator | None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.cascade.check_members(self.encoder.n_columns_)

    def encode(self, table: Table) -> Floats:
        """Rows as the classifiers see them."""
        return encoded(self.encoder, table)

    def probabilities(self, found: GenericEvaluation) -> Floats:
        """Calibrated class probabilities."""
        if self.calibrator is None:
            raise AttributeError("this cascade was fitted with calibrate=False: it has no probabilities.")
        return self.calibrator.transform(found.scores, found.leaf)

    def family_of_leaf(self, leaf: int) -> Family:
        """Family of a leaf's classifier; a chain that ended early keeps that of its last leaf."""
        return self.leaf_families[-1] if leaf + 1 == len(self.cascade.leaves) else self.leaf_families[leaf]

    def ledger(self) -> pd.DataFrame:
        """One row per leaf, with the terms of the criterion (3.6)."""
        found = self.search
        total = float(found.plus.sum() + found.minus.sum())
        charge = complexity_factor(self.n_classes) * self.gamma_scale * found.complexity
        return pd.DataFrame(
            {
                "family": [type(one).__name__ for one in self.leaf_families],
                "split": [*(type(one).__name__ for one in self.split_families), ""],
                "correct": found.plus,
                "errors": found.minus,
                "complexity": found.complexity,
                "complexity_term": charge,
                "sample_term": found.plus / total,
                "side": np.where(found.plus / total > charge, "complexity", "sample"),
            }
        )

    def evidence(self) -> list[Evidence]:
        """The out-of-fold error; families of the user's own come without a guarantee."""
        name = "out-of-fold error of cascades with the fitted families"
        return [
            EstimateEvidence(name=name, value=self.held_out_error, n=self.n_rows, used_for_selection=True)
        ]

    @classmethod
    def of_old_state(cls, state: dict[str, Any]) -> GenericModel:
        """The model of an estimator of an older version; its fitted attributes leave `state`."""
        return cls(**generic_state_of_today(state))


def complexity_factor(n_classes: int) -> float:
    """4 for two classes (3.6), 8c for more: the theorem of composite trees with one-hot leaves (2.2)."""
    return 4.0 if n_classes <= 2 else 8.0 * n_classes
