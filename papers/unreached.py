"""Published values that our records do not reach, all columns, and what else was tried on them.

A *reading* of a column is something that could have been published as its number: the protocol, a refit,
another division, another scaling. Readings come from the records and from ``papers/NAME/trials.csv``
(``benchmarks/study_papers_cells.py`` writes it). Numbers chosen by looking at the test part are no readings,
and neither are other classifiers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from papers.comparison import Results, Spread
from papers.protocol import PAPER, paper_folder, published, published_cells

#: Column of a paper's table -> methods of records that read it, the protocol's own first.
READINGS = {
    "rcf": {
        "rf": ("rf", "rf_refit"),
        "rcf": ("rcf", "rcf_sequences", "rcf_refit", "surewood"),
        "rf_svm": ("rf_svm", "rf_svm_random"),
    },
    "cascades": {"svm": ("svm",), "cascade": ("cascade", "cascade_path", "cascade_best")},
    "mddf": {
        "MLP": ("MLP",),
        "RF": ("RF",),
        "XGBoost": ("XGBoost",),
        "gcForest": ("gcForest",),
        "mdDF": ("mdDF", "mdDF literal", "surewood default"),
        "mdDF-SF": ("mdDF-SF",),
        "mdDF-ST": ("mdDF-ST",),
        "mdDF-NP": ("mdDF-NP",),
    },
}
#: The column that the trials and the options of the records are about.
_TRIED = {"rcf": "rcf", "mddf": "mdDF"}
_NO_READINGS = ("RCF, smallest validation error", "RCF, smallest test error", "RF", "RF, refitted",
                "random forest", "SurewoodClassifier")  # fmt: skip
_OTHER_TRIALS = ("other classifiers", "rings in three groups")


class Reading(NamedTuple):
    """A name, the mean and spread of its errors, and the number of repeats."""

    name: str
    errors: Spread
    repeats: int


def unreached_table(paper: str, records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One row per published value that the protocol's own method does not reach."""
    values = published(paper)
    accuracy = "accuracy" in values
    scale = 1.0 if accuracy or paper == "cascades" else 100.0
    digits = 4 if paper == "cascades" else 2

    def shown(error: float) -> str:
        return f"{100.0 - error if accuracy else error:.{digits}f}"

    rows, measured = [], 0
    for value in values.to_dict("records"):
        target = 100.0 - value["accuracy"] if accuracy else value["error"]
        readings = list(_readings(paper, value["dataset"], value["method"], records, scale))
        if not readings or readings[0].name != READINGS[paper][value["method"]][0]:
            continue  # no record of the headline protocol
        measured += 1
        headline, best = readings[0], min(readings, key=lambda reading: reading.errors.mean)
        if round(headline.errors.mean, digits) <= target + 1e-9:
            continue
        verdict = "reached by" if round(best.errors.mean, digits) <= target + 1e-9 else "nearest:"
        spread = f" ± {value['sd']:g}" if "sd" in value else ""
        published_value = value["accuracy"] if accuracy else value["error"]
        rows.append(
            [
                value["dataset"],
                value["method"],
                f"{published_value:.{digits}f}{spread}",
                shown(headline.errors.mean),
                f"{headline.errors.mean - target:.{digits}f}",
                len(readings),
                f"{verdict} {best.name}, {shown(best.errors.mean)} in {best.repeats}",
            ]
        )
    return {
        "columns": ["data set", "column", "published", "ours", "gap", "readings tried", "best, in repeats"],
        "rows": rows,
        "note": f"{len(rows)} of {measured} published values with records are not reached.",
    }


