"""The papers' data sets, scikit-learn's bundled ones, and any table of one's own.

* :mod:`~surewood.datasets.built_in` knows the facts about each set;
* :mod:`~surewood.datasets.sources` finds a set: the folder in ``SUREWOOD_DATA``, a cache, OpenML;
* :mod:`~surewood.datasets.raw_files`, :mod:`~surewood.datasets.recipes` and
  :mod:`~surewood.datasets.getting` make a set from its published files, and
  :mod:`~surewood.datasets.content` tells whether the result is the catalogue's;
* :mod:`~surewood.datasets.loading` puts them together as :func:`load`.
"""

from typing import TYPE_CHECKING

from surewood._lazy import lazy_names as _lazy_names

if TYPE_CHECKING:
    from surewood.datasets.built_in import DatasetInfo, catalogue, info
    from surewood.datasets.loading import Dataset, load
    from surewood.datasets.sources import where
    from surewood.tables.data_error import DataError

_HOME = {
    "DataError": "surewood.tables.data_error",
    "Dataset": "surewood.datasets.loading",
    "DatasetInfo": "surewood.datasets.built_in",
    "catalogue": "surewood.datasets.built_in",
    "info": "surewood.datasets.built_in",
    "load": "surewood.datasets.loading",
    "where": "surewood.datasets.sources",
}

__all__ = ["DataError", "Dataset", "DatasetInfo", "catalogue", "info", "load", "where"]
__getattr__, __dir__ = _lazy_names(__name__, _HOME)
