"""Which types a model file may hold: looked up in lists, never imported because a file names them.

Every package whose objects are saved lists their full names as ``SAVED_TYPES``. A name in a file is compared
with the lists of the packages that it could belong to; those packages are known here or in the public list of
:mod:`surewood`, not taken from the file.
"""

from __future__ import annotations

from importlib import import_module

import surewood

#: Packages below the families whose objects are parts of models.
_PARTS = frozenset(
    {"surewood.bounds", "surewood.estimators", "surewood.svm", "surewood.tables", "surewood.trees"}
)

#: scikit-learn's estimators on libsvm, whose compiled code follows arrays without looking; only on demand.
UNCHECKED = frozenset(
    f"sklearn.svm._classes.{name}" for name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")
)


def is_known(name: str) -> bool:
    """Whether a full name is in one of the lists.

    Examples
    --------
    >>> is_known("surewood.trees.flat_tree.FlatForest"), is_known("surewood.cli.__main__.main")
    (True, False)
    """
    homes = {home for home in surewood._HOME.values() if home != "surewood"} | _PARTS
    return any(
        name in getattr(import_module(home), "SAVED_TYPES", ())
        for home in homes
        if name.startswith(f"{home}.")
    )
