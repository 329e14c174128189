"""Records as numbers to compare: means and spreads, paired tests, ranks and their picture (theory.md §7).

Standard deviations have divisor "repeats - 1". Tests are one-sided: "the first method has the larger error";
the corrected one (Nadeau-Bengio) allows for repeats that share their data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from surewood.bounds import average_ranks, corrected_paired_t_test, paired_t_test
from surewood.report.charts import Axis, Plot, figure

LEVEL = 0.05
SD_WORDS = "mean ± standard deviation over the repeats (divisor: repeats − 1)"


class Spread(NamedTuple):
    """Mean and standard deviation of a number over repeats."""

    mean: float
    sd: float

    @classmethod
    def of(cls, values: Sequence[float] | NDArray[np.float64]) -> Spread:
        """Of some values; a single one has no spread."""
        own = np.asarray(values, dtype=float)
        return cls(float(own.mean()), float(own.std(ddof=1)) if len(own) > 1 else float("nan"))

    def text(self, scale: float = 1.0, digits: int = 2) -> str:
        """``3.77 ± 0.45``; a single repeat has no spread."""
        mean = f"{scale * self.mean:.{digits}f}"
        return mean if np.isnan(self.sd) else f"{mean} ± {scale * self.sd:.{digits}f}"


class Paired(NamedTuple):
    """p-values of "the first method has the larger error", plain and corrected, over `n` repeats."""

    p: float
    p_corrected: float
    n: int

    def text(self) -> str:
        """Both values, the corrected one second."""
        return f"{self.p:.3f} / {self.p_corrected:.3f}"


class Results:
    """The records of a paper, by data set and method.

    Parameters
    ----------
    records : sequence of dict
    repeats : int or mapping, default=1
        Repeats of the protocol, by data set where they differ; tables mark a data set that has fewer.
    enough : int, optional
        With this many repeats a data set counts as complete, for ranks and counts; all by default.
    """

    def __init__(
        self,
        records: Sequence[Mapping[str, Any]],
        repeats: int | Mapping[str, int] = 1,
        enough: int | None = None,
    ) -> None:
        self._repeats, self._enough = repeats, enough
        self._by_key: dict[tuple[str, str], dict[int, Mapping[str, Any]]] = {}
        for record in records:
            own = self._by_key.setdefault((record["dataset"], record["method"]), {})
            own[record["repeat"]] = record

    def _planned(self, dataset: str) -> int:
        return self._repeats if isinstance(self._repeats, int) else self._repeats.get(dataset, 1)

    def has(self, dataset: str, *methods: str) -> bool:
        """Whether all these methods have a record of the data set."""
        return all((dataset, method) in self._by_key for method in methods)

    def complete(self, dataset: str, *methods: str) -> bool:
        """Whether all these methods have all repeats of the data set, or enough of them."""
        needed = self._planned(dataset)
        needed = needed if self._enough is None else min(needed, self._enough)
        return all(len(self._by_key.get((dataset, method), ())) >= needed for method in methods)

    def cell(self, dataset: str, method: str, scale: float = 1.0, digits: int = 2) -> str:
        """Mean and spread of the error for a table; says so where repeats, or all of them, are missing."""
        own = self._by_key.get((dataset, method))
        if not own:
            return "missing"
        text = self.spread(dataset, method).text(scale, digits)
        planned = self._planned(dataset)
        return text if len(own) >= planned else f"{text} ({len(own)} of {planned} repeats)"

    def records(self, dataset: str, method: str) -> list[Mapping[str, Any]]:
        """Records in the order of their repeats."""
        own = self._by_key.get((dataset, method), {})
        return [own[repeat] for repeat in sorted(own)]

    def repeats(self, dataset: str) -> set[int]:
        """Repeats of a data set that any method has."""
        return {repeat for (name, _), own in self._by_key.items() if name == dataset for repeat in own}

    def recorded(self, datasets: Sequence[str], method: str) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
        """The data sets that have records of a method, with these records."""
        for dataset in datasets:
            if self.has(dataset, method):
                yield dataset, self.records(dataset, method)

    def values(self, dataset: str, method: str, metric: str = "error") -> NDArray[np.float64]:
        """A metric over the repeats."""
        return np.array([record["metrics"][metric] for record in self.records(dataset, method)], dtype=float)

    def spread(self, dataset: str, method: str, metric: str = "error") -> Spread:
        """Mean and standard deviation of a metric."""
        return Spread.of(self.values(dataset, method, metric))

    def paired(self, dataset: str, first: str, second: str) -> Paired | None:
        """Tests over the repeats that both methods have; None below two."""
        a, b = self._by_key[dataset, first], self._by_key[dataset, second]
        common = sorted(a.keys() & b.keys())
        if len(common) < 2:
            return None
        errors = [[own[k]["metrics"]["error"] for k in common] for own in (a, b)]
        sizes = a[common[0]]["metrics"]
        plain = paired_t_test(*errors)
        corrected = corrected_paired_t_test(
            *errors, n_train=int(sizes["n_train"]), n_test=int(sizes["n_test"])
        )
        return Paired(plain.p_value, corrected.p_value, len(common))

    def ranked_sets(self, datasets: Sequence[str], methods: Sequence[str]) -> list[str]:
        """The sets that have all of the methods complete, over which they are ranked."""
        return [name for name in datasets if self.complete(name, *methods)]

    def ranks(self, datasets: Sequence[str], methods: Sequence[str]) -> dict[str, float]:
        """Average rank of each method over the sets that have all of them; 1 is best."""
        complete = self.ranked_sets(datasets, methods)
        if not complete:
            return {}
        table = [[self.spread(name, method).mean for method in methods] for name in complete]
        return dict(zip(methods, average_ranks(table, higher_is_better=False).tolist()))


def test_cell(results: Results, dataset: str, first: str, second: str) -> str:
    """Both p-values for a table; a dash where there are too few repeats."""
    found = results.paired(dataset, first, second)
    return "–" if found is None else found.text()


def counted(values: Iterable[Any]) -> str:
    """Distinct values with how often they occur.

    Examples
    --------
    >>> counted([4, 3, 4]), counted([0.001, 1.0])
    ('3 ×1, 4 ×2', '0.001 ×1, 1 ×1')
    """
    counts = sorted(Counter(values).items())
    return (
        ", ".join(f"{value:g} ×{n}" if isinstance(value, float) else f"{value} ×{n}" for value, n in counts)
        or "–"
    )


def count_line(statement: str, good: Sequence[str], have: Sequence[str]) -> str:
    """On how many of the measured sets a statement holds.

    Examples
    --------
    >>> count_line("ours below theirs", ["iris"], ["iris", "sonar"])
    'ours below theirs: 1 of 2 sets (not sonar).'
    """
    bad = [name for name in have if name not in good]
    names = f" (not {', '.join(bad)})" if bad else ""
    return f"{statement}: {len(good)} of {len(have)} sets{names}."


def critical_distance(n_methods: int, n_sets: int, level: float = LEVEL) -> float:
    """Average ranks that differ by less are not told apart by Nemenyi's test (theory.md §7).

    Examples
    --------
    >>> round(critical_distance(5, 30), 2)  # Demsar, 2006: q = 2.728
    1.11
    """
    q = float(stats.studentized_range.ppf(1.0 - level, n_methods, np.inf)) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets)))


def groups(ranks: Mapping[str, float], distance: float) -> list[tuple[str, ...]]:
    """Largest runs of neighboring methods whose ranks differ by less than the distance.

    Examples
    --------
    >>> groups({"a": 1.0, "b": 1.5, "c": 2.4}, 1.0)
    [('a', 'b'), ('b', 'c')]
    """
    names = sorted(ranks, key=lambda name: ranks[name])
    found: list[tuple[str, ...]] = []
    for k, first in enumerate(names):
        run = tuple(name for name in names[k:] if ranks[name] - ranks[first] < distance)
        if len(run) > 1 and (not found or run[-1] != found[-1][-1]):
            found.append(run)
    return found


def rank_diagram(title: str, ranks: Mapping[str, float], n_sets: int) -> dict[str, Any]:
    """A figure: one dot per method, and bars over the methods that the data do not tell apart."""
    distance = critical_distance(len(ranks), n_sets)
    together = groups(ranks, distance)
    names = sorted(ranks, key=lambda name: ranks[name])
    n_lines = len(names) + len(together) + 1  # the distance itself on top
    high = float(max(len(names), 1.0 + distance))
    plot = Plot(
        Axis(0.9, high + 0.1, "number", "average rank (1 is best)", whole=True),
        Axis(-n_lines, 0.0, "none"),
        height=26 * n_lines,
    )
    plot.line([1.0, 1.0 + distance], [-0.5, -0.5], "ink", width=2.5)
    plot.text(1.0 + distance, -0.5, f"critical distance {distance:.2f}")
    for k, name in enumerate(names, start=1):
        plot.points([ranks[name]], [-k - 0.5], "leaf", tips=[f"{name}: {ranks[name]:.2f}"])
        plot.text(ranks[name], -k - 0.5, f"{name} {ranks[name]:.2f}")
    for k, group in enumerate(together, start=len(names) + 1):
        ends = [ranks[group[0]], ranks[group[-1]]]
        plot.line(ends, [-k - 0.5, -k - 0.5], "bark", width=5.0)
    note = (
        f"Over {n_sets} data set{'s' * (n_sets != 1)}. Ranks that differ by less than the critical distance "
        f"(Nemenyi's test, level {LEVEL:g}) are not told apart by these data; a bar at the bottom joins such "
        "methods."
    )
    alt = f"{title}: " + ", ".join(f"{name} {ranks[name]:.2f}" for name in names)
    return figure(title, plot.render(), caption=note, alt=alt)
