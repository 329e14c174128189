"""Pages of the reference, written from the public lists (``__all__``) when the documentation is built.

Complete by construction: a name that a module exports is on its page. An object that several modules export
is on the first page that has it. A test compares `PAGES` with the packages that exist.
"""

from __future__ import annotations

import enum
import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent.parent / "api"


class Page(NamedTuple):
    """A page of the reference."""

    name: str
    title: str
    text: str
    modules: tuple[str, ...]


PAGES = (
    Page(
        "estimators",
        "Estimators",
        "All that ``surewood`` itself exports: classifiers, saving and loading, clusters. "
        "``score`` of every classifier is its accuracy, weighted where weights are passed.",
        ("surewood",),
    ),
    Page(
        "families",
        "Parts of the families",
        "Classifier families of deep cascades, records of layers, costs.",
        (
            "surewood.cascade",
            "surewood.deepforest",
        ),
    ),
    Page(
        "certify",
        "Certificates",
        "Guarantees of a fitted model, thresholds, prediction sets, costs and monitoring.",
        ("surewood.certify",),
    ),
    Page(
        "workflow",
        "Workflow",
        "What the command ``surewood`` does, as functions.",
        ("surewood.workflow",),
    ),
    Page(
        "inspect",
        "Explanations and plots",
        "Contributions, importances and dependence for every classifier; displays, and the data behind them.",
        ("surewood.inspect",),
    ),
    Page("report", "Report", "The HTML report of a fitted model, and its JSON.", ("surewood.report",)),
    Page("datasets", "Data sets", "Your own tables and bundled ones.", ("surewood.datasets",)),
    Page("persistence", "Model files", "Files that cannot run code.", ("surewood.persistence",)),
    Page("bounds", "Bounds", "One function per formula of the theory.", ("surewood.bounds",)),
    Page("tables", "Tables", "Frames, arrays and files as the estimators read them.", ("surewood.tables",)),
    Page("parallel", "Parallel work", "Threads, processes, Dask and Ray.", ("surewood.parallel",)),
)


def public_names(module: str) -> dict[str, Any]:
    """Public names of a module and what they are, without modules."""
    imported = importlib.import_module(module)
    found = {name: getattr(imported, name) for name in imported.__all__ if not name.startswith("__")}
    return {name: value for name, value in found.items() if not isinstance(value, ModuleType)}


def is_documented_object(value: Any) -> bool:
    """Whether a value is a class or a function; other values are constants."""
    return inspect.isclass(value) or inspect.isroutine(value)


def contents() -> dict[str, tuple[list[str], list[str]]]:
    """For each page: full names of its classes and functions, and of its constants."""
    seen: set[int] = set()
    pages: dict[str, tuple[list[str], list[str]]] = {}
    for page in PAGES:
        objects: list[str] = []
        constants: list[str] = []
        for module in page.modules:
            for name, value in public_names(module).items():
                if not is_documented_object(value):
                    constants.append(f"{module}.{name}")
                elif id(value) not in seen:
                    seen.add(id(value))
                    objects.append(f"{module}.{name}")
        pages[page.name] = (sorted(objects, key=_order), sorted(constants))
    return pages


def _order(full_name: str) -> tuple[int, str]:
    """Classes first, then functions; each by name."""
    module, _, name = full_name.rpartition(".")
    value = getattr(importlib.import_module(module), name)
    return (0 if inspect.isclass(value) and not issubclass(value, BaseException | enum.Enum) else 1, name)


def text_of(page: Page, objects: list[str], constants: list[str]) -> str:
    """A page as reStructuredText."""
    lines = [page.title, "=" * len(page.title), "", page.text, ""]
    lines += [".. autosummary::", "   :toctree: generated", ""]
    lines += [f"   {name}" for name in objects]
    if constants:
        lines += ["", "Constants: " + ", ".join(f"``{name}``" for name in constants) + "."]
    return "\n".join(lines) + "\n"


def write_pages(folder: Path = FOLDER) -> None:
    """Write all pages; files whose text is the same are left as they are, those of old names removed."""
    found = contents()
    named = {name for objects, _ in found.values() for name in objects}
    for old in (folder / "generated").glob("*.rst"):
        if old.stem not in named:
            old.unlink()
    for page in PAGES:
        path = folder / f"{page.name}.rst"
        text = text_of(page, *found[page.name])
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    app.connect("config-inited", lambda *_: write_pages(), priority=1)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
