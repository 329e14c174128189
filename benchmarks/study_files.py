"""What the studies share: options that begin with the file's own text, and results kept row by row."""

import argparse
import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def option_parser(text: str | None) -> argparse.ArgumentParser:
    """A parser whose help shows the docstring of a study as it is."""
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)


def repeated_parser(text: str | None, sets: Iterable[str], seeds: int) -> argparse.ArgumentParser:
    """The same with the options of studies that repeat fits: data sets, numbers of seeds and of threads."""
    parser = option_parser(text)
    parser.add_argument("--sets", default=",".join(sets))
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--n-jobs", type=int, default=2)
    return parser


def append_rows(path: Path, fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Add rows to a table of results, which begins with a header; what was measured before stays."""
    path.parent.mkdir(exist_ok=True)
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, fields)
        if new:
            writer.writeheader()
        writer.writerows(rows)
