"""A fitted model taken apart into plain values, to be compared bit by bit; times are left out."""

import dataclasses

import numpy as np
import pandas as pd

#: Times and settings of the run; `_in_core` is an address of the arrays beside it, which are compared.
IGNORED = {"seconds", "n_jobs", "verbose", "fit_seconds", "_latest", "_in_core"}


def anatomy(value, seen=None):
    """Nested tuples of bytes, numbers and strings; what is met a second time is not entered again."""
    seen = {} if seen is None else seen
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value)
    if isinstance(value, np.generic):
        return value.dtype.str, value.tobytes()
    if id(value) in seen:
        return "seen"
    seen[id(value)] = value
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return value.shape, [anatomy(one, seen) for one in value.ravel()]
        return value.dtype.str, value.shape, np.ascontiguousarray(value).tobytes()
    if isinstance(value, pd.DataFrame | pd.Series | pd.Index):
        return type(value).__name__, str(value.to_dict() if hasattr(value, "to_dict") else list(value))
    if isinstance(value, dict):
        items = [(str(k), anatomy(v, seen)) for k, v in value.items() if str(k) not in IGNORED]
        return sorted(items, key=lambda item: item[0])
    if isinstance(value, list | tuple):
        return [anatomy(one, seen) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    if dataclasses.is_dataclass(value) or hasattr(value, "__dict__"):
        return type(value).__name__, anatomy(vars(value), seen)
    return repr(value)


def differences(a, b, path=""):
    """Where two anatomies part."""
    if type(a) is not type(b):
        return [path]
    if isinstance(a, list | tuple):
        if len(a) != len(b):
            return [path + "#"]
        found = []
        for k, (x, y) in enumerate(zip(a, b)):
            name = x[0] if isinstance(x, tuple) and x and isinstance(x[0], str) else str(k)
            found += differences(x, y, f"{path}/{name}")
        return found
    return [] if a == b else [path]
