"""The targets of SurewoodClassifier as one table: ours, what it is compared with, their ratio, the target.

    python -m benchmarks.targets     # from the committed results only

``python -m benchmarks`` prints it at its end. A topic that has measured a number of it calls `measured`.
Lines that take too long for every run are read from ``benchmarks/results``; each names the command that
writes its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from benchmarks import study_flagship as flagship

RESULTS = Path(__file__).parent / "results"
THIS_RUN = "this run"
STUDY = "python -m benchmarks.study_flagship run"
LIMITS_OF_LARGE_FITS = {"composite forest": 60, "mixture": 120}  # processor seconds
LARGEST_RANKS, LARGEST_REGRET = {"error": 2.2, "log-loss": 1.5}, 0.35  # of the study
LIMITS_OF_ONE_ROW = {"an array": 2.0, "a frame": 5.0}  # milliseconds
#: Numbers of a run without a recorded one: work, unit, limit, and the topic that measures it.
LIMITS = {
    "ten classes": ("boosted trees, a round with ten classes against two", "times", 2.5, "boosting"),
    "boosted prediction": ("boosted trees, 100,000 rows predicted vs. LightGBM", "times", 1.0, "boosting"),
    "50 classes": ("mixture, predict_proba of 1,000 rows, 50 classes", "s", 0.3, "many_classes"),
    "composite growth": ("composite forest, default fit, 2,000 rows against 1,000", "times", 2.0, "growth"),
    "cascade": ("cascade by cross-validation, default fit, 4,000 rows", "s", 60.0, "growth"),
    "50,000 rows": ("mixture, default fit, 50,000 x 20", "s", 60.0, "growth"),
}


@dataclass(frozen=True)
class Line:
    """One line of the table; numbers are kept as they are shown."""

    work: str
    ours: str
    reference: str
    ratio: str
    target: str
    #: None where there is no target, or no number.
    met: bool | None
    source: str


_measured: dict[str, float] = {}


def measured(name: str, value: float) -> None:
    """A topic of this run has measured a number; of several with one name the largest counts."""
    _measured[name] = max(value, _measured.get(name, value))


def forget() -> None:
    """Start again without measured numbers."""
    _measured.clear()


@cache
def _rows(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / name)


def hundred_thousand_rows() -> Iterator[Line]:
    """Default fits, of this run or recorded."""
    rows = _rows("large_tables.csv").set_index(["rows", "method"])
    for method, limit in LIMITS_OF_LARGE_FITS.items():
        seconds, source = rows.loc[(100_000, method), "processor_s"], "python -m benchmarks large"
        if method in _measured:
            seconds, source = _measured[method], THIS_RUN
        yield Line(
            f"100,000 x 20, three classes, default fit, {method}", f"{seconds:.0f} s of processor time",
            "none", "-", f"at most {limit} s", seconds <= limit, source,
        )  # fmt: skip


def million_rows() -> Iterator[Line]:
    """Ten minutes for a million rows, beside LightGBM's default."""
    rows = _rows("large_tables.csv").set_index(["rows", "method"])
    ours, peer = rows.loc[(1_000_000, "mixture")], rows.loc[(1_000_000, "LightGBM")]
    for score, of in (("test error, %", "error"), ("log-loss", "log_loss")):
        yield Line(
            f"a million rows x 40, time_limit=600: {score}", f"{ours[of]:g}",
            f"LightGBM's default {peer[of]:g}", f"{ours[of] / peer[of]:.2f}", "at most 1",
            bool(ours[of] <= peer[of]), "python -m benchmarks.bench_large --million",
        )  # fmt: skip


def one_row() -> Iterator[Line]:
    """`predict_proba` of one row: the slowest of the tables of this run."""
    for kind, limit in LIMITS_OF_ONE_ROW.items():
        work = f"predict_proba of one row through the mixture, from {kind}"
        name = "python -m benchmarks latency"
        if kind not in _measured:
            yield Line(work, "not measured in this run", "-", "-", f"at most {limit:g} ms", None, name)
            continue
        ours, peer = _measured[kind], _measured[f"{kind}, scikit-learn"]
        yield Line(
            work, f"{ours:.2f} ms", f"scikit-learn's random forest {peer:.2f} ms", f"{ours / peer:.2f}",
            f"at most {limit:g} ms", ours <= limit, THIS_RUN,
        )  # fmt: skip


def numbers_of_topics() -> Iterator[Line]:
    """Numbers that a topic of this run has measured."""
    for name, (work, unit, limit, topic) in LIMITS.items():
        target = f"at most {limit:g} {unit}"
        if name in _measured:
            value = _measured[name]
            yield Line(work, f"{value:.2f} {unit}", "none", "-", target, value <= limit, THIS_RUN)
        else:
            command = f"python -m benchmarks {topic}"
            yield Line(work, "not measured in this run", "-", "-", target, None, command)


