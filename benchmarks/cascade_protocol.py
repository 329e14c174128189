"""The protocol of *Learning with Deep Cascades* (theory.md §3.8) on its five data sets, fold by fold.

Five shuffled folds; fold j is the test part, fold j + 1 the validation part, the other three the training
part. Scaling, C and machines come from the training and validation part as the paper has it. `run_fold`
returns the test errors of every rule that chooses among cascades, `run_set` their means.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from surewood.cascade.choosing import FoldTask, choose, compare, held_out_scores, list_candidates
from surewood.cascade.parameters import check_svm_parameters
from surewood.cascade.sample import make_sample
from surewood.cascade.search import minimise
from surewood.cascade.svm_cv import DeepCascadeSVMClassifierCV
from surewood.cascade.svm_fit import choose_C, prepare, tasks_of
from surewood.datasets import load
from surewood.svm import Gram
from surewood.tables import begin_fit

#: name in the catalogue -> (published SVM error, published cascade error, published depth)
PUBLISHED = {
    "breast_cancer": (0.0426, 0.0353, 4),
    "german_numeric": (0.297, 0.256, 4),
    "splice": (0.205, 0.175, 3),
    "ionosphere": (0.0971, 0.117, 4),
    "a1a": (0.195, 0.209, 2),
}
PAPER_GAMMAS = (1.0, 0.1, 0.01)


@dataclass
class Fold:
    """Training, validation and test rows of one fold, ready for searching."""

    name: str
    j: int
    task: object
    sample: object
    validation: np.ndarray
    test: np.ndarray
    parameters: object
    errors: dict = field(default_factory=dict)


def folds_of(n: int, seed: int) -> np.ndarray:
    """Fold of every row: shuffled, not stratified."""
    fold = np.empty(n, dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(n)] = np.arange(n) % 5
    return fold


def prepare_fold(name: str, j: int, seed: int = 0, **changes: object) -> Fold:
    """Read a data set and plant the prefix tree of one fold."""
    data = load(name)
    X, y = data.part_of("cascades") if "cascades" in data.papers else data.train
    model = DeepCascadeSVMClassifierCV(**changes)
    parameters = check_svm_parameters(model)
    inputs = begin_fit(model, X, y, merge=False)
    fold = folds_of(len(inputs.y), seed)
    test, validation = np.flatnonzero(fold == j), np.flatnonzero(fold == (j + 1) % 5)
    train = np.flatnonzero((fold != j) & (fold != (j + 1) % 5)).astype(np.int32)
    sample = make_sample(inputs, None, None, scaled_on=train)
    gram = Gram(sample.design)
    problem = tasks_of(sample, "one_vs_rest")[0]
    C = choose_C(sample, gram, problem[1], parameters, [(train, validation.astype(np.int32))])
    task = prepare(sample, gram, problem, parameters, C, train)
    return Fold(name, j, task, sample, validation.astype(np.int32), test.astype(np.int32), parameters)


def error_of(fold: Fold, path: object, rows: np.ndarray) -> float:
    """Error on some rows of a cascade trained on the training part."""
    scores = fold.task.build(path).evaluate(fold.sample.design[rows]).scores
    return float(((scores > 0) != (fold.sample.codes[rows] == 1)).mean())


def paper_choice(fold: Fold) -> object:
    """The paper's rule: smallest validation error over its three γ, the larger γ on ties."""
    found = [minimise(fold.task.tree, fold.task.complexity, gamma) for gamma in PAPER_GAMMAS]
    errors = [error_of(fold, one.path, fold.validation) for one in found]
    return found[int(np.argmin(errors))]


def run_fold(name: str, j: int, seed: int = 0, *, gamma_min: float = 1e-3, **changes: object) -> dict:
    """Test errors of the plain SVM, of the paper's rule and of ours on one fold."""
    fold = prepare_fold(name, j, seed, **changes)
    one = FoldTask(fold.task, fold.validation)
    one.explore(gamma_min, (0.1, 0.01), fold.parameters.budget)
    candidates = list_candidates([one], len(fold.parameters.degrees), (0.1, 0.01))
    answers = held_out_scores([one], candidates, fold.sample.design, 2)
    table = compare(candidates, [answers], fold.sample.codes, fold.sample.weight, fold.parameters.degrees)
    plain = candidates[
        int(table.index[table["kind"] == "plain"][table[table["kind"] == "plain"]["error"].argmin()])
    ]
    row = {"svm": error_of(fold, one.path_of(plain), fold.test)}
    paper = paper_choice(fold)
    row["paper"], row["paper_leaves"] = error_of(fold, paper.path, fold.test), paper.path.n_leaves
    for name_of_rule, standard_errors in (("ours", 2.0), ("one_se", 1.0), ("best", 0.0)):
        path = one.path_of(candidates[choose(table, standard_errors)])
        row[name_of_rule], row[f"{name_of_rule}_leaves"] = error_of(fold, path, fold.test), path.n_leaves
    row["pieces"], row["machines"] = len(one.pieces), fold.task.tree.n_machines
    for leaves in (2, 3, 4):
        exact = [path for key, path in one.exact.items() if key.n_leaves == leaves and key.gamma == 0.01]
        row[f"exactly_{leaves}"] = error_of(fold, exact[0], fold.test) if exact else float("nan")
    return row
