"""Where a data set comes from: the folder in ``SUREWOOD_DATA``, a cache, OpenML, scikit-learn itself.

A frame from a source has the feature columns, ``target``, and ``split`` ("train", "test" or "all"). Whatever
the source, the frame is checked against the catalogue before anyone sees it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

import pandas as pd

from surewood.datasets.built_in import DatasetInfo
from surewood.datasets.raw_files import RawFiles
from surewood.tables.data_error import DataError
from surewood.tables.reading.table_file import first_line, read_parquet


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


def where(entry: DatasetInfo) -> str:
    """Where a data set would come from right now, in a few words.

    One of "scikit-learn", "SUREWOOD_DATA", "cache", "OpenML (download)", or "by hand: ..." and how.

    Examples
    --------
    >>> from surewood.datasets import info, where
    >>> where(info("wine"))
    'scikit-learn'
    """
    if entry.bundled:
        return "scikit-learn"
    folder = data_folder()
    if folder is not None and (folder / f"{entry.name}.parquet").is_file():
        return "SUREWOOD_DATA"
    if (cache_folder() / f"{entry.name}.parquet").is_file():
        return "cache"
    if entry.openml is not None:
        return "OpenML (download)"
    if entry.raw is None:
        return "by hand: put it into SUREWOOD_DATA"
    return f"by hand: surewood datasets get {entry.name}, which converts {listed_addresses(entry.raw)}"


def listed_addresses(raw: RawFiles) -> str:
    """The addresses of a data set in a sentence; several files of one folder share its address.

    Examples
    --------
    >>> from surewood.datasets import info
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


def fetch(entry: DatasetInfo) -> tuple[pd.DataFrame, str]:
    """The checked frame of a data set and the source it came from."""
    if entry.bundled:
        return _from_scikit_learn(entry), "scikit-learn"
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
    raise DataError(_not_found(entry, folder, cached))


def _not_found(entry: DatasetInfo, folder: Path | None, cached: Path, reason: str = "") -> str:
    looked = [
        f"the folder {folder}" if folder is not None else "SUREWOOD_DATA (not set)",
        f"the cache {cached.parent}",
    ]
    if entry.openml is not None:
        looked.append(f"OpenML data set {entry.openml}{f' ({reason})' if reason else ''}")
    else:
        looked.append("not on OpenML")
    source = (
        f" `surewood datasets get {entry.name}` makes it from {listed_addresses(entry.raw)}."
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
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != entry.sha256:
        raise DataError(
            f"{path} is not the {entry.name!r} of the catalogue: its SHA-256 is {found[:12]}..., expected "
            f"{entry.sha256[:12]}...; fetch it again."
        )


def checked(frame: pd.DataFrame, entry: DatasetInfo, origin: str) -> pd.DataFrame:
    """Refuse a frame whose shape or classes are not those of the catalogue."""
    missing = {"target", "split"} - set(frame.columns)
    if missing:
        raise DataError(f"{origin} has no column {' and no '.join(sorted(missing))}.")
    found = (len(frame), frame.shape[1] - 2, frame["target"].nunique())
    expected = (entry.rows, entry.columns, entry.classes)
    if found != expected:
        raise DataError(
            f"{origin} is not the {entry.name!r} of the catalogue: it has {found[0]} rows, {found[1]} "
            f"columns and {found[2]} classes, expected {expected[0]}, {expected[1]} and {expected[2]}."
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


def _from_scikit_learn(entry: DatasetInfo) -> pd.DataFrame:
    import sklearn.datasets

    assert entry.bundled is not None
    bunch = getattr(sklearn.datasets, entry.bundled)(as_frame=True)
    names = pd.Series(bunch.target_names).map(str)
    frame = bunch.data.assign(target=names.iloc[bunch.target.to_numpy()].to_numpy(), split="all")
    return checked(frame, entry, "scikit-learn's copy")


def _from_openml(entry: DatasetInfo, cached: Path) -> pd.DataFrame:
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(data_id=entry.openml, as_frame=True, parser="auto")
    except Exception as error:
        raise DataError(
            _not_found(entry, data_folder(), cached, f"no answer: {first_line(error)}")
        ) from error
    frame = bunch.data.assign(target=bunch.target.to_numpy(), split="all")
    if entry.train_rows is not None:
        # OpenML keeps the two parts one after the other; the class counts below confirm it.
        frame["split"] = ["train"] * entry.train_rows + ["test"] * (len(frame) - entry.train_rows)
    frame = checked(frame, entry, f"OpenML data set {entry.openml}")
    _write_to_cache(frame, cached)
    return frame


def _write_to_cache(frame: pd.DataFrame, path: Path) -> None:
    """A cache is a convenience: where it cannot be written, the data are used all the same."""
    with contextlib.suppress(OSError):
        write_atomically(frame, path)


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
