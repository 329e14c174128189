"""The papers' data sets, scikit-learn's bundled ones, and any table of one's own.

* :mod:`~surewood.datasets.catalogue` knows the facts about each set;
* :mod:`~surewood.datasets.sources` finds a set: the folder in ``SUREWOOD_DATA``, a cache, OpenML;
* :mod:`~surewood.datasets.table_file` reads CSV and Parquet files of any origin;
* :mod:`~surewood.datasets.dates` recognises dates and turns them into numbers;
* :mod:`~surewood.datasets.preparing` makes a frame ready for an estimator, in training and later alike;
* :mod:`~surewood.datasets.loading` puts them together as :func:`load`;
* :mod:`~surewood.datasets.predictions` predicts from one Parquet file into another.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

from surewood.datasets.catalogue import DataError, DatasetInfo, catalogue, info

if TYPE_CHECKING:
    from surewood.datasets.loading import Dataset, load
    from surewood.datasets.predictions import predict_to_parquet
    from surewood.datasets.preparing import TablePreparer
    from surewood.datasets.sources import where
    from surewood.datasets.table_file import read_table

#: Names whose modules need pandas or scikit-learn, imported when first used: the catalogue is quick without.
_HOME = {
    "Dataset": "loading",
    "TablePreparer": "preparing",
    "load": "loading",
    "predict_to_parquet": "predictions",
    "read_table": "table_file",
    "where": "sources",
}

__all__ = [
    "DataError",
    "Dataset",
    "DatasetInfo",
    "TablePreparer",
    "catalogue",
    "info",
    "load",
    "predict_to_parquet",
    "read_table",
    "where",
]


def __getattr__(name: str) -> _Any:
    if name not in _HOME:
        raise AttributeError(f"module 'surewood.datasets' has no attribute {name!r}")
    return getattr(_import_module(f"surewood.datasets.{_HOME[name]}"), name)