def _readings(
    paper: str, dataset: str, column: str, records: Sequence[Mapping[str, Any]], scale: float
) -> Iterator[Reading]:
    """Readings of a cell, the headline protocol first; errors in the unit of the paper's table."""
    methods = READINGS[paper][column]
    tried = _TRIED.get(paper) == column
    protocols = sorted({r["protocol"] for r in records}, key=lambda name: (name != PAPER, name))
    for protocol in protocols:
        results = Results([r for r in records if r["protocol"] == protocol and r["dataset"] == dataset])
        options = sorted(
            {r["method"] for r in records if r["method"].startswith("option: ")} if tried else ()
        )
        for method in (*methods, *options):
            if not results.has(dataset, method):
                continue
            if paper == "mddf":
                errors = 100.0 - results.values(dataset, method, "accuracy")
            else:
                errors = scale * results.values(dataset, method)
            where = "" if protocol == PAPER else f" ({protocol})"
            yield Reading(f"{method}{where}", Spread.of(errors), len(errors))
    if tried:
        trials = read_trials(paper)
        trials = trials[
            (trials["set"] == dataset)
            & ~trials["trial"].str.startswith(_OTHER_TRIALS)
            & ~trials["method"].isin(_NO_READINGS)
        ]
        for (trial, method), rows in trials.groupby(["trial", "method"], sort=False):
            yield Reading(f"{trial} ({method})", Spread.of(rows["error"].to_numpy()), len(rows))


def ranking_table(paper: str, records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Distance of each protocol's and reading's numbers from the published ones, over all cells together."""
    values = published_cells(paper)
    protocols = sorted({r["protocol"] for r in records}, key=lambda name: (name != PAPER, name))
    distances = {name: _distances(paper, values, name, records) for name in protocols}
    headline = distances[PAPER]
    rows = []
    for name, cells in distances.items():
        common = [key for key in cells if key in headline]
        if common:
            mean, same = (sum(abs(d[key]) for key in common) / len(common) for d in (cells, headline))
            reached = sum(cells[key] <= 1e-9 for key in common)
            rows.append([name, len(common), f"{mean:.2f}", f"{same:.2f}", f"{reached} of {len(common)}"])
    unit = "points of accuracy" if paper == "mddf" else "units of the published ±"
    return {
        "columns": ["reading", "cells", "mean distance", "the headline's on these cells", "reached"],
        "rows": sorted(rows, key=lambda row: float(row[2]) - float(row[3])),
        "note": f"Mean absolute difference between our means and the published values, in {unit}, over all "
        "published cells with records; the protocol's own method of each column. The reading with the "
        "smallest distance is inferred from the published numbers, so it is no prediction of them.",
    }


def _distances(
    paper: str,
    values: Mapping[tuple[str, str], Mapping[str, Any]],
    protocol: str,
    records: Sequence[Mapping[str, Any]],
) -> dict[tuple[str, str], float]:
    """Ours minus published of every cell, positive where ours is worse."""
    results = Results([r for r in records if r["protocol"] == protocol])
    distances = {}
    for key, value in values.items():
        method = READINGS[paper][key[1]][0]
        if not results.has(key[0], method):
            continue
        if paper == "mddf":
            distances[key] = value["accuracy"] - results.spread(key[0], method, "accuracy").mean
        else:
            scale = 100.0 if paper == "rcf" else 1.0
            distances[key] = (scale * results.spread(key[0], method).mean - value["error"]) / value["sd"]
    return distances


def read_trials(paper: str) -> pd.DataFrame:
    """All rows of a paper's trials, errors in percent."""
    rows = pd.read_csv(paper_folder(paper) / "trials.csv")
    return rows.assign(error=100.0 * rows["error"])


def trials_table(paper: str) -> dict[str, Any]:
    """Mean and standard deviation of everything that was tried beside the records."""
    accuracy = paper == "mddf"
    rows = []
    for (dataset, trial), group in read_trials(paper).groupby(["set", "trial"], sort=False):
        cells = []
        for method, errors in group.groupby("method", sort=False)["error"]:
            values = (100.0 - errors if accuracy else errors).to_numpy()
            cells.append(f"{method} {Spread.of(values).text()}")
        sizes = f"{group['n_train'].min()}/{group['n_test'].min()}"
        rows.append([dataset, trial, sizes, group["repeat"].nunique(), "; ".join(cells)])
    what = "test accuracy" if accuracy else "test error"
    return {
        "columns": ["data set", "trial", "training/test rows", "repeats", f"{what} in percent"],
        "rows": rows,
    }
