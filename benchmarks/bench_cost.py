"""Estimates of memory and time beside what fits really took, each fit in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

#: Rows from 200 to 100,000, columns from 1 to 2,000, classes from 2 to 500, every estimator.
CASES = [
    ("BinnedForestClassifier", 100_000, 20, 2, {"n_estimators": 50}),
    ("BinnedForestClassifier", 20_000, 100, 10, {"n_estimators": 100}),
    ("BinnedForestClassifier", 5000, 2000, 3, {"n_estimators": 50}),
    ("BinnedForestClassifier", 20_000, 10, 500, {"n_estimators": 50}),
    ("BoostedTreesClassifier", 10_000, 20, 3, {"n_estimators": 50}),
    ("RandomCompositeForestClassifier", 2000, 10, 2, {}),
    ("RandomCompositeForestClassifier", 4000, 20, 5, {"n_estimators": 50}),
    ("RandomCompositeForestClassifier", 1000, 10, 100, {"n_estimators": 20}),
    ("CompositeTreeClassifier", 5000, 10, 2, {}),
    ("RandomCompositeForestClassifierCV", 600, 8, 2, {"n_estimators": [10, 30], "max_depth": [1, 2, 3]}),
    ("DeepCascadeSVMClassifier", 1500, 10, 2, {}),
    ("DeepCascadeSVMClassifierCV", 400, 8, 2, {"max_leaves": 2}),
    ("DeepCascadeClassifier", 3000, 10, 2, {}),
    ("PolySVC", 6000, 10, 3, {}),
    ("PolySVC", 4000, 60, 2, {}),
    ("PolySVC", 1000, 10, 500, {}),
    ("MarginDeepForestClassifier", 10_000, 20, 5, {"n_estimators": 20, "max_layers": 3}),
    ("CascadeForestClassifier", 20_000, 20, 2, {"n_estimators": 20, "max_layers": 3}),
    ("MultiGrainedScanner", 2000, 64, 3, {}),
    ("SurewoodClassifier", 2000, 10, 3, {"n_estimators": 20}),
]


def main(quick: bool = False, only: str | None = None) -> None:
    run = Path(__file__).with_name("cost_run.py")
    print(f"{'fit':62s} {'MiB told':>9s} {'peak':>6s} {'ratio':>6s} {'seconds told':>16s} {'took':>6s}")
    for name, rows, columns, classes, parameters in CASES[:3] if quick else CASES:
        if only is not None and only not in name:
            continue
        arguments = [name, str(rows), str(columns), str(classes), json.dumps(parameters)]
        done = subprocess.run([sys.executable, str(run), *arguments], capture_output=True, text=True)
        if done.returncode:
            print(name, done.stderr[-500:])
            continue
        out = json.loads(done.stdout)
        told, peak = out["estimate"] / 2**20, out["peak"] / 2**20
        inside = "" if out["low"] <= out["seconds"] <= out["high"] else "  outside"
        case = f"{name} {rows} x {columns}, {classes} classes"
        print(
            f"{case:62s} {told:9.0f} {peak:6.0f} {told / peak:6.2f} {out['low']:7.1f} - {out['high']:6.1f} "
            f"{out['seconds']:6.1f}{inside}  {[(k, round(v / 2**20)) for k, v in out['parts'].items()]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
