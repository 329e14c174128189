"""What checking a model file costs when it is loaded: the arrays of its parts, and the trial on two rows.

Every ``__setstate__`` of a class of ours, which checks its state, the types of attributes and the trial are
timed inside ``load``; the rest is what loading costs without them. The bar: at most 5 % of loading.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.datasets import make_classification

import surewood
from surewood.persistence import model_file, nodes, trial

BAR, REPEATS = 0.05, 25


class Clock:
    """Seconds in functions that it wraps, those inside each other counted once.

    By the wall clock: reading processor time, by which loading is timed, takes as long as a small check.
    """

    def __init__(self) -> None:
        self.seconds, self._inside = 0.0, False

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            if self._inside:
                return function(*arguments, **options)
            self._inside, started = True, time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self._inside = False
                self.seconds += time.perf_counter() - started

        return timed


@contextmanager
def timed_checks() -> Iterator[Clock]:
    """Checks of the parts of models, and the trial, run by the clock."""
    clock = Clock()
    changed: list[tuple[Any, str, Any]] = [
        (model_file, "flaw_of", trial.flaw_of), (nodes, "_refuse_other_types", nodes._refuse_other_types)
    ]  # fmt: skip
    classes = {
        value
        for name, module in list(sys.modules.items())
        for value in (vars(module).values() if name.startswith("surewood.") else ())
        if isinstance(value, type) and value.__module__.startswith("surewood.")
    }
    owners = [cls for cls in classes if "__setstate__" in vars(cls)]
    changed += [(cls, "__setstate__", vars(cls)["__setstate__"]) for cls in owners]
    for owner, name, value in changed:
        setattr(owner, name, clock.wrapped(value))
    try:
        yield clock
    finally:
        for owner, name, value in changed:
            setattr(owner, name, value)


def models(quick: bool) -> dict[str, Any]:
    X, y = make_classification(1_000 if quick else 5_000, 20, n_informative=10, n_classes=3, random_state=0)
    own = {"random_state": 0, "n_jobs": 1}
    return {
        "forest": surewood.BinnedForestClassifier(100, **own).fit(X, y),
        "composite forest": surewood.RandomCompositeForestClassifier(20, **own).fit(X[:1500], y[:1500]),
        "margin forest": surewood.MarginDeepForestClassifier(20, max_layers=2, **own).fit(X[:1500], y[:1500]),
        "PolySVC": surewood.PolySVC().fit(X[:1500], y[:1500]),
    }


def main(quick: bool = False) -> None:
    folder = tempfile.mkdtemp(prefix="bench-load-checks-")
    paths = {name: surewood.save(model, f"{folder}/{name}") for name, model in models(quick).items()}
    checks: dict[str, list[float]] = {name: [] for name in paths}
    whole: dict[str, list[float]] = {name: [] for name in paths}
    for path in paths.values():
        surewood.load(path)
    with timed_checks() as clock:
        for _ in range(REPEATS):
            for name, path in paths.items():
                clock.seconds = 0.0
                started = time.process_time()
                surewood.load(path)
                whole[name].append(time.process_time() - started)
                checks[name].append(clock.seconds)
    print(f"{'':>18} {'load, ms':>9} {'checks, ms':>11} {'part':>6}   (best of {REPEATS}, bar {BAR:.0%})")
    for name in paths:
        ours, all_of_it = min(checks[name]), min(whole[name])
        print(f"{name:>18} {1e3 * all_of_it:9.1f} {1e3 * ours:11.2f} {ours / all_of_it:6.1%}")


if __name__ == "__main__":
    main()
