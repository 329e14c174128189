"""Facts about each data set of the catalogue, read from ``catalogue.toml`` beside this file."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from surewood.datasets.raw_files import RawFiles
from surewood.tables.data_error import DataError


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
    bundled : str or None
        Loader in ``sklearn.datasets``.
    papers : dict
        The part that each paper used: "all", "train", "test", or "split" for the official division.
    content : str or None
        SHA-256 of its values (:func:`~surewood.datasets.content.content_sha256`), whatever file holds them.
    raw : RawFiles or None
        Addresses and form of the published files, which ``surewood datasets get`` converts.

    Examples
    --------
    >>> from surewood.datasets import info
    >>> info("wine").name
    'wine'
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
    bundled: str | None = None
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
    text = resources.files(__package__).joinpath("catalogue.toml").read_text(encoding="utf-8")
    entries = {}
    for name, facts in tomllib.loads(text).items():
        for key in ("class_counts", "train_class_counts"):
            facts[key] = tuple(facts.get(key, ()))
        if "raw" in facts:
            facts["raw"] = RawFiles.from_toml(facts["raw"])
        entries[name] = DatasetInfo(name=name, **facts)
    return entries


def info(name: str) -> DatasetInfo:
    """The entry of one data set; an unknown name gets the nearest ones.

    Examples
    --------
    >>> from surewood.datasets import info
    >>> info("wine").bundled
    'load_wine'
    """
    entries = catalogue()
    if name in entries:
        return entries[name]
    near = difflib.get_close_matches(name.lower(), entries, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "`surewood datasets` lists the names."
    raise DataError(f"there is no data set called {name!r}; {hint}")
