"""The table of random composite forests beside ours, what was chosen, tests, ranks and bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from surewood.experiments.comparison import SD_WORDS, Results, count_bar, counted, test_cell
from surewood.experiments.decisions import deviations
from surewood.experiments.flagship import FLAGSHIP
from surewood.experiments.protocol import PAPER, Profile, published, read_profile
from surewood.experiments.rank_diagram import rank_diagram
from surewood.experiments.rcf.notes import notes
from surewood.experiments.rcf.other_choices import hindsight, pooled, restricted

NAMES = {
    "rf": "RF",
    "rcf": "RCF",
    "rcf_sequences": "RCF, 10 sequences",
    "rf_svm": "RF-SVM, common degree",
    "rf_svm_random": "RF-SVM, random degrees",
    "rf_refit": "RF, refitted",
    "rcf_refit": "RCF, refitted",
    "surewood": "surewood default",
    FLAGSHIP: FLAGSHIP,
}
PROTOCOL = ("rf", "rcf", "rcf_sequences", "rf_svm", "rf_svm_random")
WITH_VALIDATION = ("rf_refit", "rcf_refit", "surewood")
PUBLISHED_REPEATS = 5
PAPER_GAMMAS = (1e-3, 1e-2, 1e-1, 1.0)
ERROR_WORDS = f"Test error in percent, {SD_WORDS}"


def summarise(
    records: Sequence[dict[str, Any]], profile: Profile, shown: Sequence[str] | None = None
) -> dict[str, Any]:
    """Everything the page shows, about the sets `shown` (all by default)."""
    targets = published("rcf").set_index(["dataset", "method"])["error"]
    every = list(dict.fromkeys(name for name, _ in targets.index))
    repeats = {name: int(profile.get("repeats", name)) for name in every}
    results = Results(records, repeats, enough=PUBLISHED_REPEATS)
    sets = [name for name in every if shown is None or name in shown]
    return {
        "tables": [
            _main(results, targets, sets),
            _methods(results, sets),
            _with_validation(results, sets),
            _other_choices(results, sets),
            _choices(results, sets),
            _ranks(results, sets),
        ],
        "bars": _bars(results, targets, every) if profile.division == PAPER else [],  # either_protocol
        "figures": _figures(results, sets),
        "notes": notes(results, targets, sets),
        "deviations": deviations("rcf", profile, read_profile("rcf", "full")),
    }


def _main(results: Results, targets: pd.Series, sets: Sequence[str]) -> dict[str, Any]:
    rows = []
    for name in sets:
        both = results.has(name, "rf", "rcf")
        difference = 100 * results.spread(name, "rcf").mean - targets[name, "rcf"] if both else None
        rows.append(
            [
                name,
                f"{targets[name, 'rf']:.2f}",
                results.cell(name, "rf", 100),
                f"{targets[name, 'rcf']:.2f}",
                results.cell(name, "rcf", 100),
                "missing" if difference is None else f"{difference:+.2f}",
                test_cell(results, name, "rf", "rcf") if both else "missing",
            ]
        )
    return {
        "name": "errors",
        "title": "Test errors, published and ours",
        "note": f"{ERROR_WORDS}. Difference: ours minus published. p: one-sided, that RF's error is larger "
        "than RCF's, plain and corrected for repeats that share data.",
        "columns": [
            "data set", "published RF", "our RF", "published RCF", "our RCF", "difference",
            "p (RF worse): plain / corrected",
        ],
        "rows": rows,
    }  # fmt: skip


def _compared(
    results: Results, sets: Sequence[str], methods: Sequence[str], tests: Mapping[str, tuple[str, str]]
) -> dict[str, Any]:
    """Columns and rows: one row per data set, a cell per method, and the test of each pair of methods."""
    rows = [
        [
            name,
            *(results.cell(name, method, 100) for method in methods),
            *(_test(results, name, *pair) for pair in tests.values()),
        ]
        for name in sets
    ]
    return {"columns": ["data set", *(NAMES[method] for method in methods), *tests], "rows": rows}


def _methods(results: Results, sets: Sequence[str]) -> dict[str, Any]:
    tests = {"p (RF-SVM worse)": ("rf_svm", "rcf"), "p (10 sequences worse)": ("rcf_sequences", "rcf")}
    note = (
        f"{ERROR_WORDS}; fitted to the training part, parameters by validation. p: that RF-SVM "
        "(common degree), and that RCF with 10 sequences, is worse than RCF: plain / corrected."
    )
    about = {"name": "methods", "title": "All methods of the protocol", "note": note}
    return about | _compared(results, sets, PROTOCOL, tests)


def _test(results: Results, name: str, first: str, second: str) -> str:
    return test_cell(results, name, first, second) if results.has(name, first, second) else "missing"


def with_validation(results: Results, sets: Sequence[str]) -> tuple[str, ...]:
    """Methods that see the validation part; the recommended classifier where there are records of it."""
    return WITH_VALIDATION + ((FLAGSHIP,) if any(results.has(name, FLAGSHIP) for name in sets) else ())


def _with_validation(results: Results, sets: Sequence[str]) -> dict[str, Any]:
    tests = {"p (RF worse than RCF)": ("rf_refit", "rcf_refit"), "p (than default)": ("rf_refit", "surewood")}
    return {
        "name": "refitted",
        "title": "Beside the protocol: fitted to training and validation part together",
        "note": f"{ERROR_WORDS}. The chosen parameters are refitted to both parts; the library's default "
        "tunes itself out of bag. p: that the refitted RF is worse than the refitted RCF, than the default.",
        **_compared(results, sets, with_validation(results, sets), tests),
    }


def _other_choices(results: Results, sets: Sequence[str]) -> dict[str, Any]:
    columns = published("rcf").drop_duplicates("dataset").set_index("dataset")["features"]
    rows = []
    for name in sets:
        own = {method: results.records(name, method) for method in ("rf", "rcf", "rf_svm")}
        n = int(columns[name])
        paper, best = restricted(own["rcf"], n, PAPER_GAMMAS), hindsight(own["rcf"])
        found = {method: pooled(records, n) for method, records in own.items()}
        cells = ["missing" if one is None else one[0].text(100) for one in found.values()]
        point = {} if found["rcf"] is None else found["rcf"][1]
        words = ", ".join(f"{key} {value:g}" for key, value in point.items()).replace("rule", "γ")
        cells.insert(0, "missing" if paper is None else paper.text(100))
        rows.append([name, *cells, "missing" if best is None else best.text(100), words or "missing"])
    return {
        "name": "choices_else",
        "title": "Beside the protocol: other ways to choose from the same grids",
        "note": f"{ERROR_WORDS}; fitted to the training part. The paper's γ: 1e-3 to 1 only [D-11]. One "
        "point: the parameters of smallest mean validation error over all repeats [D-18]; less noise, but "
        "rows tested in one repeat helped to choose in another. Hindsight: the smallest mean test error of "
        "any point, which no rule can know.",
        "columns": [
            "data set", "RCF, the paper's γ", "RF, one point", "RCF, one point", "RF-SVM, one point",
            "RCF, best in hindsight", "RCF's one point",
        ],
        "rows": rows,
    }  # fmt: skip


def _choices(results: Results, sets: Sequence[str]) -> dict[str, Any]:
    rows = []
    for name, own in results.recorded(sets, "rcf"):
        chosen = [record["chosen"] for record in own]
        rows.append(
            [
                name,
                *(counted(c[key] for c in chosen) for key in ("gamma", "depth", "r", "trees")),
                f"{results.spread(name, 'rcf', 'active_leaves').mean:.2f}",
                f"{results.spread(name, 'rcf', 'mean_degree').mean:.1f}",
                counted(r["chosen"]["degree"] for r in results.records(name, "rf_svm")),
            ]
        )
    return {
        "name": "choices",
        "title": "What validation chose for RCF",
        "note": "Values with the number of repeats that chose them. Active leaves: fraction of the leaves "
        "with SVMs whose complexity penalty is active; at 0 the tie rule chose degree 1.",
        "columns": [
            "data set", "γ", "depth", "r", "trees", "active leaves", "mean degree", "RF-SVM's degree",
        ],
        "rows": rows,
    }  # fmt: skip


def _ranks(results: Results, sets: Sequence[str]) -> dict[str, Any]:
    ranks = {**results.ranks(sets, PROTOCOL), **results.ranks(sets, with_validation(results, sets))}
    rows = [[NAMES[method], f"{rank:.2f}"] for method, rank in ranks.items()]
    return {
        "name": "ranks",
        "title": "Average ranks over the measured sets",
        "note": "1 is best. The first five are ranked among themselves, and so are the others.",
        "columns": ["method", "average rank"],
        "rows": rows,
    }


def _figures(results: Results, sets: Sequence[str]) -> list[dict[str, Any]]:
    """Ranks of the protocol's methods, and of those that see the validation part."""
    drawn = []
    for title, methods in (
        ("Average ranks of the protocol's methods", PROTOCOL),
        ("Average ranks, fitted to training and validation part together", with_validation(results, sets)),
    ):
        ranks = results.ranks(sets, methods)
        if ranks:
            named = {NAMES[method]: rank for method, rank in ranks.items()}
            drawn.append(rank_diagram(title, named, len(results.ranked_sets(sets, methods))))
    return drawn


def _bars(results: Results, targets: pd.Series, sets: Sequence[str]) -> list[dict[str, Any]]:
    rows = []
    pairs = [("rcf", "rf"), ("rcf_refit", "rf_refit"), ("surewood", "rf_refit")]
    if FLAGSHIP in with_validation(results, sets):
        pairs.append((FLAGSHIP, "rf_refit"))
    for method, forest in pairs:
        have = [name for name in sets if results.complete(name, method, forest)]
        mean = {name: results.spread(name, method).mean for name in have}
        good = [name for name in have if 100 * mean[name] <= targets[name, "rcf"] + 1e-9]
        below = [name for name in have if mean[name] < results.spread(name, forest).mean - 1e-9]
        rows += [
            count_bar(f"{NAMES[method]} at or below published RCF on at least 9 of 11", 9, good, have, sets),
            count_bar(f"{NAMES[method]} below our {NAMES[forest]} on at least 8 of 11", 8, below, have, sets),
        ]
    return rows
