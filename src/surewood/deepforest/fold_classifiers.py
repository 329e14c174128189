"""Classifiers in a forest's place: cloned for each fold, seeded, fitted on numbers, read as class vectors.

A classifier that takes NaN gets the table's own matrix (category codes as numbers); any other gets the
standardised, one-hot encoded, imputed form of :class:`surewood.tables.DesignEncoder`. Class vectors of
earlier layers follow as plain columns. Weights are passed where ``fit`` takes them; otherwise rows are drawn
by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from surewood._arrays import Floats, check_linear_part
from surewood.deepforest.contrast_classifier import _ContrastClassifier
from surewood.tables import DesignEncoder, Table


@dataclass
class FoldClassifier:
    """A classifier fitted on one fold, and the class code of each of its columns.

    A fold with a single class needs no classifier: then `estimator` is None.
    """

    estimator: Any
    codes: NDArray[np.int64]
    n_classes: int

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        check_linear_part(self.estimator)

    def vectors(self, numbers: Floats | None) -> Floats:
        """Class vectors; classes that the fold did not have get 0."""
        assert numbers is not None
        out = np.zeros((len(numbers), self.n_classes))
        out[:, self.codes] = 1.0 if self.estimator is None else self.estimator.predict_proba(numbers)
        return out


def fit_fold_classifier(
    estimator: Any,
    numbers: Floats | None,
    labels: NDArray[np.uint16],
    rows: NDArray[np.int64],
    weight: Floats | None,
    seed: int,
    n_classes: int,
    **fit_options: Any,
) -> FoldClassifier:
    """Fit a clone on some rows."""
    assert numbers is not None
    codes = np.unique(labels[rows]).astype(np.int64)
    if len(codes) == 1:
        return FoldClassifier(None, codes, n_classes)
    model = seeded_clone(estimator, seed)
    if weight is None:
        model.fit(numbers[rows], labels[rows], **fit_options)
    elif has_fit_parameter(model, "sample_weight"):
        model.fit(numbers[rows], labels[rows], sample_weight=weight[rows], **fit_options)
    else:
        drawn = _draw_by_weight(rows, labels, weight[rows], seed)
        model.fit(numbers[drawn], labels[drawn])
    return FoldClassifier(model, np.asarray(model.classes_).astype(np.int64), n_classes)


def seeded_clone(estimator: Any, seed: int) -> Any:
    """A clone with every ``random_state`` in it set."""
    model = clone(estimator)
    names = [n for n in model.get_params(deep=True) if n == "random_state" or n.endswith("__random_state")]
    return model.set_params(**{name: int(seed % 2**31) for name in sorted(names)})


def _draw_by_weight(
    rows: NDArray[np.int64], labels: NDArray[np.uint16], weight: Floats, seed: int
) -> NDArray[np.int64]:
    """As many rows, drawn by weight; one row of every class is kept, so that no class gets lost."""
    drawn = np.random.default_rng(seed).choice(rows, size=len(rows), p=weight / weight.sum())
    lost = np.setdiff1d(labels[rows], labels[drawn])
    first = [rows[np.argmax(labels[rows] == code)] for code in lost]
    return np.concatenate([drawn, np.array(first, dtype=np.int64)])


class NumberReader:
    """The numbers that classifiers in a forest's place see; None where there are only forests."""

    def __init__(self, estimators: list[Any]) -> None:
        # Contrasts bring their columns to one range themselves; means would depend on the order of the rows.
        self.scale = not all(isinstance(estimator, _ContrastClassifier) for estimator in estimators)
        self.raw = all(get_tags(estimator).input_tags.allow_nan for estimator in estimators)

    def fit(self, table: Table, weight: Floats | None) -> NumberReader:
        """Learn the encoding from the training table."""
        self.encoder_ = None if self.raw else DesignEncoder(scale=self.scale).fit(table, weight)
        return self

    def read(self, table: Table) -> Floats:
        """The numbers of a table, ``(n_rows, n_numbers)``."""
        if self.encoder_ is None:
            return np.asarray(table.matrix(), dtype=np.float64)
        return self.encoder_.transform(table)
