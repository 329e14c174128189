"""What a fitted cascade gives its user beyond labels: who leaves where, how surely, and at what cost.

`CascadeInsight` is the part of the SVM estimators that reads `cascades_`: decision paths, exits, margins, the
latency curve, the reject option, the ledger and the evidence for certificates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surewood.bounds import (
    CascadeEvidence,
    EstimateEvidence,
    Evidence,
    LeafLedger,
    cascade_complexity,
    cascade_depths,
    cascade_family_count,
    vc_dimension,
)
from surewood.cascade import report_facts, sizes
from surewood.cascade.explaining import explain_cascade, told_rows
from surewood.cascade.explanation_steps import explanation_steps
from surewood.cascade.model import Cascade, Evaluation
from surewood.cascade.reject import LeafRecord, RejectOption, leaf_groups
from surewood.cascade.svm_fit import class_columns
from surewood.cascade.svm_trainer import KernelChoice, distance_of
from surewood.tables import begin_predict, plain


class CascadeInsight:
    """Methods of fitted SVM cascades; see `DeepCascadeSVMClassifier`."""

    __report_facts__ = report_facts.svm_report_facts
    __explanation_steps__ = explanation_steps
    leaf_terms = report_facts.svm_leaf_terms
    leaf_degrees = report_facts.leaf_degrees
    leaf_flow = report_facts.svm_leaf_flow
    settings_for = staticmethod(sizes.settings_for)
    max_training_rows = sizes.MAX_TRAINING_ROWS

    cascades_: list[Cascade]

    def decision_path(self, X: Any) -> NDArray[np.int64]:
        """Leaf at which each row stays.

        Returns
        -------
        ndarray of int64
            Shape (n,), or (n, n_classes) where each class has a cascade of its own.
        """
        leaves = np.column_stack([part.leaf for part in self._evaluate(X)])
        return leaves[:, 0] if len(self.cascades_) == 1 else leaves

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Leaf at which each row stays, as :meth:`decision_path`."""
        return self.decision_path(X)

    def explain(self, X: Any) -> list[dict[str, Any]]:
        """How rows were classified: the machines that each met, how far it was from them, where it stayed.

        Returns
        -------
        list of dict
            One a row, of values that JSON knows: ``kind`` ("cascade"), ``prediction``, ``probabilities`` by
            label (None without `probability`), ``votes`` (score of each class) and ``cascades``, one entry a
            cascade: ``class`` (the class set against the rest, None for one cascade of all), ``leaf``,
            ``degree``, ``correct`` and ``errors`` (training weight of the leaf), ``path`` (distance from each
            machine's boundary against its threshold), ``nodes`` (``degree``, ``decision``, ``distance``,
            ``threshold``, ``goes_on``) and ``support``, the nearest support points of the leaf's machine
            (training ``row``, ``distance``, ``label``).
        """
        design = self._rows(X)
        labels = [plain(label) for label in self.classes_]
        parts = [cascade.evaluate(design, n_jobs=self.n_jobs) for cascade in self.cascades_]
        scores = self._scores(parts)
        alone = len(self.cascades_) == 1
        ways = [
            explain_cascade(cascade, None if alone else labels[t], design, labels, self._origin, self.n_jobs)
            for t, cascade in enumerate(self.cascades_)
        ]
        proba = self.predict_proba(X) if self.probability else None
        return told_rows(self.classes_, scores.argmax(axis=1), proba, scores, ways)

    def exits(self, X: Any, y: Any = None) -> pd.DataFrame:
        """Rows that leave at each leaf: how many, at what cost, and with `y` how many of them rightly.

        Returns
        -------
        DataFrame
            One row a leaf: ``cascade`` (the class set against the rest, or "all"), ``leaf``, ``degree``,
            ``points``, ``share``, ``kernel_values`` (computed for a row that leaves here), ``accuracy``.
        """
        codes = None if y is None else self._codes(y, len(self._rows(X)))
        table = []
        for t, found in enumerate(self._evaluate(X)):
            cascade = self.cascades_[t]
            right = None if codes is None else self._task_right(t, found.scores, codes)
            cost = np.cumsum([node.n_support for node in cascade.nodes])
            for k, node in enumerate(cascade.nodes):
                here = found.leaf == k
                row = {
                    "cascade": self._task_name(t),
                    "leaf": k,
                    "degree": node.degree,
                    "points": int(here.sum()),
                    "share": float(here.mean()) if len(here) else 0.0,
                    "kernel_values": int(cost[k]),
                }
                if right is not None:
                    row["accuracy"] = float(right[here].mean()) if here.any() else float("nan")
                table.append(row)
        return pd.DataFrame(table)

    def margins(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Score of the true class minus the best other one; positive where the prediction is right."""
        scores = self._scores(self._evaluate(X))
        codes = self._codes(y, len(scores))
        rows = np.arange(len(scores))
        own = scores[rows, codes]
        others = scores.copy()
        others[rows, codes] = -np.inf
        return own - others.max(axis=1)

    def latency_curve(self, X: Any, y: Any, scales: Sequence[float] | None = None) -> pd.DataFrame:
        """Accuracy against mean work a point, when fewer or more points are sent on.

        Parameters
        ----------
        X, y : table and labels
            Rows that took no part in the fit.
        scales : list of float, optional
            Factors of the thresholds: 0 lets everybody leave at the first machine, 1 is the fitted cascade,
            infinity sends everybody to the last.

        Returns
        -------
        DataFrame
            ``scale``, ``kernel_values`` (mean a point), ``accuracy``, ``left_at_first`` (share).
        """
        grid = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, np.inf) if scales is None else scales
        design = self._rows(X)
        codes = self._codes(y, len(design))
        curve = []
        for scale in grid:
            if not scale >= 0:
                raise ValueError(f"scales must be numbers of at least 0, got {scale!r}.")
            parts = [c.evaluate(design, scale=float(scale), n_jobs=self.n_jobs) for c in self.cascades_]
            predicted = self._scores(parts).argmax(axis=1)
            curve.append(
                {
                    "scale": float(scale),
                    "kernel_values": float(sum(part.work.mean() for part in parts)),
                    "accuracy": float((predicted == codes).mean()),
                    "left_at_first": float(np.mean([(part.leaf == 0).mean() for part in parts])),
                }
            )
        return pd.DataFrame(curve)

    def reject_option(
        self, max_error: float, X: Any = None, y: Any = None, *, delta: float = 0.05, bands: int = 1
    ) -> RejectOption:
        """Predict only where the leaf can promise an error of at most `max_error`.

        Parameters
        ----------
        max_error : float
            Largest error, between 0 and 1, that a leaf's upper bound may have.
        X, y : table and labels, optional
            Rows that took no part in the fit: the bounds are then a GUARANTEE. Without them the out-of-fold
            predictions of the fit serve, and the bounds are an ESTIMATE.
        delta : float, default=0.05
            All bounds hold together with probability at least 1 - delta.
        bands : int, default=1
            Bands of distance that a leaf is divided into, by quantiles of the training points' distances.

        Returns
        -------
        RejectOption
        """
        if (X is None) != (y is None):
            raise ValueError("reject_option needs both X and y, or neither of them.")
        check_is_fitted(self, "out_of_fold_")
        own = self.out_of_fold_
        record = LeafRecord.of(own.scores, own.leaf, own.distance)
        edges = record.band_edges([c.n_leaves for c in self.cascades_], bands)
        codes, weight = own.codes, own.weight
        if X is not None:
            record = self._record(X)
            codes = self._codes(y, len(record.predicted))
            weight = np.ones(len(codes))
        groups = leaf_groups(record, edges)
        right = record.predicted == codes
        return RejectOption.fit(self, edges, groups, right, weight, max_error, delta, X is not None)

    def ledger(self) -> LeafLedger | dict[Any, LeafLedger]:
        """One row a leaf, with the terms of the criterion (3.8); a dictionary by class for one-vs-rest."""
        check_is_fitted(self, "cascades_")
        ledgers = [self._ledger(t) for t in range(len(self.cascades_))]
        if len(ledgers) == 1:
            return ledgers[0]
        return {self._task_name(t): ledger for t, ledger in enumerate(ledgers)}

    def __certificate_evidence__(self) -> Iterable[Evidence]:
        """What `surewood.certify` may use: counts for (3.2), and the out-of-fold error."""
        evidence: list[Evidence] = []
        if len(self.classes_) == 2 and self.kernels_.kernel == "poly":
            evidence.append(self._cascade_evidence(self.cascades_[0]))
        own = self.out_of_fold_
        evidence.append(
            EstimateEvidence(
                name="out-of-fold error of cascades with the fitted degrees and fractions",
                value=own.error,
                n=len(own.codes),
                used_for_selection=True,  # degrees and fractions were chosen with these rows
            )
        )
        return evidence

    # --- helpers -------------------------------------------------------------------------------------------

    def _rows(self, X: Any) -> NDArray[np.float64]:
        table = begin_predict(self, X)
        return self._encoder.transform(table)

    def _scores(self, parts: Sequence[Evaluation]) -> NDArray[np.float64]:
        return class_columns([part.scores for part in parts], len(self.classes_))

    def _evaluate(self, X: Any) -> list[Evaluation]:
        design = self._rows(X)
        return [cascade.evaluate(design, n_jobs=self.n_jobs) for cascade in self.cascades_]

    def _record(self, X: Any) -> LeafRecord:
        parts = self._evaluate(X)
        return LeafRecord.of(
            self._scores(parts),
            np.column_stack([part.leaf for part in parts]),
            np.column_stack([distance_of(part.scores) for part in parts]),
        )

    def _codes(self, y: Any, n: int) -> NDArray[np.int64]:
        labels = np.asarray(y).ravel()
        if len(labels) != n:
            raise ValueError(f"X has {n} rows, but y has {len(labels)} labels.")
        codes = np.searchsorted(self.classes_, labels)
        codes = np.minimum(codes, len(self.classes_) - 1)
        unknown = labels[self.classes_[codes] != labels]
        if len(unknown):
            raise ValueError(f"y has labels that were not there in training, such as {unknown[0]!r}.")
        return codes

    def _task_name(self, t: int) -> Any:
        return "all" if len(self.cascades_) == 1 else self.classes_[t]

    def _task_right(self, t: int, scores: NDArray[np.float64], codes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the task's own question is answered rightly: its class or not, or which class."""
        if scores.ndim == 2:
            return scores.argmax(axis=1) == codes
        return (scores > 0) == (codes == (1 if len(self.cascades_) == 1 else t))

    def _ledger(self, t: int) -> LeafLedger:
        cascade, kernels = self.cascades_[t], self.kernels_
        m = max(1, int(np.ceil(cascade.plus.sum() + cascade.minus.sum())))
        own = KernelChoice(kernels.kernel, tuple(cascade.degrees.tolist()), kernels.n_features)
        growth = own.log_growth(m, self.growth)
        if kernels.kernel == "rbf":
            dimension: Any = np.full(
                cascade.n_leaves, m
            )  # infinite; no more than m points can be shattered here
        else:
            homogeneous = kernels.kernel == "homogeneous"
            dimension = vc_dimension(kernels.n_features, cascade.degrees, homogeneous=homogeneous)
        scale = 1.0 if self.gamma_scale_ is None else self.gamma_scale_
        return LeafLedger(
            depth=cascade_depths(cascade.n_leaves),
            path=np.array(_paths(cascade), dtype=object),
            correct=cascade.plus,
            errors=cascade.minus,
            degree=cascade.degrees,
            vc_dimension=dimension,
            log_growth=growth,
            complexity_term=4.0 * scale * cascade_complexity(growth, m),
            gamma_scale=scale,
        )

    def _cascade_evidence(self, cascade: Cascade) -> CascadeEvidence:
        kernels, whole = self.kernels_, bool((cascade.plus % 1 == 0).all() and (cascade.minus % 1 == 0).all())
        plus, minus = (np.rint(part).astype(np.int64) for part in (cascade.plus, cascade.minus))
        m = max(1, int(plus.sum() + minus.sum()))
        growth = KernelChoice(kernels.kernel, tuple(cascade.degrees.tolist()), kernels.n_features).log_growth(
            m
        )
        own = self.out_of_fold_
        shares = np.bincount(own.codes, weights=own.weight) / own.weight.sum()
        return CascadeEvidence(
            majority_error=1.0 - float(shares.max()),
            correct=plus,
            errors=minus,
            complexity=cascade_complexity(growth, m, variant="smaller"),
            n_families=cascade_family_count(len(kernels.degrees), self.max_leaves),
            max_leaves=self.max_leaves,
            criterion_complexity=cascade_complexity(growth, m) if self.gamma_scale_ else None,
            gamma_scale=self.gamma_scale_ or None,
            unweighted=self._is_counted and whole,
            affine_features=self._is_affine,
        )


def _paths(cascade: Cascade) -> list[str]:
    """The way to each leaf in words."""
    words, way = [], []
    for k, node in enumerate(cascade.nodes, start=1):
        if node.fraction is None:
            words.append(" and ".join(way) if way else "all points")
        else:
            words.append(" and ".join([*way, f"|f{k}| > {node.threshold:.4g}"]))
            way.append(f"|f{k}| <= {node.threshold:.4g}")
    return words
