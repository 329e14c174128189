"""Fitted models of every exported estimator in many settings: what a model file can hold."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import surewood
from surewood.cascade import BinaryTreeFamily, EstimatorFamily, GaussianFamily, LinearFamily, TreeFamily
from surewood.certify import CostClassifier, CrossFittedClassifier, PredictionSets, find_threshold
from surewood.tables import TablePreparer
from surewood.tables.preparing import TrainingRows
from surewood.tables.table_file import FileRows
from tests.contract.estimators import deterministic, exported


def table(numbers_only: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    """A table by formula, the same for ever: numbers, a category, missing values, three classes."""
    k = np.arange(60.0)
    frame = pd.DataFrame({"a": np.sin(k), "b": np.cos(1.7 * k), "c": np.where(k % 7 == 0, np.nan, k % 5)})
    if not numbers_only:
        frame["d"] = pd.Series([("red", "green", "blue")[int(i) % 3] for i in k], dtype=object)
    y = np.digitize(np.sin(k) + 0.4 * np.cos(3.1 * k), [-0.5, 0.5])
    return frame, np.array(["low", "middle", "high"])[y]


IN_FOLD = {"cross_fit": "in_fold"}
#: Further settings of each estimator, beyond its small ones.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "BinnedForestClassifier": [
        {"calibrate": True},
        {"calibrate": "temperature"},
        {"remember_rows": False, "class_weight": "balanced"},
        {"criterion": "entropy", "max_depth": 2, "oob_score": True},
    ],
    "BoostedTreesClassifier": [
        {"calibrate": False, "class_weight": "balanced"},
        {"max_leaf_nodes": 4, "min_samples_leaf": 5, "remember_rows": False},
    ],
    "CascadeForestClassifier": [
        {"forests": ["random", LogisticRegression()]},
        {"study": IN_FOLD, "calibrate": False},
    ],
    "CompositeTreeClassifier": [
        {"max_depth": 2},
        {"degrees": (1, 3), "C": 1.0},
        {"max_depth": 1, "study": {"leaves": [GaussianFamily(), "tree"]}},
    ],
    "DeepCascadeClassifier": [
        {"leaves": ["stump", "linear_svm", "constant"], "splits": ["threshold"]},
        {"leaves": [TreeFamily(2), EstimatorFamily(LogisticRegression(), 2)], "splits": [LinearFamily()]},
        {"leaves": ["quadratic", "rbf"], "splits": ["tree", "logistic"], "gamma_scale": 1e-4},
        {"leaves": [BinaryTreeFamily(["constant"], ["stump"]), GaussianFamily()], "gamma_scale": 1e-4},
    ],
    "DeepCascadeSVMClassifier": [
        {"gamma_scale": 1e-3, "multiclass": "native"},
        {"gamma_scale": 1e-3, "calibrate": False},
        {"kernel": "rbf"},
    ],
    "DeepCascadeSVMClassifierCV": [{"calibrate": "isotonic"}],
    "MarginDeepForestClassifier": [
        {"forests": ["random", "completely_random", "extra", LogisticRegression()], "study": IN_FOLD},
        {"forests": ["contrast"]},
        {"calibrate": "temperature", "study": {"step": "literal", "layer_inputs": "scores"}},
    ],
    "MarginDeepForestClassifierCV": [{"forests": ["random"]}],
    "MultiGrainedScanner": [{"windows": [2]}],
    "PolySVC": [
        {"degree": 2, "calibrate": True},
        {"degree": 2, "calibrate": "isotonic"},
        {"degree": 3, "C": 10.0},
    ],
    "RandomCompositeForestClassifier": [
        {"study": {"leaf_scores": "ovo_votes"}, "plain_weight": 0.5},
        {"calibrate": "temperature", "degrees": (1, 2), "max_depth": 2},
        {"calibrate": False, "selection": "random_sequences"},
    ],
    "RandomCompositeForestClassifierCV": [{"calibrate": True}],
    "SurewoodClassifier": [],
}


def binary() -> tuple[pd.DataFrame, np.ndarray]:
    """The table of the saved models with two classes."""
    frame, y = table()
    return frame, np.where(y == "low", "low", "high")


def numbers() -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers only, none missing, two classes."""
    frame, y = table(numbers_only=True)
    return frame.fillna(0.0), np.where(y == "low", 0, 1)


