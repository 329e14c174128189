"""Estimates of memory and time beside what fits really took, each fit in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

#: Rows from 400 to 100,000, columns from 1 to 10,000, classes from 2 to 500, every estimator.
CASES = [
    ("BinnedForestClassifier", 100_000, 20, 2, {"n_estimators": 50}),
    ("BinnedForestClassifier", 20_000, 100, 10, {"n_estimators": 100}),
    ("BinnedForestClassifier", 1000, 10_000, 3, {"n_estimators": 50}),
    ("BinnedForestClassifier", 20_000, 10, 500, {"n_estimators": 50}),
    ("BinnedForestClassifier", 20_000, 12, 4, {"n_estimators": 50, "categories": 12}),
    ("BoostedTreesClassifier", 10_000, 20, 3, {"n_estimators": 50}),
    ("RandomCompositeForestClassifier", 2000, 10, 2, {}),
    ("RandomCompositeForestClassifier", 4000, 20, 5, {"n_estimators": 50}),
    ("RandomCompositeForestClassifier", 1000, 10, 100, {"n_estimators": 20}),
    ("RandomCompositeForestClassifier", 1000, 10, 500, {"n_estimators": 10}),
    ("RandomCompositeForestClassifier", 3000, 1, 3, {"n_estimators": 30}),
    ("RandomCompositeForestClassifier", 1000, 8, 3, {"n_estimators": 30, "categories": 12}),
    ("CompositeTreeClassifier", 5000, 10, 2, {}),
    ("RandomCompositeForestClassifierCV", 600, 8, 2, {"n_estimators": [10, 30], "max_depth": [1, 2, 3]}),
    ("DeepCascadeSVMClassifier", 1500, 10, 2, {}),
    ("DeepCascadeSVMClassifier", 1000, 10, 500, {"max_leaves": 2}),
    ("DeepCascadeSVMClassifierCV", 400, 8, 2, {"max_leaves": 2}),
    ("DeepCascadeClassifier", 3000, 10, 2, {}),
    ("PolySVC", 6000, 10, 3, {}),
    ("PolySVC", 4000, 60, 2, {}),
    ("PolySVC", 1000, 10, 500, {}),
    ("PolySVC", 3000, 10, 2, {"C": "auto"}),
    ("PolySVC", 3000, 4, 3, {"C": "auto"}),
    ("PolySVC", 1500, 30, 5, {"C": "auto"}),
    ("PolySVC", 2000, 8, 3, {"C": "auto", "kernel": "rbf"}),
    ("PolySVC", 2000, 8, 3, {"C": "auto", "categories": 12}),
    ("PolySVC", 1000, 10, 500, {"C": "auto"}),
    ("MarginDeepForestClassifier", 10_000, 20, 5, {"n_estimators": 20, "max_layers": 3}),
    ("CascadeForestClassifier", 20_000, 20, 2, {"n_estimators": 20, "max_layers": 3}),
    ("MultiGrainedScanner", 2000, 64, 3, {}),
    ("SurewoodClassifier", 2000, 10, 3, {"n_estimators": 20}),
]


def main(quick: bool = False, only: str | None = None) -> None:
    """A line per shape as the table of docs/internals/performance.md has it."""
    columns_told = "MiB estimated | MiB peak | ratio | seconds estimated | seconds"
    print(f"| estimator | rows × columns, classes | {columns_told} |")
    print("|---|---|---|---|---|---|---|")
    for name, rows, columns, classes, parameters in CASES[:3] if quick else CASES:
        if only is not None and only not in name:
            continue
        arguments = [name, str(rows), str(columns), str(classes), json.dumps(parameters)]
        command = [sys.executable, "-m", "benchmarks.cost_run", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1])
        if done.returncode:
            print(name, done.stderr[-500:])
            continue
        out = json.loads(done.stdout)
        told, peak = out["estimate"] / 2**20, out["peak"] / 2**20
        inside = "" if out["low"] <= out["seconds"] <= out["high"] else " outside"
        search = ', C="auto"' if parameters.get("C") == "auto" else ""
        search += ", RBF kernel" if parameters.get("kernel") == "rbf" else ""
        half = ", half of the columns categories" if "categories" in parameters else ""
        print(
            f"| `{name}`{search} | {rows:,} × {columns:,}{half}, {classes} | "
            f"{told:.0f} | {peak:.0f} | {told / peak:.2f} | "
            f"{out['low']:.2g} to {out['high']:.2g} | {out['seconds']:.1f}{inside} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
