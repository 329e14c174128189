"""Forged model files by the thousand: `python -m tests.fuzz.fuzz_files --cases 5000`.

A case takes a model file of some estimator, changes one array or one scalar in it, makes the checksum right
again, and loads it. It must be refused with `ModelFileError`, or predict: one row per row, one column per
class, every number from 0 to 1, in time. Cases run in a process of their own; one that crashes or hangs is
reported and the rest goes on. A case is found again by its number: ``--only NUMBER``. ``--core FILE`` takes
another build of the compiled core, such as one with sanitizers. ``--kinds`` forges every place of every class
in every way instead (:mod:`tests.persistence.forgeries`), a case for each.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib.util
import io
import json
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

SECONDS_PER_CASE = 20.0
_EXTREME = (0, 1, -1, 2, 255, 65535, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63))
_ODD_NUMBERS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 2.0, 1e308, -1e308, 5e-324, 1e9)
_ODD_SCALARS = (
    -1, 0, 1, 2, 3, 7, 64, 10**6, 2**31, 2**63, -(2**63), 10**30, 0.5, -1.5, 1e308, np.nan, np.inf, None,
    True, False, "", "text", [], [1, 2], {},
)  # fmt: skip
KINDS = ("element", "element", "element", "all", "resize", "dtype", "shape", "shuffle")


def changed_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An array with something wrong in it."""
    kind = str(rng.choice(KINDS))
    array = array.copy()
    if kind in ("element", "all") and array.size and array.dtype.kind in "iufb":
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = _odd_value(array, rng)
        if kind == "all":
            array[...] = value
        else:
            array.reshape(-1)[rng.integers(array.size)] = value
        return array
    if kind == "resize":
        sides = [max(0, side + int(rng.choice([-1, 1, -side, side, 7]))) for side in array.shape]
        return np.resize(array, sides) if array.size else np.ones(sides or 3, dtype=array.dtype)
    if kind == "dtype" and array.dtype.kind in "iufb":
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return array.astype(rng.choice(["<f4", "<f8", "<i4", "<i8", "<u2", "|u1", "|b1", "<c16", "<U3"]))
    if kind == "shape":
        return array.reshape(-1) if array.ndim > 1 else array[None]
    flat = array.reshape(-1)
    rng.shuffle(flat)
    return array


def _odd_value(array: np.ndarray, rng: np.random.Generator) -> Any:
    if array.dtype.kind == "f":
        return array.dtype.type(rng.choice(_ODD_NUMBERS))
    if array.dtype.kind == "b":
        return bool(rng.integers(2))
    if rng.random() < 0.4:
        neighbour = int(array.reshape(-1)[rng.integers(array.size)]) + int(rng.choice([-1, 1, 2]))
        return np.array(neighbour % (1 << 64), dtype=np.uint64).astype(array.dtype)
    value = _EXTREME[rng.integers(len(_EXTREME))]
    return np.array(value % (1 << 64), dtype=np.uint64).astype(array.dtype)


def places(schema: Any) -> list[dict[str, Any]]:
    """Nodes of a description that hold a scalar."""
    found, open_nodes = [], [schema]
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, dict):
            if node.get("__loader__") == "JsonNode":
                found.append(node)
            open_nodes.extend(node.values())
        elif isinstance(node, list):
            open_nodes.extend(node)
    return found


def forged(source: Path, target: Path, rng: np.random.Generator) -> str:
    """Write a changed copy; returns what was changed."""
    from tests.persistence.forgeries import OWN
    from tests.persistence.forging import forge

    with zipfile.ZipFile(source) as archive:
        arrays = [name for name in archive.namelist() if name.endswith(".npy")]
        schema = json.loads(archive.read("schema.json"))
        scalars = places(schema)
        if arrays and rng.random() < 0.65:
            name = arrays[rng.integers(len(arrays))]
            before = np.load(io.BytesIO(archive.read(name)))
            after = changed_array(before, rng)
            stream = io.BytesIO()
            np.save(stream, after)
            members = {name: stream.getvalue()}
            what = f"array {_owner(schema, name)}: {before.dtype}{before.shape} -> {after.dtype}{after.shape}"
        else:
            node = scalars[rng.integers(len(scalars))]
            old = json.loads(node["content"])
            new = _ODD_SCALARS[rng.integers(len(_ODD_SCALARS))]
            if isinstance(old, int) and not isinstance(old, bool) and rng.random() < 0.3:
                new = old + int(rng.choice([-1, 1]))
            what = f"scalar {_owner(schema, node)}: {old!r} -> {new!r}"
            node |= {"content": json.dumps(new), "__id__": OWN}
            members = {"schema.json": json.dumps(schema).encode()}
    forge(source, target, lambda name, content: members.get(name, content))
    return what


