"""The published files of a data set: their addresses, and the form they have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

PARTS = ("all", "train", "test")
_RANGE = re.compile(r"(?P<stem>.*?)(?P<first>\d+)\.\.(?P=stem)(?P<last>\d+)")


@dataclass(frozen=True)
class RawFiles:
    """What :mod:`~surewood.datasets.recipes` has to know to read the published files of a data set.

    Attributes
    ----------
    form : {"delimited", "libsvm", "idx", "har"}
        "delimited" is text with one row per line; "libsvm" is ``label index:value ...``; "idx" is the binary
        format of MNIST; "har" is the archive of the smartphone data.
    addresses : dict
        Addresses by part: "all", or "train" and "test".
    columns : tuple of str
        Names of the columns in the order of the file. "-" is left out, ``f0..f3`` stands for f0 to f3;
        "target" is the class, and "split" the part where the file itself has it.
    separator : {",", " "}
        Of delimited text; " " is any amount of white space.
    unknown : str or None
        How the file writes a missing value.
    drop_unknown : bool
        Whether rows with a missing value are left out.
    comment : str or None
        Lines that begin with it are skipped.
    recode : dict
        New values of a column by the old ones, written as text.
    dtype : str or None
        Type of the features that are not whole numbers, where it is not float64.

    Examples
    --------
    >>> raw = RawFiles("delimited", {"all": ("https://example.org/a%20b.data",)}, ("x1..x3", "target"))
    >>> raw.names(), raw.file_name("https://example.org/a%20b.data")
    (['x1', 'x2', 'x3', 'target'], 'a b.data')
    """

    form: str
    addresses: Mapping[str, tuple[str, ...]]
    columns: tuple[str, ...] = ()
    separator: str = ","
    unknown: str | None = None
    drop_unknown: bool = False
    comment: str | None = None
    recode: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    dtype: str | None = None

    @classmethod
    def from_toml(cls, table: Mapping[str, Any]) -> RawFiles:
        """From the entry of the catalogue, where the parts stand beside the other keys."""
        own = dict(table)
        addresses = {part: tuple(own.pop(part)) for part in PARTS if part in own}
        return cls(addresses=addresses, columns=tuple(own.pop("columns", ())), **own)

    def all_addresses(self) -> list[str]:
        """Every file once, training part first."""
        return [address for files in self.addresses.values() for address in files]

    def names(self) -> list[str]:
        """The columns of the file, ranges written out."""
        found: list[str] = []
        for column in self.columns:
            match = _RANGE.fullmatch(column)
            if match is None:
                found.append(column)
            else:
                numbers = range(int(match["first"]), int(match["last"]) + 1)
                found += [f"{match['stem']}{number}" for number in numbers]
        return found

    @staticmethod
    def file_name(address: str) -> str:
        """Name under which a browser saves the file."""
        return unquote(urlsplit(address).path.rpartition("/")[2])
