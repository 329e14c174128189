"""A small family that only the tests know, with the roles of `surewood.base.family`: nearest centroids."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from surewood.base import describing
from surewood.base.base import ClassifierBase
from surewood.base.parameters import COMMON, RunParameters, checked_parameters, parameters
from surewood.base.rules import Number
from surewood.bounds.evidence import EstimateEvidence
from surewood.tables import DesignEncoder

SAVED_TYPES = frozenset({"tests.toy_family.ToyClassifier", "tests.toy_family.ToyModel"})


@dataclass(frozen=True)
class ToyPlan:
    sharpness: float


def make_plan(parameters, data, seed):
    return ToyPlan(float(parameters["sharpness"]))


def train(plan, data):
    encoder = DesignEncoder().fit(data.table, data.weight)
    design = encoder.transform(data.table)
    weight = np.ones(len(design)) if data.weight is None else data.weight
    centroids = np.full((data.n_classes, design.shape[1]), 1e6)  # no rows of weight: far away
    for k in np.unique(data.y):
        centroids[k] = np.average(design[data.y == k], axis=0, weights=weight[data.y == k])
    mass = np.bincount(data.y, weight, data.n_classes) / weight.sum()
    model = ToyModel(plan.sharpness, encoder, centroids, mass, data.classes, np.nan, len(data.y))
    wrong = model.probabilities(data.table, None).argmax(axis=1) != data.y
    return replace(model, training_error=float(np.average(wrong, weights=weight)))


@dataclass(frozen=True)
class ToyModel:
    sharpness: float
    encoder: DesignEncoder
    centroids: Any
    mass: Any
    classes: Any
    training_error: float
    n_rows: int
    held_out: None = None

    def distances(self, rows):
        return ((self.encoder.transform(rows)[:, None, :] - self.centroids[None]) ** 2).mean(axis=2)

    def probabilities(self, rows, n_jobs):
        distance = self.distances(rows)
        score = self.mass * np.exp(-self.sharpness * (distance - distance.min(axis=1, keepdims=True)))
        return score / score.sum(axis=1, keepdims=True)

    def explain(self, rows, n_jobs):
        labels = [str(label) for label in self.classes]
        return [{"distances": dict(zip(labels, row.tolist()))} for row in self.distances(rows)]

    def evidence(self):
        yield EstimateEvidence(
            name="training error", value=self.training_error, n=self.n_rows, used_for_selection=True
        )


@parameters({**COMMON, "sharpness": Number(above=0)})
class ToyClassifier(ClassifierBase[ToyModel], RunParameters):
    """Probabilities fall with the squared distance to the centroid of each class."""

    _kind = "toy"
    max_training_rows = 90
    sharpness: float = field(default=1.0, kw_only=False)

    @staticmethod
    def settings_for(n_rows, n_classes):
        return {"sharpness": 1.0 + n_rows / 100}

    def fit(self, X, y=None, sample_weight=None):
        values = checked_parameters(self)
        with self._begin_fit(X, y, sample_weight) as inputs:
            model = train(make_plan(values, inputs, seed=0), inputs)
            self._store_fit(inputs)
            self.model_ = model
        return self

    def __report_facts__(self, rows):
        """Number of centroids, and a bar chart of their norms."""
        norms = np.linalg.norm(self.model_.centroids, axis=1).tolist()
        names, series = [str(label) for label in self.classes_], [describing.series("norm", norms)]
        bars = [{"name": "", "names": names, "series": series}]
        title, text = "Toy of centroids", "The class of the nearest centroid."
        sections = [describing.section(title, [describing.chart("bars", "Norms of the centroids", bars)])]
        return describing.report_facts(title, text, [describing.figure("centroids", len(norms))], sections)

    def __explanation_steps__(self, explained):
        shown = (f"{label}: {distance:.3g}" for label, distance in explained["distances"].items())
        return [describing.step("Centroids", [f"distances: {', '.join(shown)}"])]
