"""The study behind the defaults of composite forests (docs/research/composite-forest.md holds its tables).

    python -m benchmarks.study_composite select --out study.csv      # variants, on selection data only
    python -m benchmarks.study_composite test --out study.csv        # the frozen default, on the paper's sets
    python -m benchmarks.study_composite untouched --out study.csv   # ... on six sets that chose nothing
    python -m benchmarks.study_composite table --out study.csv       # Markdown tables from the rows so far

Every repeat draws a fresh permutation; its first fifth is the test part. ``select`` never looks at it:
variants are trained on three quarters of the rest and judged on the last quarter. Results are appended
row by row, and rows that are there already are not computed again. The peer is scikit-learn's random
forest with 500 trees.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.study_files import append_rows
from papers.datasets import load
from surewood.composite import RandomCompositeForestClassifier, pilot

PAPER_SETS = (
    "vowel", "vehicle", "dna", "pendigits", "german_numeric", "iris", "abalone", "a2a", "australian",
    "usps", "sonar",
)  # fmt: skip
UNTOUCHED_SETS = ("satimage", "letter", "yeast", "ionosphere", "breast_cancer", "splice")
MOST_ROWS = {"select": 2000, "test": 8000, "untouched": 8000}
REPEATS = {"select": 3, "test": 5, "untouched": 5}
FIELDS = ("phase", "set", "repeat", "method", "error", "fit_s", "predict_s", "note")


def random_forest() -> Any:
    """The peer; categories as ordinal codes."""
    encoder = make_column_transformer(
        (OrdinalEncoder(), make_column_selector(dtype_include=["category", "object"])),
        remainder="passthrough",
    )
    return make_pipeline(encoder, RandomForestClassifier(500, random_state=0, n_jobs=1))


@contextmanager
def rule(**values: Any) -> Iterator[None]:
    """Another value for a constant of the pilot, while a variant runs."""
    before = {name: getattr(pilot, name) for name in values}
    for name, value in values.items():
        setattr(pilot, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(pilot, name, value)


def forest(**parameters: Any) -> Callable[[], Any]:
    return lambda: RandomCompositeForestClassifier(random_state=0, **parameters)


def paper(**parameters: Any) -> Callable[[], Any]:
    return lambda: RandomCompositeForestClassifier.exact(random_state=0, **parameters)


NINE = tuple(range(1, 10))
#: name: (estimator, constants of the pilot)
VARIANTS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "random forest, 500 trees": (random_forest, {}),
    "paper: degrees 1-9, γ 1e-3, depth 4": (paper(), {}),
    "paper: degrees 1-9, γ 1e-4, depth 4": (paper(gamma_scale=1e-4), {}),
    "paper: degrees 1-3, γ 1e-4, depth 4": (paper(gamma_scale=1e-4, degrees=(1, 2, 3)), {}),
    "the same with constant leaves": (
        paper(gamma_scale=1e-4, degrees=(1, 2, 3), study={"constant_leaves": True}), {},
    ),
    "one common degree, depth 4": (paper(selection="common_degree", degrees=(1, 2, 3)), {}),
    "random degrees 1-3, depth 4": (paper(selection="random_degree", degrees=(1, 2, 3)), {}),
    "pilot, one setting, no plain trees": (forest(plain_weight=0.0), {"BEST": 1}),
    "pilot, three settings, no plain trees": (forest(plain_weight=0.0), {}),
    "pilot, one setting, plain trees": (forest(), {"BEST": 1}),
    "pilot, three settings, plain trees": (forest(), {}),
    "... five settings": (forest(), {"BEST": 5}),
    "... degrees 1-9": (forest(degrees=NINE), {}),
    "... depth 0 only": (forest(max_depth=0), {}),
    "... depth 3 only": (forest(max_depth=3), {}),
    "... bootstrap": (forest(study={"bootstrap": True}), {}),
    "... trees on all rows": (forest(study={"max_samples": None}), {}),
    "... pairwise vote shares": (forest(study={"leaf_scores": "ovo_votes"}), {}),
}  # fmt: skip
DEFAULT = "pilot, three settings, plain trees"
PEER = "random forest, 500 trees"


def rows_of(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """The rows the paper used; all rows of the other sets, breast_cancer without its sample number."""
    data = load(name)
    if name in PAPER_SETS:
        return data.part_of("rcf")
    X = data.X.drop(columns=data.X.columns[0]) if name == "breast_cancer" else data.X
    return X, data.y


def parts(name: str, repeat: int, phase: str) -> tuple[Any, Any, Any, Any]:
    """Training and evaluation rows of a repeat."""
    X, y = rows_of(name)
    order = np.random.default_rng(repeat).permutation(len(y))
    n_test = int(np.ceil(0.2 * len(y)))
    test, rest = order[:n_test], order[n_test:]
    rest = rest[: MOST_ROWS[phase]]
    if phase == "select":
        cut = int(0.75 * len(rest))
        rest, test = rest[:cut], rest[cut:]
    return X.iloc[rest], y.iloc[rest], X.iloc[test], y.iloc[test]


def measure(name: str, repeat: int, phase: str, method: str) -> dict[str, Any]:
    """One fit and its error."""
    X, y, X_test, y_test = parts(name, repeat, phase)
    make, constants = VARIANTS[method]
    with rule(**constants):
        started = time.perf_counter()
        model = make().fit(X, y)
        fitted = time.perf_counter()
        wrong = np.asarray(model.predict(X_test)) != np.asarray(y_test)
        predicted = time.perf_counter()
    note = ""
    if hasattr(model, "settings_"):
        shapes = [f"{s.max_depth}/{'-'.join(map(str, s.degrees))}" for s in model.settings_]
        note = f"plain {model.plain_weight_}; depth/degrees {' '.join(shapes)}"
    values = (phase, name, repeat, method, float(wrong.mean()), fitted - started, predicted - fitted, note)
    return dict(zip(FIELDS, values))


def run(phase: str, out: Path, sets: tuple[str, ...], methods: list[str], repeats: int) -> None:
    done = set()
    if out.exists():
        known = pd.read_csv(out)
        done = set(zip(known.phase, known.set, known.repeat, known.method))
    for repeat in range(repeats):
        for name in sets:
            for method in methods:
                if (phase, name, repeat, method) in done:
                    continue
                row = measure(name, repeat, phase, method)
                append_rows(out, FIELDS, [row])
                print(f"{phase} {name} {repeat} {method}: {100 * row['error']:.2f} %", flush=True)


def tables(out: Path) -> None:
    """Markdown: variants by mean ratio to the peer, then default and peer set by set."""
    rows = pd.read_csv(out)
    select = rows[rows.phase == "select"]
    if len(select):
        means = select.pivot_table(index="method", columns="set", values="error")
        ratio = means.div(means.loc[PEER])
        frame = pd.DataFrame(
            {
                "sets": means.notna().sum(axis=1),
                "mean ratio": ratio.mean(axis=1).round(3),
                "at or below": (ratio <= 1 + 1e-12).sum(axis=1),
                "seconds a fit": select.groupby("method").fit_s.mean().round(1),
            }
        )
        frame = frame.reindex([m for m in VARIANTS if m in frame.index])
        print("| variant | sets | mean ratio | at or below | seconds a fit |\n|---|---|---|---|---|")
        for method, row in frame.iterrows():
            cells = (int(row["sets"]), row["mean ratio"], int(row["at or below"]), row["seconds a fit"])
            print(f"| {method} | {' | '.join(map(str, cells))} |")
    for phase in ("test", "untouched"):
        part = rows[rows.phase == phase]
        if not len(part):
            continue
        print(f"\n{phase}\n")
        print("| set | repeats | random forest | composite forest | at or below | seconds | plain share |")
        print("|---|---|---|---|---|---|---|")
        wins = 0
        for name in PAPER_SETS + UNTOUCHED_SETS:
            ours = part[(part.set == name) & (part.method == DEFAULT)]
            peer = part[(part.set == name) & (part.method == PEER)]
            if not len(ours) or not len(peer):
                continue
            both = ours.merge(peer, on="repeat", suffixes=("", "_peer"))
            a, b = 100 * both.error, 100 * both.error_peer
            win = a.mean() <= b.mean() + 1e-9
            wins += int(win)
            share = both.note.str.extract(r"plain ([\d.]+)")[0].astype(float).mean()
            print(
                f"| {name} | {len(both)} | {b.mean():.2f} ± {b.std():.2f} | {a.mean():.2f} ± {a.std():.2f} "
                f"| {'yes' if win else 'no'} | {both.fit_s.mean():.1f} | {share:.2f} |"
            )
        print(f"\nat or below the random forest: {wins}")


def main() -> None:
    parser = argparse.ArgumentParser(description="the study behind the defaults of composite forests")
    parser.add_argument("phase", choices=("select", "test", "untouched", "table"))
    parser.add_argument("--out", type=Path, default=Path("study_composite.csv"))
    parser.add_argument("--sets", help="comma-separated; all of the phase unless given")
    parser.add_argument(
        "--methods", help="semicolon-separated; all (select) or default and peer unless given"
    )
    parser.add_argument("--repeats", type=int)
    arguments = parser.parse_args()
    if arguments.phase == "table":
        tables(arguments.out)
        return
    phase = arguments.phase
    sets = UNTOUCHED_SETS if phase == "untouched" else PAPER_SETS
    if arguments.sets:
        sets = tuple(arguments.sets.split(","))
    methods = list(VARIANTS) if phase == "select" else [PEER, DEFAULT]
    if arguments.methods:
        methods = arguments.methods.split(";")
    run(phase, arguments.out, sets, methods, arguments.repeats or REPEATS[phase])


if __name__ == "__main__":
    main()
