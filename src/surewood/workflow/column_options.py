"""What a user says about the columns of a table, over what their values suggest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from surewood.tables import ColumnPlan, DataError, TablePlan, plan
from surewood.tables.planning.finding import DROPPED, IDENTIFIER
from surewood.tables.planning.table_plan import completed
from surewood.tables.preparing import as_frame


@dataclass(frozen=True)
class ColumnOptions:
    """What the user decides about columns.

    Attributes
    ----------
    plan : TablePlan or None
        An edited plan, which the other options change.
    drop, identifiers : tuple of str
        Columns not to use; columns that name a row, kept beside predictions.
    categorical, numeric, date : tuple of str
        Columns whose kind is known.
    missing : tuple of str
        Further texts that mean a missing value.
    decimal : {".", ","} or None
        The decimal mark, where the table leaves it open.

    Examples
    --------
    >>> options = ColumnOptions(categorical=("zip",), drop=("x",))
    >>> made = options.make_plan(pd.DataFrame({"zip": [10115, 80331, 10115], "x": [1, 2, 4], "y": [3, 5, 4]}))
    >>> [(column.name, column.kind) for column in made.columns]
    [('zip', 'category'), ('x', 'drop'), ('y', 'number')]
    """

    plan: TablePlan | None = None
    drop: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    decimal: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise DataError(f"decimal={self.decimal} is not a decimal mark; it is . or a comma.")
        named: dict[str, str] = {}
        groups = {
            "drop": self.drop,
            "id": self.identifiers,
            "categorical": self.categorical,
            "numeric": self.numeric,
            "date": self.date,
        }
        for option, names in groups.items():
            for name in names:
                if named.setdefault(name, option) != option:
                    raise DataError(f"column {name!r} is named twice ({named[name]}= and {option}=).")

    @property
    def kinds(self) -> dict[str, str]:
        """Kinds that were given, by column."""
        return {
            **dict.fromkeys(self.categorical, "category"),
            **dict.fromkeys(self.numeric, "number"),
            **dict.fromkeys(self.date, "date"),
        }

    def make_plan(self, table: pd.DataFrame) -> TablePlan:
        """The plan of a table."""
        table = as_frame(table)
        if self.plan is None:
            return plan(
                table,
                drop=self.drop,
                identifiers=self.identifiers,
                kinds=self.kinds,
                missing=self.missing,
                decimal=self.decimal,
            )
        return completed(self._changed(self.plan), table)

    def _changed(self, given: TablePlan) -> TablePlan:
        columns = {column.name: column for column in given.columns}
        columns |= {n: ColumnPlan(n, kind, missing=self.missing) for n, kind in self.kinds.items()}
        columns |= {name: ColumnPlan(name, "drop", DROPPED) for name in self.drop}
        columns |= {name: ColumnPlan(name, "drop", IDENTIFIER) for name in self.identifiers}
        return TablePlan(tuple(columns.values()), given.identifiers + self.identifiers)


def read_plan_file(path: str | Path) -> TablePlan:
    """A plan that ``surewood fit --plan`` or a fit wrote."""
    path = Path(path)
    try:
        return TablePlan.from_toml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"there is no plan file {path}.") from None
    except (UnicodeDecodeError, IsADirectoryError) as error:
        raise DataError(f"{path} is not a plan file, which is TOML.") from error
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def names_of(words: str | Iterable[str] | None) -> tuple[str, ...]:
    """Names given with commas, as several words, or both; empty ones left out.

    Examples
    --------
    >>> names_of("id, name"), names_of(["a,b", "c"]), names_of(None)
    (('id', 'name'), ('a', 'b', 'c'), ())
    """
    if words is None:
        return ()
    words = [words] if isinstance(words, str) else words
    return tuple(dict.fromkeys(name.strip() for word in words for name in word.split(",") if name.strip()))
