"""Forged model files by the thousand: `python -m tests.fuzz.fuzz_files --cases 5000`.

A case takes a model file of some estimator, changes a node, an array or a declared size in it, makes the
checksum right again, and loads it: read, mapped from disk, or through a pickle in which one array was
changed. A file must be refused with `ModelFileError`, or predict: one row per row, one column per class,
every number from 0 to 1, rows that sum to 1, within 2 seconds and 500 MB. A pickle is trusted, so it may also
fail with any exception; it must not crash or hang.

The models are fitted once, by one process; the cases run in another, one after the other. If it crashes or a
case takes too long, that is reported and a new process goes on with the rest. A case is found again by its
number: ``--only NUMBER``. ``--core FILE`` takes another build of the compiled core, such as one with
sanitizers, and five times the time. ``--kinds`` forges every attribute of every class in every listed way
instead, a case for each.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib.util
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.forgeries import forged, forged_pickle, listed_forgeries

SECONDS_PER_CASE = 2.0  # of the processor
MEGABYTES_PER_CASE = 500
LONGEST_WAIT = 300.0  # seconds by the clock
ROWS = 20
WAYS = ("path", "r", "c", "pickle")  # how case 0, 1, 2, 3, 4, ... is loaded: files by their path or mapped


def verdict(path: Path, X: Any, n_classes: int | None, mmap_mode: str | None = None) -> str:
    """ "refused", "predicts", or what is wrong."""
    import surewood
    from surewood.persistence import ModelFileError

    try:
        model = surewood.load(path, mmap_mode=mmap_mode)
    except ModelFileError:
        return "refused"
    except BaseException as error:
        return f"load raised {type(error).__name__}: {error}"
    try:
        found = _outputs(model, X)
    except BaseException as error:
        if any(words in str(error) for words in ("feature names should match", "the table lacks the column")):
            return "refused"  # a model of other columns than these, which it says
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        return f"predict raised {type(error).__name__}: {str(error)[:120]} ({where})"
    expected = (n_classes,) if n_classes is not None and hasattr(model, "predict_proba") else found.shape[1:]
    if len(found) != len(X) or found.shape[1:] != expected:
        return f"shape {found.shape}"
    if not np.isfinite(found).all() or found.min(initial=0) < -1e-9 or found.max(initial=0) > 1 + 1e-9:
        return f"values from {found.min()} to {found.max()}"
    if hasattr(model, "predict_proba") and not np.allclose(found.sum(axis=1), 1.0, atol=1e-6):
        return f"rows that sum to {found.sum(axis=1).min()} to {found.sum(axis=1).max()}"
    return "predicts"


def verdict_of_pickle(content: bytes, X: Any) -> str:
    """ "refused", with whatever words, or "predicts"."""
    try:
        _outputs(pickle.loads(content), X)
    except Exception:
        return "refused"
    return "predicts"


def _outputs(model: Any, X: Any) -> np.ndarray:
    """Probabilities; of models without any their new columns or labels, as zeros."""
    if hasattr(model, "predict_proba"):
        assert len(model.predict(X)) == len(X)
        return np.asarray(model.predict_proba(X))
    if hasattr(model, "transform"):
        return np.asarray(model.transform(X))
    if hasattr(model, "predict_set"):
        return np.asarray(model.predict_set(X), dtype=float)
    return np.zeros(np.asarray(model.predict(X)).shape)


#: (label, file, table, number of classes) of all models.
Corpus = list[tuple[str, Path, Any, "int | None"]]


def corpus(folder: Path) -> Corpus:
    """All models, fitted and saved."""
    import surewood
    from tests.persistence import variety

    found = []
    for models in (*map(variety.fitted, variety.names()), variety.others()):
        for label, model, X in models:
            path = surewood.save(model, folder / f"{len(found)}.surewood", compress=False)
            found.append((label, path, X, len(model.classes_) if hasattr(model, "predict_proba") else None))
    return found


def run_cases(first: int, last: int, seed: int, models: Corpus, folder: Path, allowed: float) -> None:
    """Run cases in this process, a line for each: every estimator is as frequent as the others."""
    by_estimator: dict[str, list[Any]] = {}
    for model in models:
        by_estimator.setdefault(re.split("[, ]", model[0])[0], []).append(model)
    groups = list(by_estimator.values())
    for case in range(first, last):
        rng = np.random.default_rng([seed, case])
        group, way = groups[rng.integers(len(groups))], WAYS[case % len(WAYS)]
        label, path, X, n_classes = group[rng.integers(len(group))]
        if way == "pickle":
            content, what = forged_pickle(path, rng)
            judge = partial(verdict_of_pickle, content, X[:ROWS])
            _run_case(case, f"{label}: {what}", judge, allowed)
            continue
        what = forged(path, folder / "forged", rng)
        judge = partial(verdict, folder / "forged", X[:ROWS], n_classes, None if way == "path" else way)
        _run_case(case, f"{label}, {way}: {what}", judge, allowed)


def run_kinds(first: int, last: int, thorough: bool, models: Corpus, folder: Path, allowed: float) -> None:
    """The same with every listed forgery."""
    paths, target = [path for _, path, _, _ in models], folder / "forged"
    for case, number, what in listed_forgeries(paths, thorough, target, first, last):
        _, _, X, n_classes = models[number]
        _run_case(case, what, partial(verdict, target, X[:ROWS], n_classes), allowed)


def _run_case(case: int, what: str, judge: Callable[[], str], allowed: float) -> None:
    print(f"case {case}: {what}", flush=True)
    faulthandler.dump_traceback_later(LONGEST_WAIT, exit=True)
    if hasattr(signal, "setitimer"):  # of the processor: other programs may be slow, too
        signal.setitimer(signal.ITIMER_PROF, allowed)
    before, started = _memory("VmRSS", reset=True), time.process_time()
    found = judge()
    seconds, megabytes = time.process_time() - started, (_memory("VmHWM") - before) / 1024
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, 0)
    faulthandler.cancel_dump_traceback_later()
    if megabytes > MEGABYTES_PER_CASE:
        found = f"took {megabytes:.0f} MB"
    print(f"-> {seconds:.2f} s, {megabytes:.0f} MB: {found}", flush=True)


def _memory(entry: str, reset: bool = False) -> int:
    """Kilobytes of memory now (VmRSS) or at most since the last reset (VmHWM); 0 on other systems."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(entry)), 0)


