"""The fitted model of the SVM cascades: one frozen object that predicts and gives evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surewood._arrays import Counts, Floats
from surewood.bounds import (
    CascadeEvidence,
    EstimateEvidence,
    Evidence,
    LeafLedger,
    cascade_complexity,
    cascade_depths,
    cascade_family_count,
)
from surewood.cascade.chain import Cascade, Evaluation
from surewood.cascade.held_out import OutOfFold
from surewood.cascade.leaf_calibration import LeafCalibrator, calibrated_leaf
from surewood.cascade.old_form import model_state_of_today
from surewood.cascade.reject import LeafRecord
from surewood.cascade.sample import encoded
from surewood.cascade.search import SearchResult
from surewood.cascade.tasks import class_columns
from surewood.cascade.trainer import KernelChoice, distance_of
from surewood.tables import DesignEncoder, Table


@dataclass(frozen=True)
class CascadeModel:
    """Fitted SVM cascades. Everything here was recorded by ``fit``; later parameters do not matter [D-37]."""

    #: One, or one per class for one-vs-rest.
    cascades: tuple[Cascade, ...]
    #: One per cascade.
    search: tuple[SearchResult, ...]
    #: Scores of training rows by cascades of the same structure that did not see them.
    held_out: OutOfFold
    #: All degrees that were offered.
    kernels: KernelChoice
    #: Shape (n_cascades, n_degrees).
    C: Floats
    #: None where no γ selected the cascade (a single SVM chosen by cross-validation).
    gamma_scale: float | None
    growth: str
    max_leaves: int
    n_classes: int
    encoder: DesignEncoder
    calibrator: LeafCalibrator | None
    #: Row of the training table of each row of the sample.
    origin: Counts
    #: See :class:`~surewood.cascade.sample.Sample`.
    is_affine: bool
    is_counted: bool

    # --- predictions ---------------------------------------------------------------------------------------

    def encode(self, table: Table) -> Floats:
        """Rows as the SVMs see them."""
        return encoded(self.encoder, table)

    def evaluate(
        self, design: Floats, *, scale: float = 1.0, n_leaves: int | None = None, n_jobs: int | None = None
    ) -> list[Evaluation]:
        """Rows after each cascade; see :meth:`Cascade.evaluate`."""
        return [one.evaluate(design, scale=scale, n_leaves=n_leaves, n_jobs=n_jobs) for one in self.cascades]

    def scores(self, parts: Sequence[Evaluation]) -> Floats:
        """One score per class."""
        return class_columns([part.scores for part in parts], self.n_classes)

    def probabilities(self, parts: Sequence[Evaluation]) -> Floats:
        """Calibrated class probabilities."""
        if self.calibrator is None:
            raise AttributeError("this cascade was fitted with calibrate=False: it has no probabilities.")
        return self.calibrator.transform(self.scores(parts), calibrated_leaf([part.leaf for part in parts]))

    def record(self, design: Floats, n_jobs: int | None = None) -> LeafRecord:
        """Predicted code, deciding cascade, leaf and distance of every row."""
        parts = self.evaluate(design, n_jobs=n_jobs)
        return LeafRecord.of(
            self.scores(parts),
            np.column_stack([part.leaf for part in parts]),
            np.column_stack([distance_of(part.scores) for part in parts]),
        )

    # --- books ---------------------------------------------------------------------------------------------

    def ledger(self, t: int) -> LeafLedger:
        """One row per leaf of cascade `t`, with the terms of the criterion (3.8)."""
        cascade = self.cascades[t]
        m = max(1, int(np.ceil(cascade.plus.sum() + cascade.minus.sum())))
        own = self.kernels.of_degrees(cascade.degrees.tolist())
        growth = own.log_growth(m, self.growth)
        scale = 1.0 if self.gamma_scale is None else self.gamma_scale
        return LeafLedger(
            depth=cascade_depths(cascade.n_leaves),
            path=np.array(cascade.paths_in_words(), dtype=object),
            correct=cascade.plus,
            errors=cascade.minus,
            degree=cascade.degrees,
            vc_dimension=own.vc_dimension(m),
            log_growth=growth,
            complexity_term=4.0 * scale * cascade_complexity(growth, m),
            gamma_scale=scale,
        )

    def evidence(self) -> list[Evidence]:
        """Counts for (3.2), where it applies, and the out-of-fold error."""
        found: list[Evidence] = []
        if self.n_classes == 2 and self.kernels.kernel == "poly":
            found.append(self._counts())
        found.append(
            EstimateEvidence(
                name="out-of-fold error of cascades with the fitted degrees and fractions",
                value=self.held_out.error,
                n=len(self.held_out.codes),
                used_for_selection=True,  # degrees and fractions were chosen with these rows
            )
        )
        return found

    def _counts(self) -> CascadeEvidence:
        cascade, held_out = self.cascades[0], self.held_out
        whole = bool((cascade.plus % 1 == 0).all() and (cascade.minus % 1 == 0).all())
        plus, minus = (np.rint(part).astype(np.int64) for part in (cascade.plus, cascade.minus))
        m = max(1, int(plus.sum() + minus.sum()))
        growth = self.kernels.of_degrees(cascade.degrees.tolist()).log_growth(m)
        frequency = np.bincount(held_out.codes, weights=held_out.weight) / held_out.weight.sum()
        return CascadeEvidence(
            majority_error=1.0 - float(frequency.max()),
            correct=plus,
            errors=minus,
            complexity=cascade_complexity(growth, m, variant="smaller"),
            n_families=cascade_family_count(len(self.kernels.degrees), self.max_leaves),
            max_leaves=self.max_leaves,
            criterion_complexity=cascade_complexity(growth, m) if self.gamma_scale else None,
            gamma_scale=self.gamma_scale or None,
            unweighted=self.is_counted and whole,
            affine_features=self.is_affine,
            learned_representation=self.encoder.learned_,
        )

    @classmethod
    def of_old_state(cls, state: dict[str, Any]) -> CascadeModel:
        """The model of an estimator of an older version; its fitted attributes leave `state`."""
        return cls(**model_state_of_today(state))
