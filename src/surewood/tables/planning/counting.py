"""Distinct texts of a column, and what a plan makes of them: missing, lost, new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from surewood._arrays import Floats
from surewood.tables.planning.column_plan import (
    ColumnPlan,
    distinct_texts,
    is_text,
    mean_missing,
    read_column,
    read_texts,
)
from surewood.tables.planning.missing_codes import ALWAYS, are_missing_codes

PROBE = 500  # distinct texts by which a kind that does not fit is ruled out
EXAMPLES = 4
COUNTED = 10_000  # rows in which distinct numbers are counted


@dataclass(frozen=True)
class DistinctTexts:
    """Distinct texts of a column, how many rows each has, and the examples to show."""

    texts: list[str]
    counts: Floats
    n_rows: int

    @classmethod
    def of(cls, column: pd.Series) -> DistinctTexts:
        """Of a column of text."""
        texts, counts = counted_values(column)
        return cls(texts, counts, len(column))

    def without(self, codes: Any, extra: tuple[str, ...]) -> DistinctTexts:
        missing = are_missing_codes(self.texts, codes, extra)
        if not missing.any():
            return self
        keep = np.flatnonzero(~missing).tolist()
        return DistinctTexts([self.texts[k] for k in keep], self.counts[keep], self.n_rows)

    @property
    def column(self) -> pd.Series:
        """One row per distinct text."""
        return pd.Series(self.texts, dtype=object)

    @property
    def n_known(self) -> int:
        return int(self.counts.sum())

    def readable(self, read: Callable[[str], object]) -> float:
        """As :meth:`readable_numbers`, of a function of one text that gives None where it cannot read it."""
        return self.readable_numbers(
            lambda texts: np.array([np.nan if read(text) is None else 0.0 for text in texts])
        )

    def readable_numbers(self, read_all: Callable[[list[str]], Floats]) -> float:
        """Fraction of the rows with a value for which there is a number; 0 where few of the first have."""
        first = self.texts[:PROBE]
        if len(first) == PROBE and 2 * np.count_nonzero(~np.isnan(read_all(first))) < PROBE:
            return 0.0
        good = ~np.isnan(read_all(self.texts))
        return float(self.counts[good].sum() / max(self.counts.sum(), 1))

    def examples(self) -> tuple[str, ...]:
        order = np.argsort(-self.counts, kind="stable")[:EXAMPLES]
        return tuple(self.texts[k][:60] for k in order)


def counted_values(column: pd.Series) -> tuple[list[str], Floats]:
    """Distinct values of a column as stripped texts, in their order, and how many rows each has.

    Examples
    --------
    >>> texts, counts = counted_values(pd.Series(["yes", None, "no", "yes "]))
    >>> texts, counts.tolist()
    (['yes', 'no'], [2.0, 1.0])
    """
    if isinstance(column.dtype, pd.StringDtype) and column.dtype.storage == "pyarrow":
        found = pc.value_counts(pa.array(column.array))
        known = found.field("values").is_valid()
        values = found.field("values").filter(known).to_numpy(zero_copy_only=False)
        texts = list(map(str.strip, values.tolist()))
        counts = found.field("counts").filter(known).to_numpy(zero_copy_only=False).astype(float)
        places = {text: k for k, text in enumerate(dict.fromkeys(texts))}
        if len(places) < len(texts):
            counts = np.bincount([places[text] for text in texts], weights=counts)
        return list(places), counts
    codes, texts = distinct_texts(column)
    known_codes = codes if len(codes) and codes.min() >= 0 else codes[codes >= 0]
    return texts, np.bincount(known_codes, minlength=len(texts)).astype(float)


def n_unreadable(plan: ColumnPlan, column: pd.Series) -> int:
    """Values that are neither missing nor readable by the plan.

    Examples
    --------
    >>> n_unreadable(ColumnPlan("x", "number"), pd.Series(["1", "?", "red"]))
    1
    """
    if not is_text(column):
        return 0
    return counted(plan, column).n_lost


def n_unseen(plan: ColumnPlan, column: pd.Series) -> int:
    """Values of a category column that are neither missing nor known from training.

    Examples
    --------
    >>> n_unseen(ColumnPlan("x", "category", categories=("a", "b")), pd.Series(["a", "c", None, "?"]))
    1
    """
    codes, texts = distinct_texts(column)
    coded = np.append(are_missing_codes(texts, ALWAYS, plan.missing), True)
    return int((read_column(plan, column).isna().to_numpy() & ~coded[codes]).sum())


def n_missing_values(column: pd.Series) -> int:
    """Rows without a value.

    Examples
    --------
    >>> n_missing_values(pd.Series([1.0, None, 2.0]))
    1
    """
    return int(np.count_nonzero(column.isna().to_numpy()))


def counted(plan: ColumnPlan, column: pd.Series) -> ColumnPlan:
    """The plan with its counts and an example of what reading changes."""
    if is_text(column):
        return counted_texts(plan, DistinctTexts.of(column))
    if plan.kind in ("number", "boolean"):
        missing = n_missing_values(column if not plan.missing else read_column(plan, column))
    else:
        missing = n_missing_values(read_column(plan, column))
    return replace(plan, n_missing=missing, n_distinct=int(column.iloc[:COUNTED].nunique()))


def counted_texts(plan: ColumnPlan, values: DistinctTexts) -> ColumnPlan:
    """As :func:`counted`, of distinct texts."""
    if plan.kind in ("number", "boolean", "duration"):
        read = pd.Series(read_texts(plan, values.texts))
    else:
        read = read_column(plan, values.column)
    known = read.notna().to_numpy()
    is_measured = plan.kind not in ("category", "text")
    coded = (
        mean_missing(plan, values.texts)
        if is_measured
        else are_missing_codes(values.texts, ALWAYS, plan.missing)
    )
    changed = ""
    if plan.kind == "number":
        for place in np.flatnonzero(known)[:200]:
            raw, number = values.texts[place], float(read.iloc[place])
            if not _same_number(raw, number):
                changed = f"{raw!r} -> {number:.12g}"
                break
    return replace(
        plan,
        n_missing=values.n_rows - int(values.counts[known].sum()),
        n_lost=int(values.counts[~known & ~coded].sum()),
        n_distinct=len(plan.categories) if plan.kind == "category" else int((~coded).sum()),
        changed=changed,
    )


def _same_number(raw: str, value: float) -> bool:
    try:
        return float(raw) == value
    except ValueError:
        return False
