"""Labels of a raw table: trimmed, missing ones found; a quantity is refused, or cut into classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.tables.planning.column_plan import distinct_texts, is_text
from surewood.tables.planning.numbers import AmbiguousNumbers, NumberFormat, find_number_format
from surewood.tables.planning.words import are_missing_codes, codes_among_words
from surewood.tables.sources import DataError


def clean_labels(target: pd.Series) -> tuple[pd.Series, int, list[str]]:
    """Trim labels and find the missing ones; numbers, truth values and categories stay as they are.

    "None" is a class: only a code that cannot be a name, such as ``?`` or ``N/A``, is missing.

    Returns
    -------
    labels : Series
        Missing where there is none.
    n_trimmed : int
        Rows whose label had white space around it.
    coded : list of str
        Codes that were read as missing.

    Examples
    --------
    >>> labels, n_trimmed, coded = clean_labels(pd.Series(["yes", "yes ", "no", "?"]))
    >>> labels.tolist(), n_trimmed, coded
    (['yes', 'yes', 'no', nan], 1, ['?'])
    """
    if not is_text(target):
        return target, 0, []
    codes, values = pd.factorize(target, use_na_sentinel=True)
    texts = [value.strip() if isinstance(value, str) else value for value in values]
    words = [text for text in texts if isinstance(text, str)]
    marks = codes_among_words(words)
    missing = are_missing_codes(words, marks)
    coded = tuple(dict.fromkeys(w for w, is_code in zip(words, missing) if is_code and w != "None"))
    changed = np.array([text is not value and text != value for text, value in zip(texts, values)] + [False])
    known = [None if isinstance(text, str) and text in coded else text for text in texts]
    if not changed.any() and not coded:
        return target, 0, []
    cleaned = pd.Series(np.array([*known, None], dtype=object)[codes], index=target.index, name=target.name)
    n_trimmed = int((changed[codes] & cleaned.notna().to_numpy()).sum())
    return cleaned, n_trimmed, [code for code in coded if code]


def labels_alike(labels: pd.Series) -> list[str]:
    """Labels that differ from another one in upper and lower case only.

    Examples
    --------
    >>> labels_alike(pd.Series(["yes", "Yes", "no", "yes"]))
    ['Yes', 'yes']
    """
    texts = sorted(label for label in labels.unique() if isinstance(label, str))
    counts = Counter(text.casefold() for text in texts)
    return [text for text in texts if counts[text.casefold()] > 1]


MANY_VALUES = 30  # more distinct numbers are a quantity
FEW_ROWS = 5  # per value, below which more than `SEVERAL_VALUES` of them are a quantity
SEVERAL_VALUES = 10


class QuantityWarning(UserWarning):
    """Labels given to `fit` look like a quantity."""


def read_bins(bins: str | Sequence[float] | None) -> tuple[float, ...]:
    """Values that divide a quantity into classes, also as text.

    Examples
    --------
    >>> read_bins("0, 100,1000"), read_bins(None)
    ((0.0, 100.0, 1000.0), ())
    """
    if bins is None:
        return ()
    words = [word for word in bins.split(",") if word.strip()] if isinstance(bins, str) else bins
    try:
        edges = tuple(float(word) for word in words)
    except ValueError:
        edges = (np.nan,)
    if not edges or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        raise DataError(f"bins={bins} must be increasing numbers with commas, such as bins=0,100,1000.")
    return edges


def settle_quantity(
    y: pd.Series,
    target: str,
    *,
    classes: bool = False,
    bins: Sequence[float] = (),
    decimal: str | None = None,
) -> pd.Series:
    """The labels; of a quantity classes by `bins`, or its values where `classes` says so, else it is refused.

    Examples
    --------
    >>> settle_quantity(pd.Series(["$5", "$80", "$1,200"]), "price", bins=(10, 100)).tolist()
    ['below 10', '10 to 100', '100 and more']
    """
    if classes and bins:
        raise DataError("classes=True cannot be combined with bins=.")
    if bins:
        return pd.Series(_in_ranges(_values(y, target, decimal), bins), index=y.index, name=y.name)
    if classes:
        fractions = pd.api.types.is_float_dtype(y.dtype) and (y % 1 != 0).any()
        return y.map(lambda value: f"{value:.12g}").astype(str) if fractions else y
    why = why_quantity(pd.Series(y.unique()), len(y), decimal)
    if why:
        low, high = np.quantile(_values(y, target, decimal), [1 / 3, 2 / 3])
        edges = sorted({float(f"{low:.2g}"), float(f"{high:.2g}")})
        raise DataError(
            f"the target {target!r} is a quantity ({why}), and only classes can be predicted: "
            f"bins={','.join(f'{edge:.10g}' for edge in edges)} makes classes of its ranges, classes=True "
            "takes each value as a class."
        )
    return y


def why_quantity(values: pd.Series, n_rows: int, decimal: str | None = None) -> str:
    """Why distinct labels look like a quantity; empty where they do not.

    Examples
    --------
    >>> why_quantity(pd.Series(range(40)), 90), why_quantity(pd.Series(["$5", "$7", "$9"]), 90)
    ('40 different numbers in 90 rows', "amounts such as '$5'")
    >>> why_quantity(pd.Series(range(9)), 90)
    ''
    """
    if pd.api.types.is_bool_dtype(values.dtype):
        return ""
    form, codes = _format(values, decimal)
    if form is None and not pd.api.types.is_numeric_dtype(values.dtype):
        return ""
    n_values, shown = len(values), repr(str(values.iloc[0]))
    if form is not None and (codes or n_values <= 2):
        return ""
    if form is not None and form.percent:
        return f"percentages such as {shown}"
    if form is not None and form.unit:
        return f"amounts such as {shown}"
    numbers = values if form is None else pd.Series(form.read_all(values.astype(str).tolist()))
    if (numbers % 1 != 0).any():
        return f"numbers with fractions such as {shown}"
    if n_values > MANY_VALUES or (n_values > SEVERAL_VALUES and n_rows < FEW_ROWS * n_values):
        return f"{n_values:,} different numbers in {n_rows:,} rows"
    return ""


def _format(y: pd.Series, decimal: str | None) -> tuple[NumberFormat | None, bool]:
    """How labels that are texts are numbers, if all are, and whether they are codes such as 01067."""
    if not is_text(y):
        return None, False
    texts = distinct_texts(y)[1]
    try:
        form = find_number_format(texts, decimal=decimal, comma_separated=True)
    except AmbiguousNumbers:
        form = NumberFormat(".", ",")
    if form is None or np.isnan(form.read_all(texts)).any():
        return None, False
    return form, any(text.startswith("0") and text.isdigit() and len(text) > 1 for text in texts)


def _values(y: pd.Series, target: str, decimal: str | None) -> NDArray[np.float64]:
    """A quantity as numbers."""
    form, _ = _format(y, decimal)
    if form is not None:
        return form.read_all(y.astype(str).str.strip().tolist())
    if pd.api.types.is_numeric_dtype(y.dtype):
        return y.to_numpy(dtype=np.float64)
    raise DataError(f"bins= needs a target of numbers; {target!r} has {str(y.iloc[0])!r} and the like.")


def _in_ranges(values: NDArray[np.float64], bins: Sequence[float]) -> list[str]:
    edges = [f"{edge:.10g}" for edge in bins]
    between = [f"{low} to {high}" for low, high in pairwise(edges)]
    names: NDArray[Any] = np.array([f"below {edges[0]}", *between, f"{edges[-1]} and more"], dtype=object)
    return [str(name) for name in names[np.searchsorted(bins, values, side="right")]]