def samples(cls: type) -> list[tuple[Any, np.ndarray]]:
    """The tables that an estimator can be fitted on."""
    if not hasattr(cls, "predict"):
        return [numbers()]
    return (
        [binary(), numbers()] if cls.__name__ == "DeepCascadeClassifier" else [table(), binary(), numbers()]
    )


@cache
def fitted(name: str) -> tuple[tuple[str, Any, Any], ...]:
    """(label, model, table) of one estimator in all its settings."""
    return tuple(_fitted(getattr(surewood, name)))


def _fitted(cls: type) -> Iterator[tuple[str, Any, Any]]:
    for X, y in samples(cls):
        yield f"{cls.__name__}, {len(X.columns)} columns", deterministic(cls).fit(X, y), X
    X, y = samples(cls)[0]
    for setting in SETTINGS[cls.__name__]:
        yield f"{cls.__name__} {setting}", deterministic(cls, **setting).fit(X, y), X
    if hasattr(cls, "predict"):
        pipeline = make_pipeline(TablePreparer(), deterministic(cls))
        yield f"{cls.__name__} in a pipeline", pipeline.fit(X.assign(d2=X["d"]), y), X.assign(d2=X["d"])


def names() -> list[str]:
    """Every exported estimator."""
    return [cls.__name__ for cls in exported()]


def raw_table(n: int = 90) -> tuple[pd.DataFrame, np.ndarray]:
    """Dates, times, money, truth values, free text and codes, as people write them."""
    k = np.arange(n)
    words = np.array(["late delivery", "broken box", "kind answer", "wrong colour", "good price"])
    frame = pd.DataFrame(
        {
            "born": [f"{1950 + i % 40}-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in k],
            "pay": [f"${1000 + 37 * i % 900:,}.50" for i in k],
            "member": np.where(k % 3 == 0, "yes", "no"),
            "lasted": [f"{i % 9}:{i % 60:02d}" for i in k],
            "notes": [f"{words[i % 5]} and {words[i * 7 % 5]} on day {i} of many" for i in k],
            "city": np.array(["Rome", "Oslo", "Kyiv"])[k % 3],
            "same": 1,
        }
    )
    return frame, np.where((k % 3 == 0) ^ (k % 7 < 3), "stays", "leaves")


@cache
def others() -> tuple[tuple[str, Any, Any], ...]:
    """Pipelines on raw tables, and models with thresholds, costs or prediction sets."""
    X, y = raw_table()
    pipeline = make_pipeline(TablePreparer(), deterministic(surewood.BinnedForestClassifier)).fit(X, y)
    halves = [(f"{name}.csv", "line", np.arange(2, 2 + len(X) // 2)) for name in "ab"]
    pipeline[0].rows_ = TrainingRows(FileRows.of(halves))  # as a fit from two files does
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((1200, 3))
    z = (Z[:, 0] + 0.3 * rng.standard_normal(1200) > 0).astype(int)
    forest = surewood.BinnedForestClassifier(20, random_state=0).fit(Z[:400], z[:400])
    held = Z[400:], z[400:]
    return (
        ("raw table", pipeline, X),
        ("threshold", find_threshold(forest, *held, recall=0.6), Z[:50]),
        ("abstaining", find_threshold(forest, *held, accepted_error=0.2), Z[:50]),
        ("cost", CostClassifier(forest, [[0.0, 1.0], [5.0, 0.0]]), Z[:50]),
        (
            "cross-fitted",
            CrossFittedClassifier(surewood.BinnedForestClassifier(2, random_state=0)).fit(*held),
            Z[:50],
        ),
        ("sets", PredictionSets(forest, 0.1, by="class").fit(*held, X_train=Z[:400]), Z[:50]),
    )
