"""Tabular classifiers that account for their own complexity."""

from importlib.metadata import version as _version

__version__ = _version("surewood")
