"""What the extensions gain that the papers name without measuring them.

    python -m benchmarks.study_extensions [REPEATS]

Test errors in percent on the divisions of ``python -m papers rcf`` (training and validation part together),
mean over the repeats (3). Composite forests have 25 trees of depth 3, degrees 1 to 3 and γ = 1e-3; cascades
and trees of nodes have γ = 1e-3. Needs SUREWOOD_DATA.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from papers.datasets import load
from papers.protocol import seed_of
from papers.rcf.grid import divide
from surewood import DeepCascadeClassifier, RandomCompositeForestClassifier
from surewood.cascade import BinaryTreeFamily, KernelFamily

SETS = ("iris", "sonar", "vehicle", "german_numeric")
_FOREST = {"n_estimators": 25, "max_depth": 3, "degrees": (1, 2, 3), "gamma_scale": 1e-3, "calibrate": False}
_LEAVES = ("linear_svm", "quadratic")
_CASCADE = {"gamma_scale": 1e-3, "calibrate": False}


def forest(**changes: Any) -> Any:
    return RandomCompositeForestClassifier.exact(**{**_FOREST, **changes})


def tree(leaves: Any, splits: Any = ("linear_svm",)) -> Any:
    family = BinaryTreeFamily(leaves, splits, max_depth=2, fractions=(0.25, 0.5, 0.75), gamma_scale=1e-3)
    return DeepCascadeClassifier([family], [], max_leaves=1, **_CASCADE)


MODELS: dict[str, Callable[[], Any]] = {
    "RCF, exact minimum": lambda: forest(),
    "... of the whole Theorem 1": lambda: forest(selection="theorem"),
    "... C of every leaf by the criterion": lambda: forest(study={"C_per_leaf": True}),
    "... linear, tree and Gaussian leaves": lambda: forest(
        degrees="auto", study={"leaves": ("logistic", "tree", "gaussian")}
    ),
    "... the same and quadratic ones": lambda: forest(
        degrees="auto", study={"leaves": ("logistic", "tree", "gaussian", "quadratic")}
    ),
    "chain of SVMs, leaves retrained": lambda: DeepCascadeClassifier(_LEAVES, **_CASCADE),
    "... C per node": lambda: DeepCascadeClassifier(
        [KernelFamily("poly", degree, C) for degree in (1, 2) for C in (0.1, 1.0, 10.0)], **_CASCADE
    ),
    "binary tree of SVMs": lambda: tree(_LEAVES),
    "composite tree (stumps), SVM leaves": lambda: tree(_LEAVES, ("stump",)),
    "... with linear, tree and Gaussian ones": lambda: tree(("logistic", "tree", "gaussian"), ("stump",)),
}


def main(repeats: int = 3) -> None:
    print(f"| model | {' | '.join(SETS)} |\n|---|{'---|' * len(SETS)}")
    for name, make in MODELS.items():
        cells = []
        for dataset in SETS:
            X, y = load(dataset).part_of("rcf")
            errors = []
            for repeat in range(repeats):
                parts = divide(len(y), seed_of("rcf", dataset, repeat, "division"))
                rows = np.sort(np.concatenate([parts.train, parts.validation]))
                model = make().set_params(random_state=0).fit(X.iloc[rows], y.iloc[rows])
                errors.append(100 * (1 - model.score(X.iloc[parts.test], y.iloc[parts.test])))
            cells.append(f"{np.mean(errors):.1f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
