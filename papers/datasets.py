"""The papers' data sets: what is known about each (``catalogue.toml``), and where it is found.

:func:`load` looks in the folder ``SUREWOOD_DATA``, then in the cache, then asks OpenML; tables that come with
scikit-learn have their names of :mod:`surewood.datasets`. Whatever the source, the table is compared with the
catalogue before anyone sees it. :mod:`papers.published_files` makes a set from its published files.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood._text import first_line
from surewood.datasets import BUNDLED
from surewood.datasets import load as load_bundled
from surewood.tables import DataError
from surewood.tables.table_file import read_parquet

PARTS = ("all", "train", "test")
_RANGE = re.compile(r"(?P<stem>.*?)(?P<first>\d+)\.\.(?P=stem)(?P<last>\d+)")


@dataclass(frozen=True)
class RawFiles:
    """Addresses and form of the published files of a data set.

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


def listed_addresses(raw: RawFiles) -> str:
    """The addresses of a data set in a sentence; several files of one folder share its address.

    Examples
    --------
    >>> listed_addresses(info("pendigits").raw)
    'https://archive.ics.uci.edu/ml/machine-learning-databases/pendigits/pendigits.tra and pendigits.tes'
    """
    names: dict[str, list[str]] = {}
    for address in raw.all_addresses():
        folder, _, name = address.rpartition("/")
        names.setdefault(folder, []).append(name)
    words = []
    for folder, (first, *others) in names.items():
        rest = f"{', '.join(['', *others[:-1]])} and {others[-1]}" if others else ""
        words.append(f"{folder}/{first}{rest}")
    return " and ".join(words)


@dataclass(frozen=True)
class DatasetInfo:
    """What is known about a data set before it is loaded.

    Attributes
    ----------
    name, title, citation : str
    rows, columns, classes : int
        `columns` counts features only.
    train_rows, test_rows : int or None
        Sizes of the official division, where there is one.
    class_counts, train_class_counts : tuple of int
        Rows per class, largest first: how a copy from another source is recognized.
    sha256 : str or None
        Of the Parquet file in the folder ``SUREWOOD_DATA``.
    openml : int or None
        Number of the same data on OpenML.
    papers : dict
        The part that each paper used: "all", "train", "test", or "split" for the official division.
    content : str or None
        SHA-256 of its values (:func:`papers.published_files.content_sha256`), whatever file holds them.
    raw : RawFiles or None
        Addresses and form of the published files.
    """

    name: str
    title: str
    rows: int
    columns: int
    classes: int
    citation: str
    class_counts: tuple[int, ...] = ()
    train_rows: int | None = None
    test_rows: int | None = None
    train_class_counts: tuple[int, ...] = ()
    sha256: str | None = None
    openml: int | None = None
    papers: dict[str, str] = field(default_factory=dict)
    content: str | None = None
    raw: RawFiles | None = None


@cache
def catalogue() -> dict[str, DatasetInfo]:
    """All data sets by name.

    Examples
    --------
    >>> catalogue()["letter"].train_rows
    16000
    """
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    entries = {}
    for name, facts in tomllib.loads(text).items():
        for key in ("class_counts", "train_class_counts"):
            facts[key] = tuple(facts.get(key, ()))
        if "raw" in facts:
            facts["raw"] = RawFiles.from_toml(facts["raw"])
        entries[name] = DatasetInfo(name=name, **facts)
    return entries


def info(name: str) -> DatasetInfo:
    """The entry of one data set; an unknown name gets the nearest ones."""
    entries = catalogue()
    if name in entries:
        return entries[name]
    near = difflib.get_close_matches(name.lower(), entries, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(entries)}."
    raise DataError(f"there is no data set called {name!r}; {hint}")


@dataclass
class Dataset:
    """Features, classes, and the division that comes with them.

    `split` is "train" or "test" where there is an official division, else "all"; `papers` has the part that
    each paper used.
    """

    name: str
    X: pd.DataFrame
    y: pd.Series
    split: NDArray[Any]
    papers: dict[str, str]
    source: str

    @property
    def is_divided(self) -> bool:
        """Whether the data come with an official training and test part."""
        return bool((self.split != "all").any())

    @property
    def train(self) -> tuple[pd.DataFrame, pd.Series]:
        """``X, y`` of the training part; everything where there is no division."""
        return self._part(self.split != "test")

    @property
    def test(self) -> tuple[pd.DataFrame, pd.Series]:
        """``X, y`` of the official test part."""
        if not self.is_divided:
            raise DataError(f"{self.name} has no official test part; split it yourself.")
        return self._part(self.split == "test")

    def part_of(self, paper: str) -> tuple[pd.DataFrame, pd.Series]:
        """``X, y`` as used by a paper: "rcf", "cascades" or "mddf" (there the training part)."""
        part = self.papers.get(paper)
        if part is None:
            users = ", ".join(sorted(self.papers)) or "none"
            raise DataError(f"{self.name} was not used by {paper!r}; papers that used it: {users}.")
        if part == "test":
            return self.test
        return self.train if part in ("train", "split") else (self.X, self.y)

    def _part(self, rows: NDArray[np.bool_]) -> tuple[pd.DataFrame, pd.Series]:
        if rows.all():
            return self.X, self.y
        return self.X[rows].reset_index(drop=True), self.y[rows].reset_index(drop=True)


