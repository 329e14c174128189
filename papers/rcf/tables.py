"""The table of random composite forests beside ours, what was chosen, tests, ranks and counts.

What the paper's γ alone ([D-11]) and pooled tuning ([D-18]) would have given is read from the
error counts in the records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from papers.comparison import LEVEL, SD_WORDS, Results, Spread, count_line, counted, rank_diagram, test_cell
from papers.flagship import FLAGSHIP
from papers.output import deviations
from papers.protocol import OFFICIAL, PAPER, Profile, published, published_cells, read_profile
from papers.rcf.grid import preferred
from papers.records import unpack

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
#: Columns of the published table.
PUBLISHED = ("rf", "rcf", "rf_svm")
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
            _main(results, sets),
            _significance(results, sets),
            _methods(results, sets),
            _with_validation(results, sets),
            _choices(results, sets),
            _ranks(results, sets),
        ],
        "counts": _counts(results, targets, every) if profile.division == PAPER else [],  # either_line
        "figures": _figures(results, sets),
        "deviations": deviations("rcf", profile, read_profile("rcf", "full")),
    }


def _main(results: Results, sets: Sequence[str]) -> dict[str, Any]:
    """Every published number beside ours."""
    values = published_cells("rcf")
    columns, rows = ["data set"], []
    for method in PUBLISHED:
        columns += [f"published {NAMES[method]}", f"our {NAMES[method]}"]
    columns += ["RCF: ours − published", "p (RF worse): plain / corrected"]
    for name in sets:
        cells = []
        for method in PUBLISHED:
            value = values[name, method]
            cells += [f"{value['error']:.2f} ± {value['sd']:.2f}", results.cell(name, method, 100)]
        both = results.has(name, "rf", "rcf")
        difference = 100 * results.spread(name, "rcf").mean - values[name, "rcf"]["error"] if both else 0.0
        cells.append(f"{difference:+.2f}" if both else "missing")
        rows.append([name, *cells, test_cell(results, name, "rf", "rcf") if both else "missing"])
    return {
        "name": "errors",
        "title": "Test errors, published and ours",
        "note": f"{ERROR_WORDS}; the paper does not say what its ± is. p: one-sided, that RF's error is "
        "larger than RCF's, plain and corrected for repeats that share data.",
        "columns": columns,
        "rows": rows,
    }


def _significance(results: Results, sets: Sequence[str]) -> dict[str, Any]:
    """The paper's statements about RCF against RF, and what our repeats say."""
    values = published_cells("rcf")
    rows = []
    for name in sets:
        test = results.paired(name, "rf", "rcf") if results.has(name, "rf", "rcf") else None
        if test is None:
            continue
        stated = values[name, "rcf"]["level"]
        if stated == "none":
            statement, agrees = "not significant", test.p_corrected > LEVEL
        else:
            statement, agrees = f"RCF better, {100 * float(stated):g} %", test.p_corrected <= float(stated)
        rows.append([name, statement, test.text(), "yes" if agrees else "no"])
    return {
        "name": "significance",
        "title": "Published statements of significance, and ours",
        "note": "p: that RF's error is larger than RCF's, plain / corrected. Ours agrees where the latter "
        f"is at most the published level, or above {LEVEL:g} where the paper sees no difference.",
        "columns": ["data set", "published", "p", "ours agrees"],
        "rows": rows,
    }


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
        "(common degree), and that RCF with 10 sequences, is worse than RCF: plain / corrected. The paper's "
        "γ: 1e-3 to 1 [D-11]. Pooled tuning: one choice for all repeats, by their mean validation error "
        "[D-18]."
    )
    table = _compared(results, sets, PROTOCOL, tests)
    table["columns"][3:3] = ["RCF, the paper's γ", "RCF, pooled tuning"]
    columns = published("rcf").drop_duplicates("dataset").set_index("dataset")["features"]
    for row in table["rows"]:
        own, n_columns = results.records(row[0], "rcf"), int(columns[row[0]])
        found = restricted(own, n_columns, PAPER_GAMMAS), pooled_choice(own, n_columns)
        row[3:3] = ["missing" if spread is None else spread.text(100) for spread in found]
    return {"name": "methods", "title": "All methods of the protocol", "note": note, **table}


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


def _counts(results: Results, targets: pd.Series, sets: Sequence[str]) -> list[str]:
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
            count_line(f"{NAMES[method]} at or below the published RCF", good, have),
            count_line(f"{NAMES[method]} below our {NAMES[forest]}", below, have),
        ]
    return rows


def either_line(records: Sequence[dict[str, Any]]) -> str:
    """On how many sets the refitted forest or the default is at or below the published error.

    Parameters
    ----------
    records : sequence of dict
        Of both protocols.
    """
    targets = published("rcf").set_index(["dataset", "method"])["error"]
    sets = list(dict.fromkeys(str(name) for name, _ in targets.index))
    by_protocol = [
        Results([record for record in records if record["protocol"] == name]) for name in (PAPER, OFFICIAL)
    ]
    errors = {
        name: [
            100 * results.spread(name, method).mean
            for results in by_protocol
            for method in ("rcf_refit", "surewood")
            if results.has(name, method)
        ]
        for name in sets
    }
    have = [name for name in sets if errors[name]]
    good = [name for name in have if min(errors[name]) <= targets[name, "rcf"] + 1e-9]
    statement = "RCF, refitted or as the library's default, at or below the published RCF under one protocol"
    return count_line(statement, good, have)


def restricted(records: Sequence[Mapping[str, Any]], n_columns: int, rules: Sequence[float]) -> Spread | None:
    """Test error when every repeat chooses among these values of γ; None without grids."""
    if (found := grids(records)) is None:
        return None
    validation, test = found
    axes = records[0]["grid"]["axes"]
    kept = [k for k, value in enumerate(axes["rule"]) if value in rules]
    chosen = [preferred(errors[:, :, kept], axes["r"], n_columns) for errors in validation]
    return Spread.of([errors[:, :, kept][at] for errors, at in zip(test, chosen)])


def pooled_choice(records: Sequence[Mapping[str, Any]], n_columns: int) -> Spread | None:
    """Test error of the point of smallest mean validation error over the repeats; None without grids."""
    if (found := grids(records)) is None:
        return None
    validation, test = found
    at = preferred(validation.mean(axis=0), records[0]["grid"]["axes"]["r"], n_columns)
    return Spread.of([errors[at] for errors in test])


def grids(records: Sequence[Mapping[str, Any]]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Validation and test errors of every repeat and point of the grid."""
    if not records or not all("grid" in record for record in records):
        return None
    counts = [unpack(record["grid"]) for record in records]
    sizes = [(r["metrics"]["n_validation"], r["metrics"]["n_test"]) for r in records]
    validation, test = (
        np.stack([own[part] / size[part] for own, size in zip(counts, sizes)]) for part in (0, 1)
    )
    return validation, test
