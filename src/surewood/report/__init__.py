"""One HTML page about what a model did and why: object, then summary dict, then template.

:func:`build_summary` reads public fitted attributes only and gives plain values, so the same dict is the JSON
(:func:`write_json`) and the page (:func:`write_page`). Pages of others extend ``templates/base.html`` through
:func:`render_template`, with charts of :mod:`surewood.report.charts`.
"""

from surewood.report import charts
from surewood.report.page import (
    render_page,
    render_template,
    write_card,
    write_json,
    write_page,
)
from surewood.report.summary import build_summary

__all__ = [
    "build_summary",
    "charts",
    "render_page",
    "render_template",
    "write_card",
    "write_json",
    "write_page",
]
