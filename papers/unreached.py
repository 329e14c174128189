"""Published values that our records do not reach, all columns, and what else was tried on them.

A *reading* of a column is something that could have been published as its number: the protocol, a refit,
another division, another scaling. Numbers chosen by looking at the test part are no readings, and neither are
other classifiers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from papers.comparison import Results, Spread, counted
from papers.protocol import PAPER, published, published_cells
from papers.rcf.tables import grids

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
#: Variant of a protocol -> columns that take another method of its records.
VARIANTS: dict[str, dict[str, dict[str, str]]] = {
    "rcf": {
        "": {},
        "10 sequences": {"rcf": "rcf_sequences"},
        "refitted": {"rf": "rf_refit", "rcf": "rcf_refit", "rf_svm": "rf_svm_refit"},
        "random degrees": {"rf_svm": "rf_svm_random"},
        "10 sequences, random degrees": {"rcf": "rcf_sequences", "rf_svm": "rf_svm_random"},
    },
    "cascades": {"": {}},
    "mddf": {"": {}, "literal step": {"mdDF": "mdDF literal"}},
}
MAIN_COLUMN = {"rcf": "rcf", "cascades": "cascade", "mddf": "mdDF"}


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
                f"{max(best.errors.mean - target, 0.0):.{digits}f}",
            ]
        )
    return {
        "columns": [
            "data set",
            "column",
            "published",
            "ours",
            "gap",
            "readings tried",
            "best, in repeats",
            "left",
        ],
        "rows": rows,
        "note": f"{len(rows)} of {measured} published values with records are not reached.",
    }


def _readings(
    paper: str, dataset: str, column: str, records: Sequence[Mapping[str, Any]], scale: float
) -> Iterator[Reading]:
    """Readings of a cell, the headline protocol first; errors in the unit of the paper's table."""
    methods = READINGS[paper][column]
    protocols = sorted({r["protocol"] for r in records}, key=lambda name: (name != PAPER, name))
    for protocol in protocols:
        results = Results([r for r in records if r["protocol"] == protocol and r["dataset"] == dataset])
        options = sorted(
            {r["method"] for r in records if r["method"].startswith("option: ")} if column == "mdDF" else ()
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


def ranking_table(paper: str, records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Distance of each combination of readings from the published numbers, over all cells together."""
    column = MAIN_COLUMN[paper]
    rows = []
    nearest: dict[tuple[str, bool], Combination] = {}
    found = combinations(paper, records)
    for one in found:
        nearest.setdefault((one.protocol, one.name == PAPER), one)
    for one in nearest.values():
        cells, same = one.distances, one.headline
        n_main = sum(key[1] == column for key in cells)
        most = max(
            (other for other in found if other.protocol == one.protocol), key=lambda c: c.count(column)
        )
        more = f" ({most.variant}: {most.count(column)})" if most.count(column) > one.count(column) else ""
        rows.append(
            [
                one.name,
                len(cells),
                f"{_mean_size(cells):.2f}",
                f"{_mean_size(same):.2f}",
                f"{len(one.reached)} of {len(cells)}",
                f"{one.count(column)} of {n_main}{more}",
                one.repeats,
            ]
        )
    unit = "points of accuracy" if paper == "mddf" else "units of the published ±"
    return {
        "columns": ["readings", "cells", "mean distance", "the headline's on these cells", "reached",
                    f"{column} reached", "repeats"],
        "rows": rows,
        "note": f"Mean absolute difference between our means and the published values, in {unit}, over all "
        "published cells with records, the headline's on the same repeats; in the order of their difference. "
        "A column that a reading does not concern has the headline's records. Of the variants of a reading "
        "the nearest is listed, and the headline; in brackets the one that reaches more. What stands first "
        "is inferred from the published numbers, so it is no prediction of them.",
    }  # fmt: skip


def best_table(paper: str, records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The best common reading beside the headline, cell by cell."""
    best = best_combination(paper, records)
    columns = list(READINGS[paper])
    values = published_cells(paper)
    rows = []
    for dataset in dict.fromkeys(name for name, _ in best.cells):
        row = [dataset]
        for column in columns:
            cell = best.cells.get((dataset, column))
            if cell is None:
                row += ["–"] * 3
                continue
            value = values[dataset, column]
            digits = 4 if paper == "cascades" else 2
            target = f"{value['accuracy' if paper == 'mddf' else 'error']:.{digits}f}"
            target += f" ± {value['sd']:g}" if "sd" in value else ""
            row += [target, cell.headline.text(digits=digits), cell.ours.text(digits=digits)]
        if paper == "cascades":
            row += [f"{values[dataset, 'cascade']['depth']:.0f}", best.cells[dataset, "cascade"].leaves]
        rows.append(row)
    heads = [
        f"{column}: {what}" for column in columns for what in ("published", "headline", "best common reading")
    ]
    heads += ["published depth", "leaves, fold by fold"] if paper == "cascades" else []
    return {
        "columns": ["data set", *heads],
        "rows": rows,
        "note": f"Best common reading, of those with all cells and at least three repeats: {best.name}. It "
        "was chosen by these published numbers. "
        f"{'Test accuracy' if paper == 'mddf' else 'Test error'}, mean ± standard deviation over the repeats "
        "that both have.",
    }


def hindsight_table(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the best point of RCF's grid would have had, under the headline and the best common reading."""
    values = published_cells("rcf")
    sets = [name for name, column in values if column == MAIN_COLUMN["rcf"]]
    protocols = {"headline": PAPER, "best common reading": best_combination("rcf", records).protocol}
    rows = [[name, f"{values[name, 'rcf']['error']:.2f}"] for name in sets]
    reached = []
    for protocol in protocols.values():
        results, count = Results([r for r in records if r["protocol"] == protocol]), 0
        for name, row in zip(sets, rows):
            own = results.records(name, "rcf")
            _, test = grids(own) or (None, None)
            if test is None:
                row += ["–"] * 2
                continue
            least = Spread.of([100.0 * test.mean(axis=0).min()])
            count += _reached("rcf", values[name, "rcf"], least.mean)
            row += [f"{100.0 * results.spread(name, 'rcf').mean:.2f}", least.text()]
        reached.append(f"{count} of {len(sets)}")
    heads = [f"{name}: {what}" for name in protocols for what in ("chosen", "in hindsight")]
    return {
        "columns": ["data set", "published", *heads],
        "rows": rows,
        "note": "Chosen: mean test error of the points that validation chose. In hindsight: the smallest "
        "mean test error of any point of the grid (γ, r, depth, trees), which no choice of one point for all "
        "repeats can beat; it is no reading. At or below the published error in hindsight: "
        f"{reached[0]} sets, and {reached[1]} under the best common reading "
        f"({protocols['best common reading'].removeprefix(f'{PAPER}, ')}).",
    }


def depths_table(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Numbers of leaves of the cascades beside the published depths, reading by reading."""
    values = published_cells("cascades")
    sets = [name for name, column in values if column == MAIN_COLUMN["cascades"]]
    rows = [["published", *(f"{values[name, 'cascade']['depth']:.0f}" for name in sets)]]
    for one in combinations("cascades", records):
        cells = [one.cells.get((name, "cascade")) for name in sets]
        rows.append([one.name, *("–" if c is None else counted(map(int, c.leaves.split())) for c in cells)])
    return {
        "columns": ["readings", *sets],
        "rows": rows,
        "note": "Numbers of leaves, with the number of folds.",
    }


def best_combination(paper: str, records: Sequence[Mapping[str, Any]]) -> Combination:
    """That of smallest distance with all cells and, but for cells of fewer, three repeats.

    With one or two repeats luck comes first.
    """
    found = combinations(paper, records)
    usual = next(one for one in found if one.name == PAPER)
    return next(
        one
        for one in found
        if one.cells.keys() >= usual.cells.keys()
        and all(one.cells[key].repeats >= min(3, cell.repeats) for key, cell in usual.cells.items())
    )


class Cell(NamedTuple):
    """One published cell under a combination of readings: our means, and the headline's on these repeats."""

    ours: Spread
    headline: Spread
    repeats: int
    leaves: str


class Combination(NamedTuple):
    """Readings that hold for a whole table."""

    name: str
    protocol: str
    variant: str
    cells: dict[tuple[str, str], Cell]
    #: Ours, and the headline's, minus the published value of every cell, positive where ours is worse.
    distances: dict[tuple[str, str], float]
    headline: dict[tuple[str, str], float]
    #: Cells that are at least as good as published, in the published digits.
    reached: set[tuple[str, str]]

    def count(self, column: str) -> int:
        """Cells of a column that are reached."""
        return sum(key[1] == column for key in self.reached)

    @property
    def repeats(self) -> str:
        """Fewest and most repeats of its cells."""
        counts = sorted({cell.repeats for cell in self.cells.values()})
        return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def combinations(paper: str, records: Sequence[Mapping[str, Any]]) -> list[Combination]:
    """Every protocol of the records with every variant of its columns, the smallest distance first."""
    values = published_cells(paper)
    by_protocol: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        by_protocol.setdefault(record["protocol"], []).append(record)
    headline = Results(by_protocol[PAPER])
    found = []
    for protocol, own in by_protocol.items():
        results = Results(own)
        for variant, methods in VARIANTS[paper].items():
            cells = {
                key: cell
                for key in values
                if (cell := _cell(paper, key, methods, results, headline, protocol)) is not None
            }
            if not cells or (
                methods and not any(results.has(key[0], methods.get(key[1], "")) for key in cells)
            ):
                continue
            ours, same = (
                {key: _distance(paper, values[key], getattr(cell, which)) for key, cell in cells.items()}
                for which in ("ours", "headline")
            )
            name = ", ".join(filter(None, (protocol.removeprefix(f"{PAPER}, "), variant)))
            reached = {key for key, cell in cells.items() if _reached(paper, values[key], cell.ours.mean)}
            found.append(Combination(name, protocol, variant, cells, ours, same, reached))
    return sorted(found, key=lambda one: _mean_size(one.distances) - _mean_size(one.headline))


def _cell(
    paper: str,
    key: tuple[str, str],
    methods: Mapping[str, str],
    results: Results,
    headline: Results,
    protocol: str,
) -> Cell | None:
    """Ours beside the headline's, over the repeats that both have; None without records."""
    dataset, column = key
    first = READINGS[paper][column][0]
    if not headline.has(dataset, first):
        return None
    metric, scale = ("accuracy", 1.0) if paper == "mddf" else ("error", 100.0 if paper == "rcf" else 1.0)
    base = {r["repeat"]: r["metrics"] for r in headline.records(dataset, first)}
    method = next((m for m in (methods.get(column), first) if m and results.has(dataset, m)), None)
    if method is not None:
        own = {r["repeat"]: r["metrics"] for r in results.records(dataset, method)}
    elif protocol.startswith(f"{PAPER}, ") and (seen := results.repeats(dataset)):
        own = {repeat: metrics for repeat, metrics in base.items() if repeat in seen}
    else:
        return None
    common = sorted(own.keys() & base.keys())
    ours, same = (Spread.of([scale * side[k][metric] for k in common]) for side in (own, base))
    leaves = " ".join(str(own[k]["n_leaves"]) for k in common if "n_leaves" in own[k])
    return Cell(ours, same, len(common), leaves)


def _distance(paper: str, value: Mapping[str, Any], errors: Spread) -> float:
    if paper == "mddf":
        return float(value["accuracy"] - errors.mean)
    return float((errors.mean - value["error"]) / value["sd"])


def _reached(paper: str, value: Mapping[str, Any], mean: float) -> bool:
    if paper == "mddf":
        return bool(round(mean, 2) >= round(value["accuracy"], 2) - 1e-9)
    return bool(round(mean, 2 if paper == "rcf" else 4) <= value["error"] + 1e-9)


def _mean_size(distances: Mapping[tuple[str, str], float]) -> float:
    return sum(abs(d) for d in distances.values()) / len(distances)
