"""One HTML page about what a model did and why: object, then summary dict, then template.

:mod:`~surewood.report.page` renders a summary; the summary is plain data, so the same dict is the JSON.
"""

from surewood.report.page import render, write

__all__ = ["render", "write"]
