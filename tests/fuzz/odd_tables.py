"""Tables that nobody would make on purpose: odd types, shapes, values, labels and weights.

`cases` draws a :class:`Case`: a table, labels, weights and how to read the columns. About half of the cases
are sound (few rows, but consistent), so that the estimators get past their checks; the others have something
wrong with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

pl = pytest.importorskip("polars")

NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.1, 3.0, 1e-300, 5e-324, 1e300, -1e300, 1.7e308, 2.0**53, 1e9, -7.5, np.nan]
WORDS = ["", "a", "b", "A", "  ", "nan", "None", "0", "1.5", "ü", "日本", "x" * 50, "\x00", "\n"]
ARRAY_TYPES = [
    "f8",
    "f4",
    "f2",
    "i8",
    "i1",
    "u8",
    "u1",
    "?",
    ">f8",
    ">i4",
    "O",
    "c16",
    "U3",
    "M8[D]",
    "m8[s]",
]
COLUMN_KINDS = [
    "number", "whole", "constant", "empty", "huge", "text", "category", "ordered", "number category", "flag",
    "nullable int", "nullable flag", "string dtype", "date", "zoned", "duration", "objects", "mixed",
    "decimal", "tiny", "dates as objects", "complex", "lists", "period",
]  # fmt: skip
SOUND_KINDS = COLUMN_KINDS[:17]


@dataclass
class Case:
    """Everything that a fit takes."""

    X: Any
    y: Any
    sample_weight: Any
    class_weight: Any
    categorical_features: Any
    note: str

    def __repr__(self) -> str:
        shape = getattr(self.X, "shape", None)
        kinds = getattr(self.X, "dtypes", getattr(self.X, "dtype", None))
        kinds = list(kinds) if isinstance(kinds, pd.Series) else kinds
        return (
            f"Case({self.note}: {type(self.X).__name__} {shape} {kinds}\n{self.X!r}\ny={self.y!r}, "
            f"sample_weight={self.sample_weight!r}, class_weight={self.class_weight!r}, "
            f"categorical_features={self.categorical_features!r})"
        )


@st.composite
def cases(draw: Any) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sound = draw(st.booleans())
    n_rows = draw(st.integers(4, 40)) if sound else draw(st.integers(0, 12))
    n_columns = draw(st.integers(1, 5)) if sound else draw(st.integers(0, 4))
    form = draw(st.sampled_from(["array", "frame", "frame", "frame", "polars", "sparse", "list"]))
    X, note = _table(rng, form, n_rows, n_columns, sound)
    y = _labels(rng, n_rows, sound)
    weight = _weights(rng, n_rows, sound)
    class_weight = None
    if rng.random() < 0.15:
        choices = ["balanced", {}, {0: 2.0}, {"a": 1}, "odd", {0: -1.0}]
        class_weight = choices[rng.integers(1 if sound else len(choices))]
    categorical: Any = "from_dtype"
    if rng.random() < 0.15:
        choices = [None, [0], [False] * n_columns, ["c0"], [99], "odd", [0.5]]
        categorical = choices[rng.integers(2 if sound else len(choices))]
    return Case(X, y, weight, class_weight, categorical, note)


def _table(rng: np.random.Generator, form: str, n_rows: int, n_columns: int, sound: bool) -> tuple[Any, str]:
    if form in ("frame", "polars"):
        return _frame(rng, form, n_rows, n_columns, sound)
    kind = ARRAY_TYPES[rng.integers(9 if sound else len(ARRAY_TYPES))]
    X = _array(rng, kind, n_rows, n_columns)
    if not sound and rng.random() < 0.2 and X.size and X.dtype.kind == "f":
        X.flat[rng.integers(X.size)] = np.inf
    if form == "sparse" and X.dtype.kind in "fiub" and X.dtype.isnative and X.dtype.itemsize != 2:
        makers = [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array]
        with np.errstate(all="ignore"):
            return makers[rng.integers(len(makers))](np.where(rng.random(X.shape) < 0.5, 0, X)), kind
    if form == "list":
        return X.tolist(), f"list of {kind}"
    twist = rng.integers(6)
    if twist == 0:
        X = np.asfortranarray(X)
    elif twist == 1:
        X = np.repeat(X, 2, axis=0)[::2]
    elif twist == 2:
        X.flags.writeable = False
    elif twist == 3 and not sound:
        X = X.ravel() if rng.random() < 0.5 else X[None]
    return X, kind


def _array(rng: np.random.Generator, kind: str, n_rows: int, n_columns: int) -> Any:
    shape = (n_rows, n_columns)
    few = rng.choice(NUMBERS, size=shape)
    plain = rng.normal(size=shape).round(rng.integers(0, 3))
    values = np.where(rng.random(shape) < rng.choice([0.0, 0.1, 0.6]), few, plain)
    dtype = np.dtype(kind)
    if dtype.kind in "iub":
        return rng.integers(0, rng.integers(1, 100) + 1, size=shape).astype(dtype)
    if dtype.kind in "Mm":
        return rng.integers(0, 1000, size=shape).astype(dtype)
    if dtype.kind == "U":
        return rng.choice(WORDS, size=shape).astype(dtype)
    if dtype.kind == "O":
        out = values.astype(object)
        for _ in range(rng.integers(4)):
            if out.size:
                out.flat[rng.integers(out.size)] = [None, "a", 3, True, np.nan, 2**70, [1]][rng.integers(7)]
        return out
    if kind == "f2":
        values = np.clip(values, -6e4, 6e4)
    if kind == "f4":
        values = np.clip(values, -3e38, 3e38)
    return values.astype(dtype)


def _frame(rng: np.random.Generator, form: str, n_rows: int, n_columns: int, sound: bool) -> tuple[Any, str]:
    kinds = rng.choice(SOUND_KINDS if sound else COLUMN_KINDS, size=n_columns).tolist()
    columns = [_column(rng, kind, n_rows) for kind in kinds]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(n_rows))
    frame.columns = [f"c{j}" for j in range(n_columns)]
    note = ", ".join(kinds)
    if form == "polars":
        try:
            return pl.from_pandas(frame), f"polars: {note}"
        except Exception:  # polars cannot hold some columns: then it stays with pandas
            return frame, note
    twist = rng.integers(8)
    if twist == 0:
        frame.columns = range(n_columns)
    elif twist == 1:
        frame.index = rng.integers(0, 3, n_rows)
    elif twist == 2 and not sound and n_columns > 1:
        frame.columns = ["c0"] * n_columns
    elif twist == 3 and not sound and n_columns > 1:
        frame.columns = ["c0", 1, *[f"c{j}" for j in range(2, n_columns)]]
    return frame, note


def _column(rng: np.random.Generator, kind: str, n: int) -> pd.Series:
    holes = rng.random(n) < rng.choice([0.0, 0.0, 0.2])
    numbers = rng.normal(size=n).round(1)
    words = rng.choice(WORDS[: rng.integers(1, len(WORDS))], size=n).astype(object)
    days = rng.integers(0, 5000, n)
    if kind == "number":
        return pd.Series(np.where(holes, np.nan, numbers))
    if kind == "whole":
        return pd.Series(rng.integers(-5, 5, n))
    if kind == "constant":
        return pd.Series(np.full(n, rng.choice(NUMBERS)))
    if kind == "empty":
        return pd.Series([None] * n, dtype=object if rng.random() < 0.5 else float)
    if kind == "huge":
        return pd.Series(rng.choice(NUMBERS, size=n))
    if kind == "text":
        return pd.Series(np.where(holes, None, words), dtype=object)
    if kind in ("category", "ordered"):
        values = pd.Series(words).mask(holes)
        return values.astype(pd.CategoricalDtype(sorted(set(WORDS)), ordered=kind == "ordered"))
    if kind == "number category":
        return pd.Series(rng.choice([3.0, 1.0, 2.5], n)).mask(holes).astype("category")
    if kind == "flag":
        return pd.Series(rng.random(n) < 0.5)
    if kind == "nullable int":
        return pd.Series(rng.integers(0, 9, n)).astype("Int64").mask(holes)
    if kind == "nullable flag":
        return pd.Series(rng.random(n) < 0.5).astype("boolean").mask(holes)
    if kind == "string dtype":
        return pd.Series(words, dtype="string").mask(holes)
    if kind == "date":
        return pd.Series(pd.Timestamp("1969-12-01") + pd.to_timedelta(days, unit="D")).mask(holes)
    if kind == "zoned":
        return pd.Series(pd.Timestamp("2001-01-01", tz="Asia/Tokyo") + pd.to_timedelta(days, unit="h"))
    if kind == "duration":
        return pd.Series(pd.to_timedelta(days, unit="s")).mask(holes)
    if kind == "objects":
        return pd.Series(np.where(holes, None, rng.integers(0, 3, n).astype(object)), dtype=object)
    if kind == "mixed":
        return pd.Series([(1, "a", 2.5, None, True)[k] for k in rng.integers(0, 5, n)], dtype=object)
    return _strange_column(rng, kind, n, days)


def _strange_column(rng: np.random.Generator, kind: str, n: int, days: Any) -> pd.Series:
    if kind == "decimal":
        from decimal import Decimal

        return pd.Series([Decimal(int(k)) / 7 for k in days], dtype=object)
    if kind == "tiny":
        return pd.Series(rng.choice([0.0, 5e-324, 1e-310], n))
    if kind == "dates as objects":
        return pd.Series([pd.Timestamp("2020-01-01") + pd.Timedelta(days=int(k)) for k in days], dtype=object)
    if kind == "complex":
        return pd.Series(rng.normal(size=n) + 1j)
    if kind == "lists":
        return pd.Series([[1]] * n, dtype=object)
    return pd.Series(pd.period_range("2020-01", periods=max(n, 1), freq="M")[:n])


def _labels(rng: np.random.Generator, n: int, sound: bool) -> Any:
    n_classes = int(rng.choice([1, 2, 2, 2, 3, 3, 5, max(n, 1)]))
    codes = rng.integers(0, n_classes, n)
    if sound:
        makers = [
            lambda: codes,
            lambda: codes.tolist(),
            lambda: np.array(["no", "yes", "x", "y", "z", *map(str, range(n))])[codes],
            lambda: codes.astype(float),
            lambda: pd.Series(codes, index=range(n, 0, -1)),
            lambda: codes == 0,
            lambda: np.array(["p", "q"] * (n + 3), dtype=object)[codes],
            lambda: pd.Categorical.from_codes(codes, [f"k{j}" for j in range(n_classes)]),
        ]
        return makers[rng.integers(len(makers))]()
    makers = [
        lambda: rng.normal(size=n),
        lambda: np.where(codes == 0, np.nan, codes),
        lambda: [None, *codes[1:].tolist()],
        lambda: codes[:-1],
        lambda: codes[:, None],
        lambda: np.column_stack([codes, codes]),
        lambda: None,
        lambda: codes,
        lambda: codes.astype(complex),
        lambda: ["a", *codes[1:].tolist()],
        lambda: np.array([2**70] * n, dtype=object),
        lambda: pd.Series(codes).astype("Int64"),
        lambda: pd.date_range("2020", periods=max(n, 1))[:n],
    ]
    return makers[rng.integers(len(makers))]()


def _weights(rng: np.random.Generator, n: int, sound: bool) -> Any:
    if rng.random() < 0.6:
        return None
    good = [
        rng.integers(1, 4, n),
        rng.random(n) + 0.01,
        np.ones(n),
        rng.integers(0, 2, n) + (np.arange(n) < 2),
        rng.choice([1e-12, 1.0, 1e12], n),
    ]
    bad = [np.zeros(n), -np.ones(n), np.full(n, np.nan), np.ones(n + 1), np.ones((n, 2)), "ones", np.inf]
    choices = good if sound else [*good, *bad]
    return choices[rng.integers(len(choices))]
