"""*A Refined Margin Distribution Analysis for Forest Representation Learning* (theory.md §4).

:mod:`papers.mddf.methods` has the data of a repeat and the methods, :mod:`papers.mddf.tables` the tables,
:mod:`papers.mddf.figures` figures A and B. A unit is one data set and one seed with all methods, because
every method's predictions are compared with mdDF's on the same test points (theory.md §7).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from papers.flagship import FLAGSHIP, fit_flagship
from papers.mddf import methods as forests
from papers.mddf import program
from papers.mddf.figures import FIGURES, figure_record
from papers.mddf.methods import Fitted, Parts, as_numbers, parts_of, perceptron, random_forest, xgboost
from papers.mddf.tables import summarise
from papers.protocol import Context, Profile, Unit
from papers.readings import Readings
from surewood.bounds import mcnemar_test

BASELINES = ("MLP", "RF", "XGBoost")
#: Rough seconds of one tree per forest and class vector on each set: only the time left reads it.
_COSTS = {"yeast": 1.0, "satimage": 4.0, "letter": 18.0, "har": 12.0, "adult": 15.0, "mnist": 200.0}


class MarginForestPaper:
    """A Refined Margin Distribution Analysis for Forest Representation Learning."""

    name = "mddf"
    title = "mdDF: margin distribution deep forests"

    sets = ("adult", "yeast", "letter", "protein", "har", "sensit", "satimage", "mnist")

    def units(self, profile: Profile, sets: Sequence[str]) -> list[Unit]:
        """The first seed of all sets, then the second, ...; cheap sets first.

        So a run that is cut short has most of the table.
        """
        units = []
        for dataset in sets:
            for repeat in range(profile.get("seeds", dataset)):
                methods = tuple(profile.get("methods", dataset))
                if str(profile.readings):
                    methods = tuple(profile.get("reading_methods", dataset))
                    if profile.readings.optimizer != Readings().optimizer:
                        methods = (forests.REFERENCE, "MLP")
                    elif profile.readings.procedure == "program":
                        methods = (forests.REFERENCE,)
                elif repeat < profile.get("option_seeds", dataset):
                    methods += tuple(profile.get("options"))
                if repeat == 0 and dataset == profile.get("figures") and not str(profile.readings):
                    methods += (FIGURES,)
                cost = _COSTS.get(dataset, 0.01) * profile.get("trees", dataset) * len(methods)
                units.append(Unit(dataset, repeat, methods, cost))
        return sorted(units, key=lambda unit: (unit.repeat, _COSTS.get(unit.dataset, 0.0)))

    def run(self, unit: Unit, profile: Profile, context: Context) -> Iterator[dict[str, Any]]:
        """One record per method; mdDF comes first, and again where a resumed unit needs its predictions."""
        parts = parts_of(unit.dataset, unit.repeat, profile)
        seed = parts.seeds["model"]
        seen = forests.scanned(parts, profile, unit.dataset, context.n_jobs)
        context.say("tuning")
        tuned = forests.tune(profile, unit.dataset, seen.X, seen.y, seed, context.n_jobs)
        runner = _MethodRunner(unit.dataset, parts, seen, profile, tuned, context.n_jobs)
        reference: Any = None
        for method in sorted(unit.methods, key=lambda name: name != forests.REFERENCE):
            if method in context.done and method != forests.REFERENCE:
                continue
            context.say(method)
            if method == FIGURES:
                model = forests.margin_forest(
                    forests.REFERENCE, profile, unit.dataset, tuned, seed, context.n_jobs
                )
                yield figure_record(model, seen, profile.get("figure_points", unit.dataset))
                continue
            started = time.process_time()
            fitted = runner.fit(method)
            seconds = time.process_time() - started
            if method == forests.REFERENCE:
                reference = fitted.predictions
            yield {
                "method": method,
                "metrics": {**_test_metrics(fitted, parts, reference), **fitted.metrics},
                "chosen": fitted.chosen,
                "seconds": seconds,
                "shared_seconds": tuned.seconds,
                "seeds": parts.seeds,
            }

    def summarise(
        self, records: Sequence[dict[str, Any]], profile: Profile, sets: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Tables, tests, ranks, counts."""
        return summarise(self.sets, records, profile, sets)


@dataclass
class _MethodRunner:
    """Fits the methods of a unit by name."""

    dataset: str
    parts: Parts
    seen: Parts  # by the paper's forests
    profile: Profile
    tuned: forests.Tuned
    n_jobs: int

    @property
    def seed(self) -> int:
        return self.parts.seeds["model"]

    @cached_property
    def numbers(self) -> tuple[Any, Any]:
        """Both parts as baselines see them, made once."""
        return as_numbers(self.parts.X, self.parts.X_test)

    def fit(self, method: str) -> Fitted:
        """Train on the training part and predict the test part."""
        if method in BASELINES:
            return self._fit_baseline(method)
        if method == FLAGSHIP:
            own = fit_flagship(self.parts.X, self.parts.y, self.parts.X_test, self.seed, self.n_jobs)
            held_out = {"held_out_accuracy": 100.0 * (1.0 - own.held_out_error)}
            return Fitted(own.predictions, held_out, {"weights": own.weights})
        if self.profile.readings.procedure == "program" and method == forests.REFERENCE:
            trees = self._size("default_trees")
            own_forest = program.ProgramForest(trees, self.tuned.a, self.seed, self.n_jobs)
            X, X_test = (program.category_numbers(X) for X in (self.parts.X, self.parts.X_test))
            predictions = own_forest.fit(X, self.parts.y).predict(X_test)
            return Fitted(predictions, *own_forest.facts())
        where, how, seen = (self.profile, self.dataset), (self.seed, self.n_jobs), self.seen
        if method == forests.GCFOREST:
            model: Any = forests.gc_forest(*where, *how)
        elif method == forests.DEFAULT:
            model, seen = forests.shipped_forest(*where, *how), self.parts
        else:
            model = forests.margin_forest(method, *where, self.tuned, *how)
        forests.fit_quietly(model, seen.X, seen.y)
        metrics, chosen = forests.cascade_facts(model)
        if method == forests.REFERENCE:
            chosen["settings_compared"] = self.tuned.n_settings
        return Fitted(model.predict(seen.X_test), metrics, chosen)

    def _fit_baseline(self, method: str) -> Fitted:
        (X, X_test), y = self.numbers, self.parts.y
        if method == "RF":
            return random_forest(X, y, X_test, self._size("rf_trees"), self.seed, self.n_jobs)
        if method == "XGBoost":
            return xgboost(X, y, X_test, self._size("xgboost_rounds"), self.seed, self.n_jobs)
        sizes = self._size("mlp"), self._size("mlp_epochs")
        return perceptron(X, y, X_test, *sizes, self.seed, self.profile.readings.optimizer)

    def _size(self, key: str) -> Any:
        return self.profile.get(key, self.dataset)


def _test_metrics(fitted: Fitted, parts: Parts, reference: Any) -> dict[str, Any]:
    """Accuracy in percent, sizes, and the points on which mdDF and this method differ."""
    truth = parts.y_test
    counts = mcnemar_test(reference, fitted.predictions, truth)
    return {
        "accuracy": 100.0 * float(np.mean(fitted.predictions == truth)),
        "n_train": len(parts.y),
        "n_test": len(truth),
        "only_mddf_right": counts.only_first_correct,
        "only_this_right": counts.only_second_correct,
        "differing": counts.differing,
    }


PAPER = MarginForestPaper()
