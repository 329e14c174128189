"""The plan of a table: made by :func:`plan`, printed, edited as TOML, saved with a model, applied by name."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from surewood._text import CONTROL, escaped
from surewood.tables.planning.column_plan import (
    ColumnPlan,
    Remark,
    distinct_texts,
    is_readable,
    is_text,
    shortened,
)
from surewood.tables.planning.finding import (
    MANY_VALUES,
    Hints,
    counted,
    find_column,
)
from surewood.tables.planning.numbers import AmbiguousNumbers, proven_decimal
from surewood.tables.sources import DataError
from surewood.tables.text_file import COMMA_SEPARATED

_NAMED = 5  # columns with a note each; more that are not used for one reason share one
_HEADER = """\
# How surewood reads this table. Change `kind` ("number", "boolean", "date", "duration", "category", "text" or
# "drop") or any other setting of a column, then: surewood fit TABLE --plan-file {file}
"""


@dataclass(frozen=True, repr=False)
class TablePlan:
    """What every column of a table is.

    Attributes
    ----------
    columns : tuple of ColumnPlan
        In the order of the table; columns of kind "drop" are listed and not used.
    identifiers : tuple of str
        Columns that name a row; kept beside predictions, never used as features.

    Examples
    --------
    >>> import pandas as pd
    >>> from surewood.tables import TablePlan, plan
    >>> found = plan(pd.DataFrame({"born": ["1990-02-01", "1985-07-30"], "constant": [1, 1]}))
    >>> found["born"].kind, found.dropped
    ('date', {'constant': 'it has one value only'})
    >>> TablePlan.from_toml(found.to_toml()) == found
    True
    """

    columns: tuple[ColumnPlan, ...]
    identifiers: tuple[str, ...] = ()

    def __setstate__(self, state: dict[str, Any]) -> None:
        columns, identifiers = state["columns"], state["identifiers"]
        if not isinstance(columns, tuple) or not all(isinstance(one, ColumnPlan) for one in columns):
            raise ValueError("the plan of a table must be one plan per column.")
        if not isinstance(identifiers, tuple) or not all(isinstance(name, str) for name in identifiers):
            raise ValueError("identifiers of the plan must be names of columns.")
        self.__dict__.update(columns=columns, identifiers=identifiers)

    def __getitem__(self, name: str) -> ColumnPlan:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    @property
    def used(self) -> tuple[ColumnPlan, ...]:
        """Columns that become features."""
        return tuple(column for column in self.columns if column.kind != "drop")

    @property
    def naming(self) -> tuple[str, ...]:
        """Columns that name a row: as the user says, and others that were recognized as identifiers."""
        found = [c.name for c in self.columns if c.kind == "drop" and c.remark == Remark.IDENTIFIER]
        return tuple(dict.fromkeys([*self.identifiers, *found]))

    @property
    def dropped(self) -> dict[str, str]:
        """Columns that are not used, and why."""
        return {column.name: column.reason for column in self.columns if column.kind == "drop"}

    def notes(self) -> list[str]:
        """Notes for the user: columns that are not used, then how others are read."""
        dropped: dict[str, list[ColumnPlan]] = {}
        for column in self.columns:
            if column.kind == "drop":
                dropped.setdefault(column.reason, []).append(column)
        notes = []
        for reason, columns in dropped.items():
            if len(columns) <= _NAMED:
                notes += [note for column in columns for note in column.notes()]
            else:
                names = ", ".join(repr(column.name) for column in columns[:_NAMED])
                notes.append(f"{len(columns):,} columns are not used ({reason}): {names}, ...")
        return [*notes, *(note for column in self.used for note in column.notes())]

    @property
    def fixed(self) -> bool:
        """Whether the user, and not the sample, decided which columns are not used."""
        return all(c.remark == Remark.ON_REQUEST for c in self.columns if c.kind == "drop")

    def __repr__(self) -> str:
        kinds = Counter("not used" if column.kind == "drop" else column.kind for column in self.columns)
        counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
        return f"<TablePlan of {len(self.columns):,} columns: {counts}>"

    def __str__(self) -> str:
        return overview(self)

    def to_toml(self, file: str = "plan.toml") -> str:
        """The plan as a text that a person can edit and :meth:`from_toml` reads."""
        lines = [_HEADER.format(file=file)]
        if self.identifiers:
            lines.append(f"identifiers = {_toml(list(self.identifiers))}\n")
        for column in self.columns:
            lines.append(f"[columns.{_quoted(column.name)}]")
            lines += [f"{key} = {_toml(value)}" for key, value in column.to_dict().items()]
            lines.append("")
        return "\n".join(lines)

    @classmethod
    def from_toml(cls, text: str) -> TablePlan:
        """Read a plan file.

        Examples
        --------
        >>> made = plan(pd.DataFrame({"a": ["1,5", "2"], "b": ["x", "y"]}))
        >>> TablePlan.from_toml(made.to_toml()) == made
        True
        """
        if not is_readable(text):
            raise DataError("the plan is longer, or nested more deeply, than any plan is.")
        try:
            content = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # Python reads no number of thousands of digits
            raise DataError(f"the plan is not valid TOML ({error}).") from error
        unknown = sorted(set(content) - {"columns", "identifiers"})
        if unknown or not isinstance(content.get("columns"), dict):
            shown = ", ".join(map(shortened, unknown))
            what = f"has unknown settings {shown}" if unknown else "names no columns"
            raise DataError(f"the plan {what}; write one with `surewood fit TABLE --target NAME --plan`.")
        for name, plain in content["columns"].items():
            if not isinstance(plain, dict):
                raise DataError(
                    f"the plan of column {shortened(name)} is {shortened(plain)}; it must be a table."
                )
        identifiers = content.get("identifiers", [])
        if not isinstance(identifiers, list) or not all(isinstance(name, str) for name in identifiers):
            raise DataError("identifiers of the plan must be a list of names of columns.")
        columns = tuple(ColumnPlan.from_dict(name, plain) for name, plain in content["columns"].items())
        return cls(columns, tuple(identifiers))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "identifiers": list(self.identifiers),
            "columns": {column.name: column.to_dict() for column in self.columns},
        }


def plan(
    table: pd.DataFrame,
    *,
    drop: Collection[str] = (),
    identifiers: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    missing: Collection[str] = (),
    missing_in: Mapping[str, Collection[str]] | None = None,
    max_values: int = MANY_VALUES,
    decimal: str | None = None,
) -> TablePlan:
    """Find out what the columns of a raw table are.

    Parameters
    ----------
    table : DataFrame
        As read from a file: text columns may hold numbers, dates and codes for missing values.
    drop, identifiers : collections of str
        Columns not to use; columns that name a row.
    kinds : mapping of str to str, optional
        What a column is, by name, over what its values suggest.
    missing : collection of str
        Further texts that mean a missing value.
    missing_in : mapping of str to collection of str, optional
        Those of single columns, by name.
    max_values : int, default=1000
        Maximum number of distinct values of a text column that is read as categories.
    decimal : {".", ","}, optional
        The decimal mark, where the values leave it open.

    Returns
    -------
    TablePlan

    Examples
    --------
    >>> frame = pd.DataFrame({"price": ["$1,200.50", "$80", "?"], "city": ["Rome", "Oslo ", "Rome"]})
    >>> print(plan(frame))
    column  used as   because                                missing  lost  examples
    price   number    numbers, thousands mark ',', unit '$'        1     0  $1,200.50 | $80 | ?
    city    category  2 distinct texts                             0     0  Rome | Oslo
    """
    _refuse_unknown(table, [*drop, *identifiers, *(kinds or {}), *(missing_in or {})])
    asked: dict[str, dict[str, Any]] = {name: {"kind": kind} for name, kind in (kinds or {}).items()}
    asked |= {name: {"kind": "drop"} for name in (*drop, *identifiers)}
    for name, codes in (missing_in or {}).items():
        asked[name] = {**asked.get(name, {}), "missing": (*missing, *codes)}
    base = Hints(missing=tuple(missing), decimal=decimal, max_values=max_values)

    def find(name: Any, **known: Any) -> ColumnPlan:
        return find_column(str(name), table[name], replace(base, **asked.get(str(name), {}), **known))

    found: dict[Any, ColumnPlan] = {}
    open_columns: dict[Any, AmbiguousNumbers] = {}
    for name in table.columns:
        try:
            found[name] = find(name)
        except AmbiguousNumbers as ambiguity:
            open_columns[name] = ambiguity
    file_decimal = _file_decimal(table, found, bool(open_columns))
    base = replace(base, file_decimal=file_decimal, file_day_first=_file_day_first(found))
    for name, reason in open_columns.items():
        if base.file_decimal is not None:
            found[name] = find(name)
            continue
        try:
            column = find(name, comma_separated=bool(table.attrs.get(COMMA_SEPARATED)))
        except AmbiguousNumbers:
            raise DataError(
                f"column {str(name)!r}: {reason}, and nothing else in the table decides; say which with "
                "decimal='.' (the comma divides thousands) or decimal=',' (it is the decimal mark)."
            ) from None
        why = f"{column.reason}; the comma read as a thousands mark"
        found[name] = replace(column, reason=why, remark=Remark.OPEN_COMMAS)
    if base.file_decimal == ",":  # numbers without a decimal mark of their own
        for name, column in found.items():
            if column.kind == "number" and column.decimal == ".":
                again = find(name) if is_text(table[name]) else column
                found[name] = replace(again, decimal=",")
    for name, column in found.items():
        if column.remark == Remark.OPEN_DATES and base.file_day_first is not None:
            found[name] = find(name)
    found |= {name: identifier_plan(str(name)) for name in found if str(name) in identifiers}
    return TablePlan(tuple(found[name] for name in table.columns), tuple(identifiers))


def identifier_plan(name: str) -> ColumnPlan:
    """The plan of a column that the user calls an identifier."""
    return ColumnPlan(name, "drop", "identifier: kept beside predictions", Remark.ON_REQUEST)


def completed(given: TablePlan, table: pd.DataFrame) -> TablePlan:
    """A plan that was edited or made elsewhere, for this table.

    What an edited column lacks (the categories of a number that is to be one) is found in the table; counts
    and examples are those of the table. Columns that the plan does not name are not used.

    Examples
    --------
    >>> edited = TablePlan((ColumnPlan("zip", "category"),))
    >>> completed(edited, pd.DataFrame({"zip": [10115, 80331], "x": [1, 2]}))["zip"].categories
    ('10115', '80331')
    """
    _refuse_unknown(table, [column.name for column in given.columns if column.kind != "drop"])
    planned = {column.name: column for column in given.columns}
    columns = []
    for name in table.columns:
        column = planned.get(str(name), ColumnPlan(str(name), "drop", "not in the plan", Remark.ON_REQUEST))
        if column.kind == "drop":
            columns.append(column)
        elif _lacks_something(column):
            columns.append(find_column(column.name, table[name], _hints_of(column)))
        else:
            columns.append(counted(column, table[name]))
    return TablePlan(tuple(columns), given.identifiers)


def _lacks_something(column: ColumnPlan) -> bool:
    """Whether reading needs more than the plan says, or the column was not used before."""
    lacking = {
        "category": not column.categories,
        "date": not column.date_parts,
        "number": column.n_distinct == 0,
        "boolean": column.n_distinct == 0,
    }
    return lacking.get(column.kind, False)


def _hints_of(column: ColumnPlan) -> Hints:
    return Hints(
        kind=column.kind,
        missing=column.missing,
        decimal=column.decimal if column.decimal != "." else None,
        thousands=column.thousands or None,
        day_first=column.day_first or None,
    )


def _refuse_unknown(table: pd.DataFrame, named: list[str]) -> None:
    present = {str(name) for name in table.columns}
    absent = [name for name in named if name not in present]
    if absent:
        raise DataError(f"the table has no column {absent[0]!r}.")


def _file_decimal(table: pd.DataFrame, found: Mapping[Any, ColumnPlan], is_asked: bool) -> str | None:
    """The decimal mark that the columns agree on; None where none proves one, or two disagree."""
    if not is_asked and all(c.decimal == "." for c in found.values()):
        return None  # nobody needs to know
    proven: set[str] = set()
    for name, planned in found.items():
        column = table[name]
        if planned.kind != "number":
            continue
        if pd.api.types.is_float_dtype(column.dtype):
            values = column.dropna().to_numpy(np.float64)
            if (values % 1 != 0).any():
                proven.add(".")
        elif is_text(column):
            mark = proven_decimal(distinct_texts(column)[1])
            if mark is not None:
                proven.add(mark)
    return proven.pop() if len(proven) == 1 else None


def _file_day_first(found: Mapping[Any, ColumnPlan]) -> bool | None:
    """Whether the day comes first, where other columns of dates say so."""
    settled = {c.day_first for c in found.values() if c.remark == Remark.SETTLED_DATES}
    return settled.pop() if len(settled) == 1 else None


def overview(made: TablePlan) -> str:
    """The plan as a table of text, one line per column."""
    rows = [("column", "used as", "because", "missing", "lost", "examples")]
    for column in made.columns:
        shown = " | ".join(_short(text.removesuffix(" 00:00:00"), 18) for text in column.examples[:3])
        used, missing, lost = column.kind, str(column.n_missing), str(column.n_lost)
        if column.kind == "drop":
            used, missing, lost = "not used", "", ""
        rows.append((_short(column.name, 32), used, _short(column.reason, 64), missing, lost, shown))
    widths = [max(len(row[k]) for row in rows) for k in range(6)]
    sides = (str.ljust, str.ljust, str.ljust, str.rjust, str.rjust, str.ljust)
    return "\n".join(
        "  ".join(pad(cell, width) for pad, cell, width in zip(sides, row, widths)).rstrip() for row in rows
    )


def _short(text: str, most: int) -> str:
    """A text cut in the middle, control characters escaped; a blank of any width is a blank."""
    text = escaped(re.sub(r"\s", " ", text))
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_quoted(str(k))} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, int | float):
        return repr(value)
    return _quoted(str(value))


def _quoted(text: str) -> str:
    """A basic string of TOML: JSON's, but with numbers for control characters and no lone surrogates."""
    encodable = text.encode("utf-8", errors="replace").decode()
    return CONTROL.sub(lambda found: f"\\U{ord(found[0]):08x}", json.dumps(encodable, ensure_ascii=False))
