"""The rows of a table for a fitted model: no target is needed."""

from __future__ import annotations

import pandas as pd

from surewood.datasets import load
from surewood.tables import read_table
from surewood.tables.table_file import looks_like_a_file


def read_rows(source: str) -> pd.DataFrame:
    """All columns of a file, or the features of a data set of the catalogue."""
    if looks_like_a_file(source):
        return read_table(source)
    return load(source).X
