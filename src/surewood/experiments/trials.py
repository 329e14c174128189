"""Published values that our tables do not reach, and what else was tried: ``papers/NAME/trials.csv``.

``benchmarks/study_papers_cells.py`` writes these files; a row is one (data set, trial, repeat, method). What
is said about a cell is made from them and from the committed records, so it follows both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from surewood.experiments.comparison import Spread
from surewood.experiments.error_grids import unpack
from surewood.experiments.protocol import OFFICIAL, PAPER, paper_folder, published

#: The cells that the page is about.
CELLS = {
    "rcf": ("vowel", "dna", "pendigits", "german_numeric", "abalone", "a2a", "usps"),
    "mddf": ("yeast", "adult", "satimage", "mnist"),
}
#: Method of a record -> how its reading is called; those nearest to the protocol first.
_READINGS = {
    "rcf": {
        "rcf": "the protocol",
        "rcf_refit": "refitting to training and validation part",
        "surewood": "the library's default",
    },
    "mddf": {
        "mdDF": "the protocol",
        "mdDF literal": "the printed step",
        "surewood default": "the library's default",
    },
}
_OPTION = "option: "
_FOREST = {"rcf": ("rf", "rf_refit"), "mddf": ("RF",)}
_OTHERS = "other classifiers"
_FLAGSHIP = "SurewoodClassifier"
_OTHER_METHODS = ("RF", "RF, refitted", "random forest", _FLAGSHIP)
#: Trials of another problem, and measured errors that no rule of choice can have.
_NOT_COUNTED = ("rings in three groups",)
#: Methods of trials -> those of records.
_SAME_METHOD = {"RCF": "rcf", "RCF, refitted": "rcf_refit"}
_HINDSIGHT = ("RCF, smallest validation error", "RCF, smallest test error")


def trials_file(paper: str) -> Path:
    """The file of a paper, which need not exist."""
    return paper_folder(paper) / "trials.csv"


def read_trials(paper: str) -> pd.DataFrame:
    """All rows of a paper's trials, errors in percent."""
    rows = pd.read_csv(trials_file(paper))
    return rows.assign(error=100.0 * rows["error"])


@dataclass(frozen=True)
class Attempt:
    """One reading of a cell: errors in percent, repeat by repeat, and the number of test rows of a repeat."""

    name: str
    errors: tuple[float, ...]
    n_test: int
    #: By how much all recorded divisions are harder than those of the attempt, where it has fewer.
    shift: float = 0.0

    @classmethod
    def of(cls, name: str, rows: pd.DataFrame, shift: float = 0.0) -> Attempt:
        """From the rows of a trial."""
        return cls(name, tuple(rows["error"]), int(rows["n_test"].iloc[0]), shift)

    @property
    def mean(self) -> float:
        """Mean error, as if the attempt had all recorded divisions."""
        return float(np.mean(self.errors)) + self.shift


@dataclass(frozen=True)
class Cell:
    """A published value and all we have about it.

    Attributes
    ----------
    target, forest_target : float
        Published errors of the paper's method and of its random forest, in percent.
    attempts : list of Attempt
        The readings, those nearest to the protocol first.
    forests : list of Attempt
        Our random forests.
    others : list of Attempt
        Classifiers of other kinds on the same rows.
    best_in_hindsight : float or None
        Mean over the repeats of the smallest test error of any point of the grid.
    """

    paper: str
    dataset: str
    target: float
    forest_target: float
    attempts: list[Attempt]
    forests: list[Attempt]
    others: list[Attempt]
    best_in_hindsight: float | None

    def shown(self, error: float) -> str:
        """An error as the paper prints it: mdDF's are accuracies."""
        return f"{error if self.paper == 'rcf' else 100.0 - error:.2f}"

    def named(self, attempt: Attempt) -> str:
        """An attempt with its mean and the number of its repeats."""
        n = len(attempt.errors)
        return f"{attempt.name}, {self.shown(attempt.mean)} in {n} repeat{'s' * (n != 1)}"

    def reaches(self, attempt: Attempt) -> bool:
        return attempt.mean <= self.target + 1e-9


