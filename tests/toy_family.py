"""A small family that only the tests know: the class of the nearest centroid, as a user might write it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surewood.base import describing
from surewood.base.base import ClassifierBase
from surewood.base.parameters import COMMON, check_parameters
from surewood.base.rules import Number
from surewood.bounds.evidence import EstimateEvidence
from surewood.tables import DesignEncoder, begin_fit, begin_predict

#: What a model file of this family may hold.
SAVED_TYPES = frozenset({"tests.toy_family.ToyClassifier"})


class ToyClassifier(ClassifierBase):
    """Probabilities fall with the squared distance to the centroid of each class."""

    _parameter_rules: ClassVar = {
        "sharpness": Number(above=0),
        "random_state": COMMON["random_state"],
        "n_jobs": COMMON["n_jobs"],
        "verbose": COMMON["verbose"],
    }
    max_training_rows = 90

    def __init__(self, sharpness=1.0, n_jobs=None, random_state=None, verbose=0):
        self.sharpness = sharpness
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @staticmethod
    def settings_for(n_rows, n_classes):
        """Sharper with more rows."""
        return {"sharpness": 1.0 + n_rows / 100}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn the centroids."""
        check_parameters(self)
        with begin_fit(
            self, X, y, sample_weight, class_weight=None, categorical_features="from_dtype"
        ) as inputs:
            encoder = DesignEncoder().fit(inputs.table, inputs.weight)
            design, codes = encoder.transform(inputs.table), inputs.y
            weight = np.ones(len(design)) if inputs.weight is None else inputs.weight
            inputs.store(self)
        self.encoder_ = encoder
        self.centroids_ = np.full((len(self.classes_), design.shape[1]), 1e6)  # no rows of weight: far away
        for k in np.unique(codes):
            self.centroids_[k] = np.average(design[codes == k], axis=0, weights=weight[codes == k])
        wrong = self._proba(design).argmax(axis=1) != codes
        self.training_error_ = float(np.average(wrong, weights=weight))
        self.n_training_ = len(codes)
        return self

    def _proba(self, design: Any) -> Any:
        distance = ((design[:, None, :] - self.centroids_[None]) ** 2).mean(axis=2)
        score = np.exp(-self.sharpness * (distance - distance.min(axis=1, keepdims=True)))
        return score / score.sum(axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities, one column per class."""
        check_is_fitted(self, "centroids_")
        return self._proba(self.encoder_.transform(begin_predict(self, X)))

    def _explained(self, X: Any) -> list[dict[str, Any]]:
        """Distance to every centroid."""
        design = self.encoder_.transform(begin_predict(self, X))
        distance = ((design[:, None, :] - self.centroids_[None]) ** 2).mean(axis=2)
        labels = [str(label) for label in self.classes_]
        details = [{"distances": dict(zip(labels, row.tolist()))} for row in distance]
        return self._explanations("toy", self._proba(design), details)

    def __certificate_evidence__(self):
        """The training error, as an estimate."""
        yield EstimateEvidence(
            name="training error", value=self.training_error_, n=self.n_training_, used_for_selection=True
        )

    def __report_facts__(self, rows):
        """Number of centroids, and a bar chart of their norms."""
        norms = np.linalg.norm(self.centroids_, axis=1).tolist()
        names = [str(label) for label in self.classes_]
        bars = [{"name": "", "names": names, "series": [describing.series("norm", norms)]}]
        return describing.report_facts(
            "Toy of centroids",
            "The class of the nearest centroid.",
            [describing.figure("centroids", len(norms))],
            [describing.section("Centroids", [describing.chart("bars", "Norms of the centroids", bars)])],
        )
