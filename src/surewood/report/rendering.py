"""From a template and plain values to one self-contained page.

`render_template` fills a template that extends ``base.html``: style, light and dark, a short script, and a
policy that lets the browser run that script (known by its digest) and fetch nothing. Names of columns,
classes and models are hostile input: templates escape everything, and so do the drawings. Control characters,
and those that turn the direction of text, are shown as numbers.
"""

from __future__ import annotations

import base64
import hashlib
import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from surewood._text import escaped
from surewood.persistence.leftovers import partial
from surewood.report import words
from surewood.report.plain import middle

__all__ = ["render_template", "write_text"]


def render_template(template: str, values: dict[str, Any], *, package: str = "surewood.report") -> str:
    """Fill a template.

    Parameters
    ----------
    template : str
        Its file name in the folder ``templates`` of `package`. It may extend ``base.html`` and import
        ``parts.html`` (charts, tables, facts).
    values : dict
        Names of the template. ``title`` is needed by ``base.html``.
    package : str
        Package whose ``templates`` are looked at before those of the report.

    Examples
    --------
    >>> page = render_template("base.html", {"title": "<b>"})
    >>> "<title>&lt;b&gt;" in page, "<b>" in page
    (True, False)
    """
    script = _static("page.js")
    return escaped(
        _environment(package)
        .get_template(template)
        .render(
            **{
                **values,
                "style": Markup(_static("page.css")),
                "script": Markup(script),
                "script_policy": Markup(f"'sha256-{_digest(script)}'"),
            }
        )
    )


def write_text(text: str, path: str | Path) -> Path:
    """Write a file in one step, with its folder; a reader never sees half of it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from surewood.report import write_text
    >>> write_text("text", Path(tempfile.mkdtemp()) / "folder" / "file.txt").read_text()
    'text'
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with partial(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
    return path


@cache
def _environment(package: str) -> Environment:
    own = PackageLoader("surewood.report")
    loader = own if package == "surewood.report" else ChoiceLoader([PackageLoader(package), own])
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["middle"] = middle
    environment.filters.update(words.FILTERS)
    return environment


@cache
def _static(name: str) -> str:
    return files("surewood.report").joinpath("static", name).read_text(encoding="utf-8")


@cache
def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