def cell(paper: str, dataset: str, records: Sequence[Mapping[str, Any]], trials: pd.DataFrame) -> Cell:
    """The cell of a data set."""
    own = [record for record in records if record["dataset"] == dataset]
    tried = trials[trials["set"] == dataset]
    flagship = _recorded(paper, [r for r in own if r["protocol"] == PAPER], {_FLAGSHIP: _FLAGSHIP})
    others = tried[tried["trial"].str.startswith(_OTHERS)]
    if flagship:  # on all divisions, where the trials have the first ones
        others = others[others["method"] != _FLAGSHIP]
    tables = published(paper)
    value, scale = ("error", 1.0) if paper == "rcf" else ("accuracy", -1.0)
    targets = tables[tables["dataset"] == dataset].set_index("method")[value]
    errors = {name: scale * float(x) + (0.0 if scale > 0 else 100.0) for name, x in targets.items()}
    names = ("rcf", "rf") if paper == "rcf" else ("mdDF", "RF")
    return Cell(
        paper,
        dataset,
        errors[names[0]],
        errors[names[1]],
        [*_recorded(paper, own, _READINGS[paper]), *_tried(tried, own)],
        _recorded(paper, [r for r in own if r["protocol"] == PAPER], {n: n for n in _FOREST[paper]}),
        [*flagship, *(Attempt.of(str(name), rows) for name, rows in others.groupby("method", sort=False))],
        _hindsight(own),
    )


