"""What checking a model file costs when it is loaded: the arrays of its parts, and the trial on two rows.

Every ``check_...`` function that the parts of a model call, and the trial, are timed inside ``load``; the
rest is what loading costs without them. The bar: at most 5 % of loading.
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
    """Processor seconds in functions that it wraps, those inside each other counted once."""

    def __init__(self) -> None:
        self.seconds, self._inside = 0.0, False

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            if self._inside:  # reading the clock takes as long as a small check
                return function(*arguments, **options)
            self._inside, started = True, time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                self._inside = False
                self.seconds += time.process_time() - started

        return timed


@contextmanager
def timed_checks() -> Iterator[Clock]:
    """Checks of all loaded modules of the package, but those of the archive, run by the clock."""
    clock, changed = Clock(), []
    for name, module in list(sys.modules.items()):
        if name.startswith("surewood.") and not name.startswith("surewood.persistence"):
            for own, value in list(vars(module).items()):
                ours = str(getattr(value, "__module__", "")).startswith("surewood.")
                if ours and own.lstrip("_").startswith("check_"):
                    changed.append((module, own, value))
    changed.append((model_file, "flaw_of", trial.flaw_of))
    changed.append((nodes, "_refuse_other_types", nodes._refuse_other_types))
    for module, own, value in changed:
        setattr(module, own, clock.wrapped(value))
    try:
        yield clock
    finally:
        for module, own, value in changed:
            setattr(module, own, value)


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
    for _ in range(REPEATS):
        for name, path in paths.items():
            with timed_checks() as clock:
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