def study_time() -> Iterator[Line]:
    """Processor time of fits beside two other methods, from the rows of the study."""
    seconds = flagship.fit_seconds(flagship.complete(_rows("flagship.csv")))
    for peer, target in (("CatBoost", 1.0), ("LightGBM", None)):
        ratio = float((seconds["surewood"] / seconds[peer]).median())
        yield Line(
            f"mixture, default fit, median of {len(seconds)} tables: processor time",
            f"{seconds['surewood'].median():.1f} s", f"{peer} {seconds[peer].median():.1f} s", f"{ratio:.1f}",
            f"at most {target:g}" if target else "none", ratio <= target if target else None, STUDY,
        )  # fmt: skip


def study_accuracy() -> Iterator[Line]:
    """Ranks, tables behind a member, and regret, from the rows of the study."""
    rows = flagship.complete(_rows("flagship.csv"))
    found = flagship.summary(rows)
    for score in ("error", "log-loss"):
        rank = found[f"rank, {score}"].sort_values()
        next_best = rank.drop("surewood").index[0]
        yield Line(
            f"average rank in {score}, {len(found)} methods", f"{rank['surewood']:.1f}",
            f"{next_best} {rank[next_best]:.1f}", f"{rank['surewood'] / rank[next_best]:.2f}",
            f"at most {LARGEST_RANKS[score]:g}", bool(rank["surewood"] <= LARGEST_RANKS[score]), STUDY,
        )  # fmt: skip
    behind = flagship.behind_a_member(rows)
    yield Line(
        "tables where a member alone has a smaller error by more than one standard error",
        f"{len(behind)} of {rows['set'].nunique()}", ", ".join(behind.index) or "none", "-", "0",
        not len(behind), STUDY,
    )  # fmt: skip
    regret = found["regret, points"]
    for group, names in flagship.rivals(found.index).items():
        name = regret[names].idxmin()
        ratio = regret["surewood"] / regret[name]
        yield Line(
            f"mean regret against the best method per table; next of {group}",
            f"{regret['surewood']:.2f} points", f"{name} {regret[name]:.2f} points", f"{ratio:.2f}",
            f"at most {LARGEST_REGRET:g} points", bool(regret["surewood"] <= LARGEST_REGRET), STUDY,
        )  # fmt: skip


def boosted_trees() -> Iterator[Line]:
    """`BoostedTreesClassifier` beside CatBoost and LightGBM, from the rows of the study."""
    rows = flagship.complete(_rows("flagship.csv"))
    means = rows.groupby(["set", "method"])[["error", "log_loss", "fit_s"]].mean().unstack()
    for score, unit in (("error", 100), ("log_loss", 1)):
        ours, peer = unit * means[score]["boosted trees"], unit * means[score]["CatBoost"]
        rank = 1 + float((ours > peer).mean() + (ours == peer).mean() / 2)
        yield Line(
            f"boosted trees beside CatBoost's default: mean {score.replace('_', '-')}", f"{ours.mean():.4g}",
            f"CatBoost {peer.mean():.4g}", f"{ours.mean() / peer.mean():.2f}; rank of the two {rank:.2f}",
            "not higher; rank at most 1.5", bool(ours.mean() <= peer.mean() and rank <= 1.5), STUDY,
        )  # fmt: skip
    for name, most in (("CatBoost", 0.5), ("LightGBM", 2.0)):
        ratio = float((means["fit_s"]["boosted trees"] / means["fit_s"][name]).median())
        yield Line(
            f"boosted trees, default fit, median of {len(means)} tables: processor time",
            f"{means['fit_s']['boosted trees'].median():.2f} s",
            f"{name} {means['fit_s'][name].median():.2f} s",
            f"{ratio:.2f}", f"at most {most:g}", ratio <= most, STUDY,
        )  # fmt: skip


def lines() -> list[Line]:
    """All lines."""
    parts = (
        study_accuracy, study_time, boosted_trees, hundred_thousand_rows, million_rows, one_row,
        numbers_of_topics,
    )  # fmt: skip
    return [line for part in parts for line in part()]


VERDICTS = {True: "met", False: "NOT MET", None: "-"}


def report() -> str:
    """The table for a terminal."""
    head = (
        "Targets of SurewoodClassifier. Ratios are ours over the reference: smaller is better.\n"
        "Lines that are not of this run are read from benchmarks/results, with the command that writes them."
    )
    blocks = [
        f"{line.work}\n"
        f"    ours: {line.ours} | reference: {line.reference} | ratio: {line.ratio} | "
        f"target: {line.target} | {VERDICTS[line.met]}\n"
        f"    from: {line.source}"
        for line in lines()
    ]
    return "\n".join([head, *blocks])


if __name__ == "__main__":
    print(report())
