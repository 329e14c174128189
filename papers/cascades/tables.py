"""The cascades' table beside ours, what was chosen, tests and counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from papers.cascades.folds import N_FOLDS
from papers.comparison import LEVEL, SD_WORDS, Results, count_line, counted, rank_diagram
from papers.flagship import FLAGSHIP
from papers.output import deviations
from papers.protocol import Profile, published, published_cells, read_profile

NAMES = {
    "svm": "SVM",
    "cascade": "cascade, the paper's γ",
    "cascade_path": "cascade, γ path",
    "cascade_best": "cascade, every gain taken",
}


def summarise(
    records: Sequence[dict[str, Any]], profile: Profile, shown: Sequence[str] | None = None
) -> dict[str, Any]:
    """Everything the page shows, about the sets `shown` (all by default)."""
    results = Results(records, N_FOLDS * int(profile.get("shuffles")), enough=N_FOLDS)
    targets = published("cascades").set_index(["dataset", "method"])["error"]
    every = list(dict.fromkeys(name for name, _ in targets.index))
    sets = [name for name in every if shown is None or name in shown]
    ranks = {NAMES[method]: rank for method, rank in results.ranks(sets, tuple(NAMES)).items()}
    n_ranked = len(results.ranked_sets(sets, tuple(NAMES)))
    return {
        "tables": [
            _main(results, targets, sets),
            _significance(results, sets),
            _choices(results, sets),
            _forced(results, sets),
        ],
        "counts": _counts(results, targets, every),
        "figures": [rank_diagram("Average ranks", ranks, n_ranked)] if ranks else [],
        "deviations": deviations("cascades", profile, read_profile("cascades", "full")),
        "notes": _notes(results, sets),
    }


def _main(results: Results, targets: pd.Series, sets: Sequence[str]) -> dict[str, Any]:
    values = published_cells("cascades")
    columns = [
        "data set", "published SVM", "our SVM", "published cascade", "cascade, the paper's γ", "difference",
        "cascade, γ path", "published depth", "leaves, fold by fold",
    ]  # fmt: skip
    flagship = any(results.has(name, FLAGSHIP) for name in sets)
    columns += [FLAGSHIP] * flagship
    rows = []
    for name in sets:
        target = [
            f"{values[name, method]['error']:.4f} ± {values[name, method]['sd']:g}"
            for method in ("svm", "cascade")
        ]
        depth = f"{values[name, 'cascade']['depth']:.0f}"
        if not results.has(name, *NAMES):
            missing = ["missing"] * (1 + flagship)
            rows.append([name, target[0], "missing", target[1], *["missing"] * 3, depth, *missing])
            continue
        difference = results.spread(name, "cascade").mean - targets[name, "cascade"]
        leaves = [int(v) for v in results.values(name, "cascade", "n_leaves")]
        rows.append(
            [
                name,
                target[0],
                results.cell(name, "svm", digits=4),
                target[1],
                results.cell(name, "cascade", digits=4),
                f"{difference:+.4f}",
                results.cell(name, "cascade_path", digits=4),
                depth,
                " ".join(str(v) for v in leaves),
                *([results.cell(name, FLAGSHIP, digits=4)] * flagship),
            ]
        )
    note = (
        f"Test error, {SD_WORDS}; a repeat is a fold; the paper does not say what its ± is. Difference: ours "
        "minus published. Depth: number of leaves."
    )
    return {
        "name": "errors",
        "title": "Test errors, published and ours",
        "note": note,
        "columns": columns,
        "rows": rows,
    }


def _significance(results: Results, sets: Sequence[str]) -> dict[str, Any]:
    """The paper's statements, and what our folds say."""
    values = published_cells("cascades")
    words = {"cascade": "cascade better, 5 %", "svm": "SVM better, 5 %", "none": "not significant"}
    rows = []
    for name in sets:
        test = results.paired(name, "svm", "cascade") if results.has(name, "svm", "cascade") else None
        if test is None:
            continue
        stated, ours = values[name, "cascade"]["better"], "none"
        if test.p_corrected <= LEVEL:
            ours = "cascade"
        elif test.p_corrected >= 1.0 - LEVEL:
            ours = "svm"
        rows.append([name, words[stated], test.text(), "yes" if ours == stated else "no"])
    return {
        "name": "significance",
        "title": "Published statements of significance, and ours",
        "note": "p: one-sided, that the SVM's error is larger than the cascade's (the paper's γ), plain / "
        "corrected for folds that share data; ours goes by the corrected one.",
        "columns": ["data set", "published", "p", "ours agrees"],
        "rows": rows,
    }


def _choices(results: Results, sets: Sequence[str]) -> dict[str, Any]:
    rows = []
    for name in sets:
        for method in ("cascade", "cascade_path", "cascade_best"):
            own = results.records(name, method)
            if not own:
                continue
            active = [r["metrics"]["active_leaves"] for r in own if "active_leaves" in r["metrics"]]
            rows.append(
                [
                    name,
                    NAMES[method],
                    counted(r["chosen"]["gamma"] for r in own if "gamma" in r["chosen"]),
                    counted(r["metrics"]["n_leaves"] for r in own),
                    counted("-".join(map(str, r["chosen"]["degrees"])) for r in own),
                    f"{sum(active) / len(active):.2f}" if active else "–",
                    results.spread(name, method).text(digits=4),
                ]
            )
    return {
        "name": "choices",
        "title": "What was chosen",
        "note": "Values with the number of folds that chose them. Active leaves: fraction with an "
        "active complexity penalty.",
        "columns": ["data set", "method", "γ", "leaves", "degrees", "active leaves", "test error"],
        "rows": rows,
    }


def _forced(results: Results, sets: Sequence[str]) -> dict[str, Any]:
    rows = []
    for name, records in results.recorded(sets, "cascade_path"):
        cells = []
        for n in (2, 3, 4):
            own = [r["metrics"][key] for r in records if (key := f"error_{n}_leaves") in r["metrics"]]
            cells.append(f"{sum(own) / len(own):.4f}" if own else "–")
        rows.append([name, f"{results.spread(name, 'svm').mean:.4f}", *cells])
    return {
        "name": "leaves",
        "title": "Cascades with exactly 2, 3 and 4 leaves (γ = 0.01)",
        "note": "Mean test errors of the best cascades with a fixed number of leaves, beside the single SVM.",
        "columns": ["data set", "SVM", "2 leaves", "3 leaves", "4 leaves"],
        "rows": rows,
    }


def _counts(results: Results, targets: pd.Series, sets: Sequence[str]) -> list[str]:
    have = [name for name in sets if results.complete(name, *NAMES)]
    mean = {name: {method: results.spread(name, method) for method in NAMES} for name in have}
    rows = []
    for method in ("cascade", "cascade_path"):
        good = [name for name in have if mean[name][method].mean <= targets[name, "cascade"]]
        rows.append(count_line(f"{NAMES[method]}, at or below the published cascade", good, have))
        near = [
            name for name in have
            if not mean[name][method].mean > mean[name]["svm"].mean + mean[name]["svm"].sd
        ]  # fmt: skip
        rows.append(
            count_line(f"{NAMES[method]}, not above our SVM by more than its standard deviation", near, have)
        )
    return rows


def _notes(results: Results, sets: Sequence[str]) -> list[str]:
    leaves = [int(v) for name in sets for v in results.values(name, "cascade", "n_leaves")]
    single = sum(v == 1 for v in leaves)
    return [
        f"Under the paper's γ the exact minimizer is a single SVM in {single} of {len(leaves)} folds: "
        "with a correct growth function a second leaf costs more complexity than it saves errors."
    ]
