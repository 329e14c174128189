"""Measure the tables of docs/research/cascade.md and write them into it.

    python -m benchmarks.cascade_tables                 # all tables, a few minutes
    python -m benchmarks.cascade_tables raw             # some of them

Folds of the protocol measured before are read from results/cascade_protocol.csv; delete it to measure
them again.

Needs SUREWOOD_DATA. A table stands between ``<!-- name -->`` and ``<!-- end name -->``.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from benchmarks import bench_cascade
from papers.cascades import SETS
from papers.cascades.folds import PAPER_GAMMAS, prepare_fold, run_fold
from papers.datasets import load
from surewood.bounds import log_growth, vc_dimension
from surewood.cascade import DeepCascadeSVMClassifier
from surewood.cascade.search import minimise

PAGE = Path(__file__).resolve().parent.parent / "docs" / "research" / "cascade.md"
RESULTS = Path(__file__).resolve().parent / "results" / "cascade_protocol.csv"
SEEDS = (0, 1, 2)


def folds_of_set(name: str, seed: int) -> pd.DataFrame:
    """The five folds of one set and shuffle, measured once."""
    known = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=["data_set", "shuffle"])
    own = known[(known["data_set"] == name) & (known["shuffle"] == seed)]
    if len(own) == 5:
        return own
    own = pd.DataFrame(
        [
            {"data_set": name, "shuffle": seed, "fold": j, **run_fold(prepare_fold(name, j, seed))}
            for j in range(5)
        ]
    )
    whole = own if known.empty else pd.concat([known, own], ignore_index=True)
    RESULTS.parent.mkdir(exist_ok=True)
    whole.to_csv(RESULTS, index=False, float_format="%.6g")
    return own


def folds_of_sets(name: str) -> pd.DataFrame:
    """All folds of all shuffles of one set."""
    return pd.concat([folds_of_set(name, seed) for seed in SEEDS]).drop(columns="data_set")


def markdown(rows: list[dict]) -> str:
    """A Markdown table."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(str(row[name]) for name in names) + " |" for row in rows]
    return "\n".join(lines)


def untouched() -> str:
    """The paper's protocol on sets that took no part in any decision about the two standard errors."""
    rows = []
    for name in ("australian", "sonar", "wdbc"):
        mean = folds_of_sets(name).mean()
        rows.append(
            {
                "data set": name,
                "our SVM": f"{mean['svm']:.4f}",
                "**2 standard errors (default)**": f"**{mean['ours']:.4f}**",
                "1 standard error": f"{mean['one_se']:.4f}",
                "every gain taken": f"{mean['best']:.4f}",
                "exactly 2 / 3 / 4 leaves": " / ".join(f"{mean[f'exactly_{k}']:.3f}" for k in (2, 3, 4)),
            }
        )
        print(rows[-1], flush=True)
    return markdown(rows)


def raw() -> str:
    """What the printed growth formula would have selected, on the first fold of each set."""
    rows = []
    for name in SETS:
        fold = prepare_fold(name, 0)
        degrees, n = fold.plan.kernels.degrees, fold.sample.design.shape[1]
        m = int(fold.task.tree.total)
        dimension = vc_dimension(n, list(degrees))
        printed = log_growth(dimension, m, mode="raw", force=True)
        complexity = np.sqrt(np.maximum(printed, 0.0) / m)  # the root of a negative number, read as 0
        for gamma in PAPER_GAMMAS:
            right = minimise(fold.task.tree, fold.task.complexity, gamma)
            wrong = minimise(fold.task.tree, complexity, gamma, max_svms=20_000)
            rows.append(
                {
                    "data set": f"{name}, m = {m}",
                    "VC dimensions": ", ".join(f"{d:,}" for d in dimension),
                    "d log(em/d) as printed": ", ".join(f"{v:,.0f}" for v in printed),
                    "γ": f"{gamma:g}",
                    "selects": _words(wrong, degrees),
                    "its test error": f"{fold.error(wrong.path, fold.test):.3f}",
                    "corrected": _words(right, degrees),
                    "test error": f"{fold.error(right.path, fold.test):.3f}",
                }
            )
        print(rows[-1], flush=True)
    return markdown(rows)


def _words(found, degrees) -> str:
    own = ", ".join(str(degrees[c]) for c in found.path.choices)
    words = f"degree {own}" if found.path.n_leaves == 1 else f"{found.path.n_leaves} leaves, degrees {own}"
    return words if found.proven else f"{words} (best of {found.n_svms:,} SVMs)"


def multiclass() -> str:
    """One cascade for each class against one cascade of one-vs-one SVMs, five folds."""
    rows = []
    for name in ("iris", "vehicle", "vowel"):
        X, y = load(name).train
        row = {"data set": name}
        for mode in ("one_vs_rest", "native"):
            errors, started = [], time.process_time()
            for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
                model = DeepCascadeSVMClassifier(
                    multiclass=mode, gamma_scale=1e-3, max_leaves=3, calibrate=False, random_state=0,
                    study={"max_svms": 2000, "C_selection": "cv"},
                )  # fmt: skip
                model.fit(X.iloc[train], y.iloc[train])
                errors.append(1.0 - model.score(X.iloc[test], y.iloc[test]))
            row[f"{mode}: error"] = f"{np.mean(errors):.4f}"
            row[f"{mode}: CPU s a fit"] = f"{(time.process_time() - started) / 5:.2f}"
        rows.append(row)
        print(row, flush=True)
    return markdown(rows)


def bench() -> str:
    """What `python -m benchmarks cascade` prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        bench_cascade.main()
    return f"```text\n{printed.getvalue().strip()}\n```"


TABLES = {"bench": bench, "untouched": untouched, "raw": raw, "multiclass": multiclass}


def main(names: list[str]) -> None:
    """Measure the named tables and put them on the page."""
    for name in names or TABLES:
        text = TABLES[name]()
        page = PAGE.read_text(encoding="utf-8")
        between = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        PAGE.write_text(between.sub(lambda m, t=text: f"{m[1]}{t}\n{m[2]}", page), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
