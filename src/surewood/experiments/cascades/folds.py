"""One fold of the protocol of *Learning with Deep Cascades* (theory.md §3.8), ready for searching.

Five shuffled folds; fold j is the test part, fold j + 1 the validation part, the other three the training
part. Scaling and SVMs come from the training part, C of every degree from the validation error of a
single SVM ([D-12]).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.cascade.model_selection import DeepCascadeSVMClassifierCV
from surewood.cascade.plan import CascadeSettings, problems_of, read_settings
from surewood.cascade.prefix_tree import Path
from surewood.cascade.sample import Sample, make_sample
from surewood.cascade.tasks import Task, choose_C, prepare
from surewood.datasets import load
from surewood.svm import Gram
from surewood.tables import begin_fit

N_FOLDS = 5
Rows = NDArray[np.int32]


@dataclass
class Fold:
    """Training, validation and test rows of one fold, and the prefix tree of the training part."""

    name: str
    j: int
    task: Task
    sample: Sample
    train: Rows
    validation: Rows
    test: Rows
    parameters: CascadeSettings
    C: NDArray[np.float64]

    def error(self, path: Path, rows: Rows) -> float:
        """Error on some rows of a cascade trained on the training part."""
        scores = self.task.build(path).evaluate(self.sample.design[rows]).scores
        return float(((scores > 0) != (self.sample.codes[rows] == 1)).mean())


def folds_of(n: int, seed: int) -> NDArray[np.int64]:
    """Fold of every row: shuffled, not stratified."""
    fold = np.empty(n, dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(n)] = np.arange(n) % N_FOLDS
    return fold


def data_of(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """The rows of a data set that the paper used."""
    data = load(name)
    return data.part_of("cascades") if "cascades" in data.papers else data.train


def prepare_fold(name: str, j: int, seed: int = 0, **changes: Any) -> Fold:
    """Read a data set and plant the prefix tree of one fold; `changes` are parameters of the cascades."""
    X, y = data_of(name)
    model = DeepCascadeSVMClassifierCV(**changes)
    parameters = read_settings(model)
    inputs = begin_fit(model, X, y, merge=False)
    fold = folds_of(len(inputs.y), seed)
    held = (j + 1) % N_FOLDS
    test, validation = (np.flatnonzero(fold == k).astype(np.int32) for k in (j, held))
    train = np.flatnonzero((fold != j) & (fold != held)).astype(np.int32)
    sample = make_sample(inputs, None, scaled_on=train)
    gram = Gram(sample.design)
    problem = problems_of(sample, "one_vs_rest")[0]
    C = choose_C(sample, gram, problem, parameters, [(train, validation)])
    task = prepare(sample, gram, problem, parameters, C, train)
    return Fold(name, j, task, sample, train, validation, test, parameters, np.asarray(C))