def take_core(path: Path) -> None:
    """Use another build of the compiled core."""
    spec = importlib.util.spec_from_file_location("surewood._core", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["surewood._core"] = module


@dataclass
class Findings:
    """What came of some cases: counts, the most that one took, verdicts of each, and what went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0  # of the processor
    megabytes: float = 0.0
    verdicts: list[tuple[str, str]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def add(self, what: str, found: str) -> None:
        fine = found in ("refused", "predicts")
        self.counts[found if fine else "crash" if "process ended" in found else "wrong"] += 1
        self.verdicts.append((what.partition(": ")[2], found))
        if not fine:
            self.failures.append(f"{what} -> {found}")


def run_apart(first: int, last: int, *options: str) -> Findings:
    """Run cases in other processes; the models are fitted by the first."""
    with tempfile.TemporaryDirectory() as folder:
        return _run_apart(first, last, "--folder", folder, *options)


def _run_apart(first: int, last: int, *options: str) -> Findings:
    findings = Findings()
    program = [sys.executable, "-m", "tests.fuzz.fuzz_files", *options]
    fitting = subprocess.run([*program, "--fit"], capture_output=True, text=True, check=False)
    if fitting.returncode:
        findings.add("preparing", f"process ended with {fitting.returncode}: {fitting.stderr[-3000:]}")
        first = last
    while first < last:
        command = [*program, "--worker", f"{first}", f"{last}"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        case, what = first, "preparing"
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("case "):
                case, what = int(line.split()[1].rstrip(":")), line.strip()
            elif line.startswith("-> "):
                taken, _, found = line[3:].strip().partition(": ")
                seconds, megabytes = (float(amount.split()[0]) for amount in taken.split(", "))
                findings.seconds = max(findings.seconds, seconds)
                findings.megabytes = max(findings.megabytes, megabytes)
                findings.add(what, found)
        _, errors = process.communicate()
        if process.returncode == 0:
            break
        findings.add(what, f"process ended with {process.returncode}: {errors[-3000:]}")
        if what == "preparing":
            break
        first = case + 1
    return findings


def _work(options: argparse.Namespace) -> None:
    """What the other processes do."""
    warnings.simplefilter("ignore")
    if options.fit:  # with the core as it is: sanitizers look at what reads the forged files
        (options.folder / "corpus").write_bytes(pickle.dumps(corpus(options.folder)))
        return
    if options.core is not None:
        take_core(options.core)
    if hasattr(signal, "SIGPROF"):
        faulthandler.register(signal.SIGPROF, chain=True)  # shows where it was, and ends
    models = pickle.loads((options.folder / "corpus").read_bytes())
    allowed = SECONDS_PER_CASE if options.core is None else 5 * SECONDS_PER_CASE
    for _, path, X, n_classes in models:  # imports belong to no case
        verdict(path, X[:ROWS], n_classes)
    if options.kinds:
        run_kinds(*options.worker, options.kinds == "all", models, options.folder, allowed)
    else:
        run_cases(*options.worker, options.seed, models, options.folder, allowed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--core", type=Path)
    parser.add_argument("--kinds", choices=("quick", "all"))
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--fit", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--worker", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit or options.worker:
        _work(options)
        return
    first, last = options.first, options.first + options.cases
    if options.only is not None:
        first, last = options.only, options.only + 1
    passed = ["--seed", f"{options.seed}"]
    passed += ["--kinds", options.kinds] if options.kinds else []
    passed += ["--core", f"{options.core}"] if options.core else []
    begin = time.perf_counter()
    found = run_apart(first, last, *passed)
    for failure in found.failures:
        print(failure)
    print(f"{sum(found.counts.values())} cases in {time.perf_counter() - begin:.0f} s: {dict(found.counts)}")
    print(f"a case took at most {found.seconds:.2f} s of the processor and {found.megabytes:.0f} MB")
    raise SystemExit(bool(found.failures))


if __name__ == "__main__":
    main()
