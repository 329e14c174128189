"""The fitted model of the SVM cascades: one frozen object that predicts, explains and gives evidence.

`OutOfFold` are held-out scores of the fitted structure, on which calibration, estimates and the reject option
are based. `LeafCalibrator` calibrates every leaf by itself, since scores of different SVMs differ.
`CascadeModel` holds the trained chains. Its sections: predictions; where rows leave, and at what cost; the
ledger, the evidence for certificates and the key figures; explanations of single rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from surewood._arrays import AnyArray, Codes, Counts, Floats
from surewood.base.calibration import ScoreCalibrator
from surewood.base.describing import Exit, Facts, figure
from surewood.base.time_limit import NO_LIMIT, TimeLimit
from surewood.bounds import LeafLedger, cascade_complexity, cascade_family_count
from surewood.bounds.cascade import cascade_depths, native_cascade_complexity
from surewood.bounds.evidence import CascadeEvidence, EstimateEvidence, Evidence
from surewood.cascade.chain import Cascade, Evaluation, class_columns, joined, predicted_of
from surewood.cascade.data import encoded
from surewood.cascade.reject import LeafRecord
from surewood.cascade.report_facts import exits_of
from surewood.cascade.search import SearchResult
from surewood.cascade.svm_trainer import KernelChoice
from surewood.families import distance_of
from surewood.parallel.progress import stage
from surewood.svm.one_vs_one import nearest_support
from surewood.tables import DesignEncoder, Table, by_label, plain

_ENOUGH = 20  # held-out points that a leaf needs for a calibrator of its own


@dataclass(frozen=True)
class OutOfFold:
    """Scores of training rows by cascades of the fitted structure that were trained without them."""

    #: Shape (n, n_classes).
    scores: Floats
    #: Shape (n, n_cascades).
    leaf: Counts
    distance: Floats
    #: Shape (n,).
    codes: Codes
    weight: Floats

    @property
    def error(self) -> float:
        """Weighted error rate."""
        return float(self.weight @ (self.scores.argmax(axis=1) != self.codes)) / float(self.weight.sum())


class LeafCalibrator:
    """One calibrator per leaf, and one for all leaves with few held-out points.

    Parameters
    ----------
    method : str, default="auto"
        See :class:`~surewood.base.calibration.ScoreCalibrator`.

    Examples
    --------
    >>> scores = np.array([[-1.0, 1.0], [2.0, -2.0], [-1.0, 1.0]])
    >>> leaf = np.zeros(3, dtype=np.int64)
    >>> calibrator = LeafCalibrator().fit(scores, np.array([1, 0, 1]), np.ones(3), leaf)
    >>> calibrator.transform(scores, leaf).argmax(axis=1)
    array([1, 0, 1])
    """

    def __init__(self, method: str = "auto") -> None:
        self.method = method

    def fit(
        self,
        scores: Floats,
        codes: Codes,
        weight: Floats,
        leaf: Counts,
        verbose: int = 0,
        limit: TimeLimit = NO_LIMIT,
    ) -> LeafCalibrator:
        """Fit on held-out scores and the leaves they came from."""
        leaves = [k for k in np.unique(leaf) if _ENOUGH <= (leaf == k).sum() < len(leaf)]
        self.by_leaf_: dict[int, ScoreCalibrator] = {}
        with stage(verbose, "calibrating", 1 + len(leaves)) as advance:
            self.shared_ = ScoreCalibrator(self.method, kind="decisions")
            self.shared_.fit(scores, codes, weight, limit=limit.divided(1 + len(leaves)))
            advance(1)
            for number, k in enumerate(leaves):
                here, calibrator = leaf == k, ScoreCalibrator(self.method, kind="decisions")
                part = limit.divided(len(leaves) - number)
                calibrator.fit(scores[here], codes[here], weight[here], limit=part)
                self.by_leaf_[int(k)] = calibrator
                advance(1)
        return self

    def transform(self, scores: Floats, leaf: Counts) -> Floats:
        """Probabilities with the largest at the largest score."""
        proba = self.shared_.transform(scores)
        for k, calibrator in self.by_leaf_.items():
            here = leaf == k
            if here.any():
                proba[here] = calibrator.transform(scores[here])
        return proba


def calibrated_leaf(leaves: Sequence[Counts]) -> Counts:
    """The leaf that a row's probabilities depend on: with one cascade per class, none."""
    return leaves[0] if len(leaves) == 1 else np.zeros(len(leaves[0]), dtype=np.int64)