def load(name: str) -> Dataset:
    """A data set by name.

    Examples
    --------
    >>> data = load("wine")
    >>> data.X.shape, data.is_divided
    ((178, 13), False)
    """
    if name in BUNDLED and name not in catalogue():  # the papers' iris is another file
        table = load_bundled(name)
        return Dataset(name, table.X, table.y, np.full(len(table.y), "all"), {}, table.source)
    entry = info(name)
    frame, source = fetch(entry)
    y = frame["target"]
    if isinstance(y.dtype, pd.CategoricalDtype):
        y = y.astype(y.cat.categories.dtype)
    if y.dtype == object:
        y = y.astype(str)
    X = frame.drop(columns=["target", "split"])
    return Dataset(name, X, y, frame["split"].to_numpy(dtype=str), entry.papers, source)


def data_folder() -> Path | None:
    """The folder named by the environment variable ``SUREWOOD_DATA``, if any."""
    value = os.environ.get("SUREWOOD_DATA", "").strip()
    return Path(value).expanduser() if value else None


def cache_folder() -> Path:
    """``SUREWOOD_CACHE``, else the user's cache folder."""
    value = os.environ.get("SUREWOOD_CACHE", "").strip()
    if value:
        return Path(value).expanduser()
    base = os.environ.get("XDG_CACHE_HOME", "").strip()
    return (Path(base) if base else Path.home() / ".cache") / "surewood"


def fetch(entry: DatasetInfo) -> tuple[pd.DataFrame, str]:
    """The checked frame of a data set (features, ``target``, ``split``) and the source it came from."""
    folder = data_folder()
    if folder is not None and (folder / f"{entry.name}.parquet").is_file():
        path = folder / f"{entry.name}.parquet"
        _check_sha256(path, entry)
        return checked(read_parquet(path), entry, str(path)), "SUREWOOD_DATA"
    cached = cache_folder() / f"{entry.name}.parquet"
    if cached.is_file():
        return checked(read_parquet(cached), entry, str(cached)), "cache"
    if entry.openml is not None:
        return _from_openml(entry, cached), "OpenML"
    raise DataError(_not_found(entry, cached))


def _not_found(entry: DatasetInfo, cached: Path, reason: str = "") -> str:
    folder = data_folder()
    looked = [
        f"the folder {folder}" if folder is not None else "SUREWOOD_DATA (not set)",
        f"the cache {cached.parent}",
    ]
    if entry.openml is not None:
        looked.append(f"OpenML data set {entry.openml}{f' ({reason})' if reason else ''}")
    else:
        looked.append("not on OpenML")
    source = (
        f" `python -m papers get {entry.name}` makes it from {listed_addresses(entry.raw)}."
        if entry.raw
        else ""
    )
    return (
        f"data set {entry.name!r} was not found; looked in {', '.join(looked)}. Set SUREWOOD_DATA to a "
        f"folder that has {entry.name}.parquet (features, target, split).{source}"
    )


def _check_sha256(path: Path, entry: DatasetInfo) -> None:
    if entry.sha256 is None:
        return
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != entry.sha256:
        raise DataError(
            f"{path} is not the {entry.name!r} of the catalogue: its SHA-256 is {digest[:12]}..., expected "
            f"{entry.sha256[:12]}...; fetch it again."
        )


def checked(frame: pd.DataFrame, entry: DatasetInfo, origin: str) -> pd.DataFrame:
    """Refuse a frame whose shape or classes are not those of the catalogue."""
    missing = {"target", "split"} - set(frame.columns)
    if missing:
        raise DataError(f"{origin} has no column {' and no '.join(sorted(missing))}.")
    sizes = (len(frame), frame.shape[1] - 2, frame["target"].nunique())
    expected = (entry.rows, entry.columns, entry.classes)
    if sizes != expected:
        raise DataError(
            f"{origin} is not the {entry.name!r} of the catalogue: it has {sizes[0]} rows, {sizes[1]} "
            f"columns and {sizes[2]} classes, expected {expected[0]}, {expected[1]} and {expected[2]}."
        )
    train = frame[frame["split"] == "train"]
    for what, part, counts in (
        ("rows", frame, entry.class_counts),
        ("training rows", train, entry.train_class_counts),
    ):
        if counts and tuple(part["target"].value_counts()) != counts:
            raise DataError(
                f"{origin} is not the {entry.name!r} of the catalogue: its {what} per class differ."
            )
    return frame


def _from_openml(entry: DatasetInfo, cached: Path) -> pd.DataFrame:
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(data_id=entry.openml, as_frame=True, parser="auto")
    except Exception as error:
        raise DataError(_not_found(entry, cached, f"no answer: {first_line(error)}")) from error
    frame = bunch.data.assign(target=bunch.target.to_numpy(), split="all")
    if entry.train_rows is not None:
        # OpenML keeps the two parts one after the other; the class counts below confirm it.
        frame["split"] = ["train"] * entry.train_rows + ["test"] * (len(frame) - entry.train_rows)
    frame = checked(frame, entry, f"OpenML data set {entry.openml}")
    with contextlib.suppress(OSError):  # a cache is a convenience
        write_atomically(frame, cached)
    return frame


def write_atomically(frame: pd.DataFrame, path: Path) -> None:
    """A Parquet file that is there as a whole or not at all."""
    partial = path.with_suffix(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.to_parquet(partial)
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
