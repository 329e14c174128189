"""Render a summary dict as one self-contained page that opens offline, light or dark, and prints.

Names of columns, classes and models are hostile input: the template escapes everything, and no value ever
becomes part of a script or a style.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

_environment = Environment(
    loader=PackageLoader("surewood.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def _percent(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{100 * value:.{digits}f} %"


_environment.filters["percent"] = _percent


def render(summary: dict[str, Any]) -> str:
    """The page of a summary, see :func:`surewood.experiments.demo.summarise` for its keys."""
    bars = [row for row in summary["results"] if not row["floor"]]
    scale = min(1.0, 1.1 * max((row["guarantee"] for row in bars), default=1.0))
    return _environment.get_template("page.html").render(bars=bars, scale=scale, **summary)


def write(summary: dict[str, Any], path: str | Path) -> Path:
    """Write the page of a summary; a reader never sees half a page."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(render(summary), encoding="utf-8")
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return path
