"""How a model came about: its settings, seeds, versions, time and memory."""

from __future__ import annotations

import inspect
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import surewood
from surewood.report.plain import plain_dict, short

__all__ = ["run_facts", "settings"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "joblib")


def settings(model: Any) -> list[dict[str, Any]]:
    """Parameters of the estimator, those that differ from their defaults first."""
    if not hasattr(model, "get_params"):
        return []
    default = {
        name: parameter.default for name, parameter in inspect.signature(type(model)).parameters.items()
    }
    rows = [
        {
            "name": name,
            "value": short(value if isinstance(value, str) else repr(value), 160),
            "changed": name in default and not _same(value, default[name]),
        }
        for name, value in model.get_params(deep=False).items()
    ]
    return sorted(rows, key=lambda row: not row["changed"])


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    try:
        return bool(np.all(value == default)) and type(value) is type(default)
    except (TypeError, ValueError):
        return False


def run_facts(model: Any, run: dict[str, Any] | None) -> dict[str, Any]:
    """Time, memory, seed, command, versions; what the caller did not measure is None or of this process."""
    given = dict(run or {})
    seed = given.pop("seed", None)
    if seed is None:
        seed = getattr(model, "random_state", None)
    peak = given.pop("peak_memory_bytes", None)
    packages = {"surewood": surewood.__version__, "Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return plain_dict(
        {
            "seconds": given.pop("seconds", None),
            "peak_memory_bytes": _peak_of_process() if peak is None else peak,
            "seed": None if seed is None else short(seed),
            "command": given.pop("command", None),
            "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "platform": f"{platform.system()} {platform.machine()}",
            "versions": packages,
            **given,
        }
    )


def _peak_of_process() -> int | None:
    """The largest memory this process has had so far; None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else 1024 * peak)
