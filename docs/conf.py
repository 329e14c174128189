"""Sphinx configuration; `make docs` turns every warning into an error."""

import sys
from importlib.metadata import version as _version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "surewood"
author = "the surewood developers"
copyright = "2026, the surewood developers"
release = _version("surewood")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "gallery",
    "reference_pages",
    "theory_links",
    "tutorials",
]
html_theme = "furo"
html_title = "surewood"
html_static_path = ["_static"]
exclude_patterns = ["_build", "_ext", "_templates"]
templates_path = ["_templates"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
autodoc_typehints = "none"  # numpydoc sections say them
autosummary_generate = True
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False
suppress_warnings = ["myst.xref_missing"]
