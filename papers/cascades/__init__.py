"""*Learning with Deep Cascades* (theory.md §3): units and records of its protocol (§3.8).

:mod:`papers.cascades.folds` prepares a fold and chooses cascades on it; :mod:`papers.cascades.tables` has the
tables. A unit is a fold; its methods share the tree of SVMs.

Methods: ``svm`` (degree and C by validation), ``cascade`` (the paper's γ by validation), ``cascade_path``
(any γ down to `gamma_min`, or a number of leaves, if it beats the best single SVM by two standard errors)
and ``cascade_best`` (the same, every gain taken); a run with other readings has the first two. A unit of its
own has the recommended classifier, fitted to training and validation part together.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from papers.cascades.folds import (
    N_FOLDS,
    Fold,
    PathRule,
    data_of,
    folds_of,
    paper_choice,
    plain_choice,
    prepare_fold,
)
from papers.cascades.tables import summarise
from papers.flagship import FLAGSHIP, flagship_record
from papers.protocol import Context, Profile, Unit, seed_of
from surewood.cascade.chain import Path

SETS = ("breast_cancer", "german_numeric", "splice", "ionosphere", "a1a")
METHODS = ("svm", "cascade", "cascade_path", "cascade_best")
STANDARD_ERRORS = {"cascade_path": 2.0, "cascade_best": 0.0}
_COST = {"breast_cancer": 1.0, "german_numeric": 6.0, "splice": 0.5, "ionosphere": 0.5, "a1a": 20.0}


class CascadesPaper:
    """The paper for the runner."""

    name = "cascades"
    title = "Learning with Deep Cascades (DeSalvo, Mohri and Syed, 2015)"

    sets = SETS

    def units(self, profile: Profile, sets: Sequence[str]) -> list[Unit]:
        n_units = N_FOLDS * int(profile.get("shuffles"))
        kinds: tuple[tuple[str, ...], ...] = (METHODS, (FLAGSHIP,)) if profile.get("flagship") else (METHODS,)
        if str(profile.readings):
            kinds = (METHODS[:2],)
        return [
            Unit(name, k, methods, _COST[name]) for methods in kinds for name in sets for k in range(n_units)
        ]

    def run(self, unit: Unit, profile: Profile, context: Context) -> Iterator[dict[str, Any]]:
        started = time.process_time()
        shuffle, j = divmod(unit.repeat, N_FOLDS)
        seed = seed_of("cascades", unit.dataset, "folds", shuffle)
        if unit.methods == (FLAGSHIP,):
            yield _recommended(unit, j, seed, context)
            return
        fold = prepare_fold(
            unit.dataset,
            j,
            seed,
            profile.readings,
            degrees=tuple(profile.get("degrees")),
            fractions=tuple(profile.get("fractions")),
            max_leaves=profile.get("max_leaves"),
            study={"C_grid": tuple(profile.get("C")), "max_svms": profile.get("max_svms")},
            n_jobs=context.n_jobs,
        )
        shared = time.process_time() - started
        rule: PathRule | None = None
        for method in unit.methods:
            if method in context.done:
                continue
            context.say(method)
            began = time.process_time()
            if method == "svm":
                path, more = plain_choice(fold), {}
            elif method == "cascade":
                found = paper_choice(fold, tuple(profile.get("gammas")), profile.readings.ties)
                path, more = found.path, {"gamma": found.gamma, "active_leaves": found.active_fraction}
            else:
                rule = rule or PathRule(fold, float(profile.get("gamma_min")))
                path, more = rule.choose(STANDARD_ERRORS[method]), _forced(fold, rule)
            seconds = time.process_time() - began
            yield {
                **_record(fold, method, path, more),
                "seconds": seconds,
                "shared_seconds": shared,
                "seeds": {"folds": seed},
            }

    def summarise(
        self, records: Sequence[dict[str, Any]], profile: Profile, sets: Sequence[str] | None = None
    ) -> dict[str, Any]:
        return summarise(records, profile, sets)


def _recommended(unit: Unit, j: int, seed: int, context: Context) -> dict[str, Any]:
    """The record of the recommended classifier on the four folds that are not the test part."""
    began = time.process_time()
    context.say(FLAGSHIP)
    X, y = data_of(unit.dataset)
    test = folds_of(len(y), seed) == j
    model_seed = seed_of("cascades", unit.dataset, "model", unit.repeat)
    record = flagship_record(X[~test], y[~test], X[test], y[test], model_seed, context.n_jobs)
    record["metrics"] |= {"n_train": int((~test).sum()), "n_validation": 0, "n_test": int(test.sum())}
    seeds = {"folds": seed, "model": model_seed}
    return record | {"seconds": time.process_time() - began, "seeds": seeds}


def _forced(fold: Fold, rule: PathRule) -> dict[str, float]:
    """Test errors of the best cascades with exactly 2, 3, ... leaves, and the size of the γ path."""
    found = {
        f"error_{n}_leaves": fold.error(path, fold.test)
        for n in range(2, fold.plan.max_leaves + 1)
        if (path := rule.exactly(n)) is not None
    }
    return {**found, "path_pieces": len(rule.one.pieces)}


def _record(fold: Fold, method: str, path: Path, more: dict[str, Any]) -> dict[str, Any]:
    degrees = [int(fold.plan.kernels.degrees[c]) for c in path.choices]
    gamma = more.pop("gamma", None)
    return {
        "method": method,
        "metrics": {
            "error": fold.error(path, fold.test),
            "validation_error": fold.error(path, fold.validation),
            "n_train": len(fold.train),
            "n_validation": len(fold.validation),
            "n_test": len(fold.test),
            "n_leaves": path.n_leaves,
            "svms": int(fold.task.tree.n_svms),
            **more,
        },
        "chosen": {
            "degrees": degrees,
            "fractions": [float(fold.plan.fractions[k]) for k in path.fractions],
            "C": [float(c) for c in fold.C[np.array(path.choices)]],
            **({} if gamma is None else {"gamma": gamma}),
        },
    }


PAPER = CascadesPaper()