# --- held-out scores, and the probabilities that are calibrated on them ----------------------------------


SCALES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, np.inf)  # of the thresholds, for the curve of accuracy

Detail = dict[str, Any]


@dataclass(frozen=True)
class CascadeModel:
    """Fitted SVM cascades. Everything here was recorded by ``fit``; later parameters do not matter [D-37]."""

    #: One, or one per class for one-vs-rest.
    cascades: tuple[Cascade, ...]
    #: One per cascade.
    search: tuple[SearchResult, ...]
    #: Scores of training rows by cascades of the same structure that did not see them.
    out_of_fold: OutOfFold
    #: All degrees that were offered.
    kernels: KernelChoice
    #: Shape (n_cascades, n_degrees).
    C: Floats
    #: None where no γ selected the cascade (a single SVM chosen by cross-validation).
    gamma_scale: float | None
    growth: str
    max_leaves: int
    #: Labels by class code.
    classes: AnyArray
    encoder: DesignEncoder
    calibrator: LeafCalibrator | None
    #: Row of the training table of each row of the sample.
    origin: Counts
    #: See :class:`~surewood.cascade.data.CascadeData`.
    is_affine: bool
    is_counted: bool

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def is_calibrated(self) -> bool:
        return self.calibrator is not None

    @property
    def held_out(self) -> Floats:
        """Scores of training rows by cascades that did not see them, one column per class."""
        return self.out_of_fold.scores

    # --- predictions ---------------------------------------------------------------------------------------

    def probabilities(self, rows: Table, n_jobs: int | None) -> Floats:
        """Calibrated class probabilities."""
        return self.calibrated(self.evaluate(self.encode(rows), n_jobs=n_jobs))

    def encode(self, rows: Table) -> Floats:
        """Rows as the SVMs see them."""
        return encoded(self.encoder, rows)

    def evaluate(
        self, design: Floats, *, scale: float = 1.0, n_leaves: int | None = None, n_jobs: int | None = None
    ) -> list[Evaluation]:
        """Rows after each cascade; see :meth:`Cascade.evaluate`."""
        return [
            cascade.evaluate(design, scale=scale, n_leaves=n_leaves, n_jobs=n_jobs)
            for cascade in self.cascades
        ]

    def scores(self, evaluations: Sequence[Evaluation]) -> Floats:
        """One score per class, from the evaluations by all cascades."""
        return class_columns([evaluation.scores for evaluation in evaluations], self.n_classes)

    def calibrated(self, evaluations: Sequence[Evaluation]) -> Floats:
        """Class probabilities, from the evaluations by all cascades."""
        if self.calibrator is None:
            raise AttributeError("this cascade was fitted with calibrate=False: it has no probabilities.")
        return self.calibrator.transform(
            self.scores(evaluations), calibrated_leaf([evaluation.leaf for evaluation in evaluations])
        )

    def record(self, design: Floats, n_jobs: int | None = None) -> LeafRecord:
        """Predicted code, deciding cascade, leaf and distance of every row, for the reject option."""
        return LeafRecord.of(*joined(self.evaluate(design, n_jobs=n_jobs), self.n_classes))

    # --- where rows leave ----------------------------------------------------------------------------------

    def exits(self, design: Floats, codes: Codes | None, n_jobs: int | None) -> list[list[Exit]]:
        """The leaves of each cascade, with the rows that leave there."""
        exits = []
        for t, (cascade, evaluation) in enumerate(zip(self.cascades, self.evaluate(design, n_jobs=n_jobs))):
            is_correct = None
            if codes is not None:
                target = codes if len(self.cascades) == 1 else (codes == t).astype(np.int32)
                is_correct = predicted_of(evaluation.scores) == target
            thresholds = [node.threshold for node in cascade.nodes]
            work = np.cumsum([node.n_support for node in cascade.nodes]).tolist()
            exits.append(exits_of(evaluation.leaf, is_correct, cascade.degrees.tolist(), thresholds, work))
        return exits

    def latency_curve(
        self, design: Floats, codes: Codes, scales: Sequence[float], n_jobs: int | None
    ) -> pd.DataFrame:
        """Accuracy against the mean work per row, for thresholds multiplied by each scale."""
        curve = []
        for scale in scales:
            if not scale >= 0:
                raise ValueError(f"scales must be numbers of at least 0, got {scale!r}.")
            evaluations = self.evaluate(design, scale=float(scale), n_jobs=n_jobs)
            curve.append(
                {
                    "scale": float(scale),
                    "kernel_values": float(sum(evaluation.work.mean() for evaluation in evaluations)),
                    "accuracy": float((self.scores(evaluations).argmax(axis=1) == codes).mean()),
                    "left_at_first": float(
                        np.mean([(evaluation.leaf == 0).mean() for evaluation in evaluations])
                    ),
                }
            )
        return pd.DataFrame(curve)

    # --- ledger and evidence -------------------------------------------------------------------------------

    def ledger(self, t: int) -> LeafLedger:
        """One row per leaf of cascade `t`, with the terms of the criterion (3.8)."""
        cascade = self.cascades[t]
        m = max(1, int(np.ceil(cascade.plus.sum() + cascade.minus.sum())))
        kernels = self.kernels.of_degrees(cascade.degrees.tolist())
        growth = kernels.log_growth(m, self.growth)
        scale = 1.0 if self.gamma_scale is None else self.gamma_scale
        return LeafLedger(
            depth=cascade_depths(cascade.n_leaves),
            path=np.array(cascade.paths_in_words(), dtype=object),
            correct=cascade.plus,
            errors=cascade.minus,
            degree=cascade.degrees,
            vc_dimension=kernels.vc_dimension(m),
            log_growth=growth,
            complexity_term=4.0 * scale * cascade_complexity(growth, m),
            gamma_scale=scale,
        )

    def evidence(self) -> list[Evidence]:
        """Counts for (3.2) or [D-47], where one applies, and the out-of-fold error."""
        estimate = EstimateEvidence(
            name="out-of-fold error of cascades with the fitted degrees and fractions",
            value=self.out_of_fold.error,
            n=len(self.out_of_fold.codes),
            used_for_selection=True,  # degrees and fractions were chosen with these rows
        )
        # One against the rest: a label compares values of several cascades, which no theorem here covers.
        has_counts = len(self.cascades) == 1 and self.n_classes > 1 and self.kernels.kernel == "poly"
        return [self._counts(), estimate] if has_counts else [estimate]

    def _counts(self) -> CascadeEvidence:
        cascade, held_out = self.cascades[0], self.out_of_fold
        whole = bool((cascade.plus % 1 == 0).all() and (cascade.minus % 1 == 0).all())
        plus, minus = (np.rint(counts).astype(np.int64) for counts in (cascade.plus, cascade.minus))
        m = max(1, int(plus.sum() + minus.sum()))
        kernels = self.kernels.of_degrees(cascade.degrees.tolist())
        growth = kernels.log_growth(m)
        if self.n_classes == 2:
            complexity = cascade_complexity(growth, m, variant="smaller")
        else:
            complexity = native_cascade_complexity(kernels.vc_dimension(m), m, self.n_classes)
        frequency = np.bincount(held_out.codes, weights=held_out.weight) / held_out.weight.sum()
        return CascadeEvidence(
            majority_error=1.0 - float(frequency.max()),
            correct=plus,
            errors=minus,
            complexity=complexity,
            n_families=cascade_family_count(len(self.kernels.degrees), self.max_leaves),
            max_leaves=self.max_leaves,
            n_classes=self.n_classes,
            criterion_complexity=cascade_complexity(growth, m) if self.gamma_scale else None,
            gamma_scale=self.gamma_scale or None,
            unweighted=self.is_counted and whole,
            affine_features=self.is_affine,
            learned_representation=self.encoder.learned_,
        )

    def facts(self) -> list[Facts]:
        """Key figures."""
        cascades = self.cascades
        degrees = sorted({int(degree) for cascade in cascades for degree in cascade.degrees})
        n_support = sum(node.n_support for cascade in cascades for node in cascade.nodes)
        is_proven = all(result.proven for result in self.search)
        return [
            figure("cascade" if len(cascades) == 1 else "cascades, one per class", len(cascades)),
            figure("leaves in the longest", max(cascade.n_leaves for cascade in cascades)),
            figure("degrees of the SVMs", ", ".join(map(str, degrees)), "text"),
            figure("support vectors", n_support),
            penalty_figure(self.gamma_scale),
            figure("proven to be the minimum", "yes" if is_proven else "no", "text"),
            figure("SVMs trained in the search", int(sum(result.n_svms for result in self.search))),
        ]

    # --- explanations --------------------------------------------------------------------------------------

    def explain(self, rows: Table, n_jobs: int | None) -> list[Detail]:
        """One dictionary per row: class scores and path through each cascade."""
        design, labels = self.encode(rows), [plain(label) for label in self.classes]
        evaluations = self.evaluate(design, n_jobs=n_jobs)
        names = [None] if len(self.cascades) == 1 else labels
        paths = []
        for cascade, name in zip(self.cascades, names):
            scores = [node.scores(design, cascade.n_classes, n_jobs) for node in cascade.nodes]
            paths.append(
                [
                    self._path(
                        cascade, name, [node_scores[row] for node_scores in scores], design[row], labels
                    )
                    for row in range(len(design))
                ]
            )
        return explained_rows(labels, self.scores(evaluations), paths)

    def _path(
        self, cascade: Cascade, name: Any, scores: list[Any], row: Floats, labels: Sequence[Any]
    ) -> Detail:
        """The path of a row through one cascade, whose class is `name` (None: all classes)."""
        path: list[Detail] = []
        nodes: list[Detail] = []
        for k, (node, score) in enumerate(zip(cascade.nodes, scores)):
            distance = float(distance_of(np.asarray(score)[None])[0])
            is_last = k + 1 == cascade.n_leaves
            goes_on = not is_last and distance <= node.threshold
            nodes.append(
                {
                    "node": k,
                    "degree": int(node.degree),
                    "decision": plain(score) if np.ndim(score) == 0 else by_label(labels, score),
                    "distance": plain(distance),
                    "threshold": None if is_last else plain(node.threshold),
                    "goes_on": bool(goes_on),
                }
            )
            if not is_last:
                path.append(path_step(k + 1, goes_on, node.threshold, distance))
            if not goes_on:
                break
        support = []
        if node.predictor is not None:
            classes = list(labels) if name is None else [f"not {name}", name]
            origin = self.origin[node.predictor.support_index]
            support = nearest_support(node.predictor, row, classes, origin)
        return {
            "class": name,
            "leaf": k,
            "degree": int(node.degree),
            "correct": float(node.plus),
            "errors": float(node.minus),
            "path": path,
            "nodes": nodes,
            "support": support,
        }


def penalty_figure(gamma_scale: float | None) -> Facts:
    """The key figure of γ."""
    label = "γ, scale of the complexity penalty"
    return figure(label, gamma_scale) if gamma_scale else figure(label, "not used", "text")


def explained_rows(labels: Sequence[Any], scores: Floats, paths: Sequence[Sequence[Detail]]) -> list[Detail]:
    """What ``explain`` returns, from scores per class and the path of every row through each cascade."""
    return [
        {"votes": by_label(labels, row), "cascades": list(cascade_paths)}
        for row, *cascade_paths in zip(scores, *paths)
    ]


def path_step(number: int, goes_on: bool, threshold: float, distance: float) -> Detail:
    """A step of a path: the distance from the boundary of classifier `number` against its threshold."""
    return {
        "feature": f"|f{number}|",
        "operator": "<=" if goes_on else ">",
        "value": plain(threshold),
        "actual": plain(distance),
    }
