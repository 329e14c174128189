"""*Random Composite Forests* (theory.md §2): units and records of its protocol (§2.13).

:mod:`papers.rcf.grid` trains all composite methods on one division; :mod:`papers.rcf.tables` has the tables.

Units per data set and repeat: the composite methods, which share trees and SVMs; the random forests of
scikit-learn; the library's own default, which tunes itself; and the recommended classifier. Methods:

``rcf``            degrees by the criterion, exact minimum
``rcf_sequences``  ... the best of 10 random sequences, as in the paper
``rf_svm``         one common degree by validation
``rf_svm_random``  one random degree per leaf
``rcf_refit``, ``rf_svm_refit``  their parameters, fitted to training and validation part together
``rf``, ``rf_refit``  random forest, without and with such a refit
``surewood``       ``RandomCompositeForestClassifier()`` on training and validation part together
``SurewoodClassifier``  the recommended classifier, on both parts together too

A run with other readings has the methods of the published columns only, and random forests where the division
is another one: nothing else that is read differently concerns them.

Under the official protocol the test part is the data set's own, and the validation part is drawn from its
training part.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from papers.datasets import load
from papers.flagship import FLAGSHIP, flagship_record
from papers.protocol import OFFICIAL, Context, Profile, Unit, seed_of
from papers.rcf.grid import (
    SELECTIONS,
    Division,
    GridStudy,
    divide,
    divide_official,
    preferred,
    thinned_features,
)
from papers.rcf.tables import summarise
from papers.readings import Readings
from surewood.composite.estimator import RandomCompositeForestClassifier

SETS = (
    "vowel", "vehicle", "dna", "pendigits", "german_numeric", "iris", "abalone", "a2a", "australian",
    "usps", "sonar",
)  # fmt: skip
COMPOSITE = (*SELECTIONS, "rcf_refit", "rf_svm_refit")
FORESTS = ("rf", "rf_refit")
DEFAULT = ("surewood",)
RECOMMENDED = (FLAGSHIP,)
#: rough seconds of (composite, forests, default): the display's time left, and cheap sets first
_COST = {
    "vowel": (12, 2, 3), "vehicle": (15, 3, 6), "dna": (40, 5, 14), "pendigits": (90, 12, 20),
    "german_numeric": (12, 3, 7), "iris": (1, 1, 1), "abalone": (150, 10, 70), "a2a": (40, 5, 18),
    "australian": (8, 2, 2), "usps": (60, 12, 24), "sonar": (3, 2, 1),
}  # fmt: skip


class RcfPaper:
    """The paper for the runner."""

    name = "rcf"
    title = "Random Composite Forests (DeSalvo and Mohri, 2016)"

    sets = SETS

    def units(self, profile: Profile, sets: Sequence[str]) -> list[Unit]:
        cheap_first = sorted(sets, key=lambda name: _COST[name][0])
        kinds = [(COMPOSITE, 0), (FORESTS, 1), (DEFAULT, 2)]
        if profile.get("flagship"):
            kinds.append((RECOMMENDED, 2))
        if str(profile.readings):
            same = profile.readings.division == Readings().division
            kinds = kinds[: 1 if same else 2]
        units = [
            Unit(name, repeat, methods, float(_COST[name][k]))
            for name in cheap_first
            for repeat in range(int(profile.get("repeats", name)))
            for methods, k in kinds
        ]
        return sorted(units, key=lambda unit: unit.methods in (DEFAULT, RECOMMENDED))  # the protocol first

    def run(self, unit: Unit, profile: Profile, context: Context) -> Iterator[dict[str, Any]]:
        data, official = load(unit.dataset), profile.division == OFFICIAL
        named = ("rcf", *([OFFICIAL] if official else []), unit.dataset, unit.repeat)
        seeds = {"division": seed_of(*named, "division"), "trees": seed_of(*named, "trees")}
        if official:
            X, y = data.X, data.y
            parts = divide_official(data.split, float(profile.get("validation")), seeds["division"])
        else:
            X, y = data.part_of("rcf")
            parts = divide(len(y), seeds["division"], profile.readings.division)
        kinds = {COMPOSITE: _composite, FORESTS: _forests, DEFAULT: _default, RECOMMENDED: _recommended}
        how = kinds[unit.methods]
        for record in how(X, y, parts, unit, profile, context, seeds["trees"]):
            record["metrics"] |= {
                "n_train": len(parts.train),
                "n_validation": len(parts.validation),
                "n_test": len(parts.test),
            }
            yield record | {"seeds": seeds}

    def summarise(
        self, records: Sequence[dict[str, Any]], profile: Profile, sets: Sequence[str] | None = None
    ) -> dict[str, Any]:
        return summarise(records, profile, sets)


def _composite(
    X: pd.DataFrame, y: pd.Series, parts: Division, unit: Unit, profile: Profile, context: Context, seed: int
) -> Iterator[dict[str, Any]]:
    started = time.process_time()
    study = GridStudy(
        X, y, parts, profile, unit.dataset, tuple(SELECTIONS), seed, context.n_jobs, context.say
    )
    shared = time.process_time() - started
    C = dict(zip(profile.get("degrees"), study.C))
    for method in unit.methods:
        began = time.process_time()
        refit = method.endswith("_refit")
        point = study.choose(method.removesuffix("_refit"))
        error = study.refitted_error(point) if refit else point.test_error
        yield {
            "method": method,
            "metrics": {
                "error": error,
                "validation_error": point.validation_error,
                "active_leaves": point.active_leaves,
                "mean_degree": point.mean_degree,
            },
            "chosen": {**point.chosen(), "C": {str(d): c for d, c in C.items()}},
            "seconds": time.process_time() - began,
            "shared_seconds": shared,
            **({"grid": study.packed(method)} if method == "rcf" else {}),
        }


def _forests(
    X: pd.DataFrame, y: pd.Series, parts: Division, unit: Unit, profile: Profile, context: Context, seed: int
) -> Iterator[dict[str, Any]]:
    began = time.process_time()
    table, codes = numbers(X), pd.factorize(y, sort=True)[0]
    sizes = tuple(profile.get("forest_trees", unit.dataset))
    features = thinned_features(X.shape[1], int(profile.get("every_r", unit.dataset)))
    evaluated, n = parts.evaluated, len(parts.validation)
    wrong = []
    for r in features:
        context.say(f"random forest, r = {r}")
        labels = prefix_labels(
            table[parts.train], codes[parts.train], table[evaluated], r, sizes, seed, context.n_jobs
        )
        wrong.append((labels != codes[evaluated])[None, None])
    errors = np.stack(wrong)  # r, one depth, one rule, sizes, rows: the shape of the composite grids
    validation, test = errors[..., :n].sum(axis=-1), errors[..., n:].sum(axis=-1)
    at = preferred(validation, features, X.shape[1])
    f, b = at[0], at[3]
    chosen = {"r": features[f], "trees": sizes[b]}
    found = {"validation_error": float(validation[at] / n)}
    yield {
        "method": "rf",
        "metrics": {"error": float(test[at] / len(parts.test)), **found},
        "chosen": chosen,
        "seconds": time.process_time() - began,
    }
    began = time.process_time()
    rows = np.concatenate([parts.train, parts.validation])
    labels = prefix_labels(
        table[rows], codes[rows], table[parts.test], features[f], (sizes[b],), seed, context.n_jobs
    )
    yield {
        "method": "rf_refit",
        "metrics": {"error": float((labels[0] != codes[parts.test]).mean()), **found},
        "chosen": chosen,
        "seconds": time.process_time() - began,
    }


def _default(
    X: pd.DataFrame, y: pd.Series, parts: Division, unit: Unit, profile: Profile, context: Context, seed: int
) -> Iterator[dict[str, Any]]:
    began = time.process_time()
    context.say("the library's default")
    rows = np.sort(np.concatenate([parts.train, parts.validation]))
    model = RandomCompositeForestClassifier(
        int(profile.get("default_trees", unit.dataset)), random_state=seed, n_jobs=context.n_jobs
    ).fit(X.iloc[rows], y.iloc[rows])
    error = float(np.mean(model.predict(X.iloc[parts.test]) != y.iloc[parts.test].to_numpy()))
    yield {
        "method": "surewood",
        "metrics": {"error": error, "active_leaves": float(model.active_leaves_)},
        "chosen": {
            "plain_weight": float(model.plain_weight_),
            "settings": [[s.max_depth, list(s.degrees)] for s in model.settings_],
        },
        "seconds": time.process_time() - began,
    }


def numbers(X: pd.DataFrame) -> NDArray[np.float32]:
    """A table as numbers; categories as their codes."""
    columns = [
        X[name].cat.codes if isinstance(X[name].dtype, pd.CategoricalDtype) else X[name] for name in X.columns
    ]
    return np.column_stack(columns).astype(np.float32)


def prefix_labels(
    X: NDArray[Any],
    y: NDArray[Any],
    evaluated: NDArray[Any],
    max_features: int,
    sizes: Sequence[int],
    seed: int,
    n_jobs: int,
) -> NDArray[np.int64]:
    """Labels of the evaluated rows by the first 100, 200, ... trees, shape (sizes, rows).

    RF of theory.md §2.12: bagging, random feature subsets, unpruned trees, class frequencies at the leaves.
    """
    forest = RandomForestClassifier(
        max(sizes), max_features=max_features, bootstrap=True, random_state=seed, n_jobs=n_jobs
    ).fit(X, y)
    total = np.zeros((len(evaluated), len(forest.classes_)))
    labels = np.zeros((len(sizes), len(evaluated)), dtype=np.int64)
    for number, tree in enumerate(forest.estimators_, start=1):
        total += tree.predict_proba(evaluated)
        if number in sizes:
            labels[list(sizes).index(number)] = forest.classes_[total.argmax(axis=1)]
    return labels


def _recommended(
    X: pd.DataFrame, y: pd.Series, parts: Division, unit: Unit, profile: Profile, context: Context, seed: int
) -> Iterator[dict[str, Any]]:
    began = time.process_time()
    context.say(FLAGSHIP)
    rows = np.sort(np.concatenate([parts.train, parts.validation]))
    train, test = (X.iloc[rows], y.iloc[rows]), (X.iloc[parts.test], y.iloc[parts.test])
    yield flagship_record(*train, *test, seed, context.n_jobs) | {"seconds": time.process_time() - began}


PAPER = RcfPaper()