def _recorded(paper: str, records: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> list[Attempt]:
    """Readings of the records, the paper's division before the official one."""
    found: list[Attempt] = []
    for division in (PAPER, OFFICIAL):
        by_method: dict[str, list[Mapping[str, float]]] = {}
        for record in records:
            if record["protocol"] == division:
                by_method.setdefault(record["method"], []).append(record["metrics"])
        more = {m: m.removeprefix(_OPTION) for m in by_method if m.startswith(_OPTION) and "mdDF" in names}
        where = "" if division == PAPER else ", official division"
        for method, name in {**names, **more}.items():
            if method in by_method:
                own = by_method[method]
                errors = tuple(_error(paper, metrics) for metrics in own)
                found.append(Attempt(f"{name}{where}", errors, int(own[0]["n_test"])))
    return found


def _error(paper: str, metrics: Mapping[str, float]) -> float:
    return 100.0 * metrics["error"] if paper == "rcf" else 100.0 - metrics["accuracy"]


def _tried(tried: pd.DataFrame, records: Sequence[Mapping[str, Any]]) -> list[Attempt]:
    """Readings of the trials, without those that could not be claimed."""
    counted = tried[
        ~tried["trial"].str.startswith(_OTHERS)
        & ~tried["trial"].isin(_NOT_COUNTED)
        & ~tried["method"].isin((*_HINDSIGHT, *_OTHER_METHODS))
    ]
    return [
        Attempt.of(f"{trial} ({method})", rows, _shift(str(method), rows, records))
        for (trial, method), rows in counted.groupby(["trial", "method"], sort=False)
    ]


def _shift(method: str, rows: pd.DataFrame, records: Sequence[Mapping[str, Any]]) -> float:
    """Recorded error of the same method on all divisions less that on the divisions of a trial, in percent.

    0 where the trial does not test on the recorded divisions.
    """
    own = {
        record["repeat"]: record["metrics"]
        for record in records
        if record["protocol"] == PAPER and record["method"] == _SAME_METHOD.get(method)
    }
    sizes = dict(zip(rows["repeat"], rows["n_test"]))
    if any(repeat not in own or own[repeat]["n_test"] != n_test for repeat, n_test in sizes.items()):
        return 0.0
    every = [metrics["error"] for metrics in own.values()]
    return 100.0 * float(np.mean(every) - np.mean([own[repeat]["error"] for repeat in sizes]))


def _hindsight(records: Sequence[Mapping[str, Any]]) -> float | None:
    own = [r for r in records if r["method"] == "rcf" and r["protocol"] == PAPER and "grid" in r]
    if not own:
        return None
    smallest = [unpack(record["grid"])[1].min() / record["metrics"]["n_test"] for record in own]
    return 100.0 * float(np.mean(smallest))


def findings(cells: Sequence[Cell]) -> str:
    """One sentence or two about each cell: what reaches it, or what is nearest and what speaks for why."""
    return "\n".join(f"* {_finding(one)}" for one in cells)


def _finding(one: Cell) -> str:
    target = one.shown(one.target)
    good = [attempt for attempt in one.attempts if one.reaches(attempt)]
    best = min(one.attempts, key=lambda attempt: attempt.mean)
    if good:
        first = good[0]
        text = f"**{one.dataset}** (published {target}): reached by {one.named(first)}"
        if best is not first:
            text += f"; best reading: {one.named(best)}"
        return f"{text} ({len(good)} of {len(one.attempts)} readings reach it)."
    text = (
        f"**{one.dataset}** (published {target}): not reached by any of {len(one.attempts)} readings; "
        f"nearest: {one.named(best)}."
    )
    return " ".join([text, *_evidence(one, best)])


def _evidence(one: Cell, best: Attempt) -> Iterator[str]:
    """What the numbers say about the reason, as far as they say it."""
    gap = best.mean - one.target
    forest = min(one.forests, key=lambda attempt: attempt.mean, default=None)
    if forest is not None:
        both = f"({one.shown(forest.mean)} against {one.shown(one.forest_target)})"
        if forest.mean > one.forest_target:
            yield (
                f"Our random forest does not reach the published forest either {both}, so the gap is not of "
                "the method alone."
            )
        else:
            yield f"Our random forest does reach the published one {both}, so the gap is of the method."
    if one.best_in_hindsight is not None:
        word = "is above it too" if one.best_in_hindsight > one.target else "would reach it"
        yield (
            "The smallest test error on the grid, chosen anew for each division (no rule can know it), "
            f"{word}: {one.shown(one.best_in_hindsight)}."
        )
    rows = f"The gap of {gap:.2f} is {gap * best.n_test / 100.0:.1f} of {best.n_test:,} test rows"
    if one.paper == "rcf":
        spread = float(np.sqrt(best.mean * (100.0 - best.mean) / best.n_test))
        yield f"{rows}; one test part of this size has a standard deviation of {spread:.2f}."
    elif len(best.errors) > 1:
        alone = sum(error <= one.target + 1e-9 for error in best.errors)
        yield (
            f"{rows}; the standard deviation over the repeats is {Spread.of(best.errors).sd:.2f}, and "
            f"{alone} of {len(best.errors)} reach it alone."
        )
    else:
        yield f"{rows}."
    if one.others:
        top = min(one.others, key=lambda attempt: attempt.mean)
        word = "does not reach it either" if top.mean > one.target else "does"
        n = len(one.others)
        who = f"The best of {n} other classifiers" if n > 1 else "The other classifier"
        yield f"{who} on the same rows {word}: {top.name}, {one.shown(top.mean)}."


def trials_table(cells: Sequence[Cell], trials: pd.DataFrame) -> dict[str, Any]:
    """Mean and standard deviation of everything that was tried."""
    rows = []
    for one in cells:
        tried = trials[(trials["set"] == one.dataset) & ~trials["trial"].str.startswith(_OTHERS)]
        for trial, own in tried.groupby("trial", sort=False):
            means = [
                f"{method} {_spread_text(one, group['error'])}"
                for method, group in own.groupby("method", sort=False)
            ]
            sizes = f"{own['n_train'].min()}/{own['n_test'].min()}"
            rows.append(
                [one.dataset, one.shown(one.target), trial, sizes, own["repeat"].nunique(), "; ".join(means)]
            )
    what = "test error" if cells[0].paper == "rcf" else "test accuracy"
    return {
        "columns": ["data set", "published", "trial", "training/test rows", "repeats", f"{what} in percent"],
        "rows": rows,
    }


def _spread_text(one: Cell, errors: pd.Series) -> str:
    found = Spread.of(errors.to_numpy())
    return one.shown(found.mean) + ("" if np.isnan(found.sd) else f" ± {found.sd:.2f}")


def others_table(cells: Sequence[Cell]) -> dict[str, Any]:
    """Other classifiers on the same rows."""
    cells = [one for one in cells if one.others]
    names = list(dict.fromkeys(attempt.name for one in cells for attempt in one.others))
    rows = []
    for one in cells:
        means = {attempt.name: one.shown(attempt.mean) for attempt in one.others}
        rows.append([one.dataset, one.shown(one.target), *(means.get(name, "–") for name in names)])
    return {"columns": ["data set", "published", *names], "rows": rows}


def divisions_table(cells: Sequence[Cell]) -> dict[str, Any]:
    """How often one division alone is at or below the published value."""
    rows = []
    for one in cells:
        refit = next(attempt for attempt in one.attempts if attempt.name.startswith("refitting"))
        forest = next(attempt for attempt in one.forests if attempt.name == "rf_refit")
        rows.append(
            [
                one.dataset,
                f"{one.forest_target:.2f} / {one.target:.2f}",
                *(Spread.of(attempt.errors).text() for attempt in (forest, refit)),
                *(
                    _share(attempt, goal)
                    for attempt, goal in ((forest, one.forest_target), (refit, one.target))
                ),
            ]
        )
    return {
        "columns": [
            "data set", "published RF / RCF", "our RF, refitted", "our RCF, refitted",
            "divisions with RF at or below", "with RCF at or below",
        ],
        "rows": rows,
    }  # fmt: skip


def _share(attempt: Attempt, target: float) -> str:
    return f"{sum(error <= target + 0.005 for error in attempt.errors)} of {len(attempt.errors)}"


def spreads_table(datasets: Sequence[str]) -> dict[str, Any]:
    """Published spreads of RCF against those that the sizes of the test parts alone would give.

    The printed ± is read as a standard error over five repeats, which makes it larger by √5.
    """
    table = published("rcf")
    rows, total = [], 0.0
    for dataset in datasets:
        own = table[(table["dataset"] == dataset) & (table["method"] == "rcf")].iloc[0]
        n_test, p = int(np.ceil(0.2 * own["examples"] - 1e-9)), own["error"] / 100.0
        expected = 100.0 * float(np.sqrt(p * (1.0 - p) / n_test))
        printed = float(np.sqrt(5.0) * own["sd"])
        statistic = 4.0 * (printed / expected) ** 2
        total += statistic
        chance = float(stats.chi2.cdf(statistic, 4))
        rows.append(
            [dataset, n_test, f"{own['sd']:.2f}", f"{printed:.2f}", f"{expected:.2f}", f"{chance:.3f}"]
        )
    joint = float(stats.chi2.cdf(total, 4 * len(rows)))
    return {
        "columns": [
            "data set", "test rows", "printed ±", "read as a standard error: one repeat",
            "by the test rows alone", "chance of so little",
        ],
        "rows": rows,
        "note": f"Chance that independent test parts differ so little, all sets together: {joint:.1e}.",
    }  # fmt: skip


def parts(paper: str, records: Sequence[Mapping[str, Any]]) -> dict[str, Callable[[], Any]]:
    """What a page can ask of a paper's trials: text, or a table."""
    if paper not in CELLS or not trials_file(paper).is_file():
        return {}
    trials = read_trials(paper)
    cells = [cell(paper, name, records, trials) for name in CELLS[paper]]
    found: dict[str, Callable[[], Any]] = {
        "findings": lambda: findings(cells),
        "trials": lambda: trials_table(cells, trials),
        "others": lambda: others_table(cells),
    }
    if paper == "rcf":
        found["divisions"] = lambda: divisions_table(cells)
        found["spreads"] = lambda: spreads_table(CELLS["rcf"])
    return found