def _owner(schema: Any, wanted: Any) -> str:
    """Where in the object a node or a file stands, for the report."""
    open_nodes = [(schema, schema["__class__"], "")]
    while open_nodes:
        node, owner, path = open_nodes.pop()
        if node is wanted or (isinstance(node, dict) and node.get("file") == wanted):
            return f"{owner}{path}"
        if isinstance(node, dict):
            if node.get("__loader__") == "ObjectNode":
                owner, path = node["__class__"], ""
            open_nodes += [
                (value, owner, path if key in ("content", "key_types") else f"{path}.{key}")
                for key, value in node.items()
            ]
        elif isinstance(node, list):
            open_nodes += [(value, owner, f"{path}[{k}]") for k, value in enumerate(node)]
    return "?"


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


def corpus(folder: Path) -> list[tuple[str, Path, Any, int | None]]:
    """(label, file, table, number of classes) of all models, written once."""
    import surewood
    from tests.persistence import variety

    found = []
    for models in (*map(variety.fitted, variety.names()), variety.others()):
        for label, model, X in models:
            path = surewood.save(model, folder / f"{len(found)}.surewood", compress=False)
            found.append((label, path, X, len(model.classes_) if hasattr(model, "predict_proba") else None))
    return found


def run_cases(first: int, last: int, seed: int) -> None:
    """Run cases in this process, a line for each; `python -m ... --worker`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = corpus(folder)
        for case in range(first, last):
            rng = np.random.default_rng([seed, case])
            label, path, X, n_classes = models[rng.integers(len(models))]
            what = forged(path, folder / "forged", rng)
            _run_case(case, f"{label}: {what}", folder / "forged", X, n_classes)


def run_kinds(first: int, last: int, thorough: bool) -> None:
    """The same with every kind of forgery."""
    from tests.persistence.forgeries import forgeries, written

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = corpus(folder)
        for case, one in enumerate(forgeries([path for _, path, _, _ in models], thorough)):
            if first <= case < last:
                _, path, X, n_classes = models[one.model]
                written(path, folder / "forged", one)
                _run_case(case, one.kind, folder / "forged", X[:20], n_classes)


def _run_case(case: int, what: str, path: Path, X: Any, n_classes: int | None) -> None:
    print(f"case {case}: {what}", flush=True)
    faulthandler.dump_traceback_later(SECONDS_PER_CASE, exit=True)
    found = verdict(path, X, n_classes, "r" if case % 4 == 0 else None)
    faulthandler.cancel_dump_traceback_later()
    print(f"-> {found}", flush=True)


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
    """What came of some cases: counts, (case, verdict) of each, and what went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    verdicts: list[tuple[str, str]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def add(self, what: str, found: str) -> None:
        fine = found in ("refused", "predicts")
        self.counts[found if fine else "crash" if "process ended" in found else "wrong"] += 1
        self.verdicts.append((what.partition(": ")[2], found))
        if not fine:
            self.failures.append(f"{what} -> {found}")


def run_apart(first: int, last: int, *options: str) -> Findings:
    """Run cases in other processes."""
    findings = Findings()
    while first < last:
        command = [sys.executable, "-m", "tests.fuzz.fuzz_files", "--worker", f"{first}", f"{last}", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        case, what = first, "preparing"
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("case "):
                case, what = int(line.split()[1].rstrip(":")), line.strip()
            elif line.startswith("-> "):
                findings.add(what, line[3:].strip())
        _, errors = process.communicate()
        if process.returncode == 0:
            break
        findings.add(what, f"process ended with {process.returncode}: {errors[-3000:]}")
        if what == "preparing":
            break
        first = case + 1
    return findings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--core", type=Path)
    parser.add_argument("--kinds", choices=("quick", "all"))
    parser.add_argument("--worker", nargs=2, type=int)
    options = parser.parse_args()
    if options.worker:
        warnings.simplefilter("ignore")
        if options.core is not None:
            take_core(options.core)
        if options.kinds:
            run_kinds(*options.worker, options.kinds == "all")
        else:
            run_cases(*options.worker, options.seed)
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
    raise SystemExit(bool(found.failures))


if __name__ == "__main__":
    main()
